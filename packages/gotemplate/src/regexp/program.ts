// Compiles regular expressions, and runs them on all paths at once: the time is linear in the text (as in RE2).
import { fail } from "../template-error.ts";
import { runeAt } from "../value/bytes.ts";
import { type Assertion, type Expression, parseRegexp, type Test } from "./syntax.ts";

type Instruction =
  | { readonly op: "rune"; readonly test: Test }
  | { readonly op: "assert"; readonly assertion: Assertion }
  | { readonly op: "save"; readonly slot: number }
  | { readonly op: "match" }
  | { op: "split"; first: number; second: number }
  | { op: "jump"; to: number };

export interface Regexp {
  readonly program: readonly Instruction[];
  readonly names: readonly string[];
}

const LARGEST = 20_000;

export const compileRegexp = (source: string): Regexp => {
  const { expression, names } = parseRegexp(source);
  const program: Instruction[] = [];
  const push = <A extends Instruction>(instruction: A): A => {
    if (program.length >= LARGEST) fail("the regular expression is too large");
    program.push(instruction);
    return instruction;
  };
  const split = (isLazy: boolean): { readonly into: () => void; readonly past: () => void } => {
    const made = push({ op: "split", first: -1, second: -1 });
    const set = (isFirst: boolean) => (): void => {
      if (isFirst) made.first = program.length;
      else made.second = program.length;
    };
    return { into: set(!isLazy), past: set(isLazy) };
  };
  const emit = (one: Expression): void => {
    switch (one.is) {
      case "rune":
        push({ op: "rune", test: one.test });
        return;
      case "assertion":
        push({ op: "assert", assertion: one.assertion });
        return;
      case "sequence":
        one.parts.forEach(emit);
        return;
      case "group":
        push({ op: "save", slot: one.index * 2 });
        emit(one.of);
        push({ op: "save", slot: one.index * 2 + 1 });
        return;
      case "alternatives": {
        const ends: { to: number }[] = [];
        one.parts.forEach((part, n) => {
          if (n === one.parts.length - 1) return emit(part);
          const { into, past } = split(false);
          into();
          emit(part);
          ends.push(push({ op: "jump", to: -1 }));
          past();
        });
        for (const end of ends) end.to = program.length;
        return;
      }
      case "repeat":
      default: {
        const { of, least, most, isLazy } = one;
        for (let n = 0; n < least; n++) emit(of);
        if (most === Infinity) {
          const start = program.length;
          const { into, past } = split(isLazy);
          into();
          emit(of);
          push({ op: "jump", to: start });
          past();
          return;
        }
        const exits: (() => void)[] = [];
        for (let n = least; n < most; n++) {
          const { into, past } = split(isLazy);
          into();
          emit(of);
          exits.push(past);
        }
        for (const exit of exits) exit();
      }
    }
  };
  push({ op: "save", slot: 0 });
  emit(expression);
  push({ op: "save", slot: 1 });
  push({ op: "match" });
  return { program, names };
};

/** Where the groups are: pairs of begin and end, in bytes; -1 for those that took no part. */
export type Match = readonly number[];

const isWord = (code: number): boolean =>
  (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || code === 95 || (code >= 97 && code <= 122);

const holds = (assertion: Assertion, text: string, at: number): boolean => {
  switch (assertion) {
    case "text start":
      return at === 0;
    case "text end":
      return at === text.length;
    case "line start":
      return at === 0 || text.charCodeAt(at - 1) === 10;
    case "line end":
      return at === text.length || text.charCodeAt(at) === 10;
    case "no word boundary":
    case "word boundary":
    default: {
      const isBoundary =
        (at > 0 && isWord(text.charCodeAt(at - 1))) !== (at < text.length && isWord(text.charCodeAt(at)));
      return isBoundary === (assertion === "word boundary");
    }
  }
};

interface Thread {
  readonly at: number;
  readonly slots: readonly number[];
}

/** The leftmost match from this byte on; of several, the one that a backtracking search finds first. */
export const findMatch = (
  { program, names }: Regexp,
  text: string,
  from: number,
  spend: (steps: number) => void,
): Match | undefined => {
  const none: readonly number[] = Array.from({ length: names.length * 2 }, () => -1);
  const marks = new Int32Array(program.length).fill(-1);
  let threads: Thread[] = [];
  let found: readonly number[] | undefined;

  const follow = (list: Thread[], start: Thread, position: number): void => {
    const todo: Thread[] = [start];
    for (let thread = todo.pop(); thread !== undefined; thread = todo.pop()) {
      const { at, slots } = thread;
      if (marks[at] === position) continue;
      marks[at] = position;
      const instruction = program[at];
      switch (instruction?.op) {
        case "jump":
          todo.push({ at: instruction.to, slots });
          break;
        case "split":
          todo.push({ at: instruction.second, slots }, { at: instruction.first, slots });
          break;
        case "save":
          todo.push({ at: at + 1, slots: slots.with(instruction.slot, position) });
          break;
        case "assert":
          if (holds(instruction.assertion, text, position)) todo.push({ at: at + 1, slots });
          break;
        case undefined:
        case "match":
        case "rune":
        default:
          list.push(thread);
      }
    }
  };

  for (let position = from; ; ) {
    if (found === undefined) follow(threads, { at: 0, slots: none }, position);
    if (threads.length === 0 && (found !== undefined || position >= text.length)) return found;
    spend(0.02 * (1 + threads.length));
    const { rune, size } = runeAt(text, position);
    const next: Thread[] = [];
    for (const thread of threads) {
      const instruction = program[thread.at];
      if (instruction?.op === "match") {
        found = thread.slots;
        break;
      }
      if (size > 0 && instruction?.op === "rune" && instruction.test(rune))
        follow(next, { at: thread.at + 1, slots: thread.slots }, position + size);
    }
    if (size === 0) return found;
    threads = next;
    position += size;
    if (threads.length === 0 && found !== undefined) return found;
  }
};

/** All matches that do not overlap, as Go finds them; at most so many, unless that is negative. */
export const findAll = (
  regexp: Regexp,
  text: string,
  most: number,
  spend: (steps: number) => void,
): readonly Match[] => {
  const all: Match[] = [];
  const limit = most < 0 ? Infinity : most;
  let previousEnd = -1;
  for (let at = 0; at <= text.length && all.length < limit; ) {
    const match = findMatch(regexp, text, at, spend);
    if (match === undefined) return all;
    const [start = 0, end = 0] = match;
    const isAccepted = !(end === start && start === previousEnd);
    if (end > at) at = end;
    else at += Math.max(runeAt(text, at).size, 1);
    previousEnd = end;
    if (isAccepted) all.push(match);
  }
  return all;
};
