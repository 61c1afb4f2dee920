// Formats the phase and the changes of a Transaction as text.
import type { Transaction } from "@janus/api";
import { isTerminal } from "@janus/controller";
import { fromOne } from "../output/from-one.ts";
import { age } from "../output/age.ts";
import { hanging, shortened } from "../output/wrap.ts";
import type { Paint } from "../output/style.ts";
import { type ChangeState, changeStates } from "./change-state.ts";

const MARKS = { green: "✔", red: "✘", yellow: "↩", cyan: "…", dim: "·" } as const;

/**
 * The message of the controller about its progress. On a Draft it says what to do next, which is outdated as soon as a user has
 * done that: until the controller has observed it, there is nothing to say.
 */
export const messageOfTransaction = ({ metadata, status }: Transaction): string => {
  const ready = status.conditions.find(({ type }) => type === "Ready");
  if (ready === undefined) return "no controller has observed it yet";
  const isOfDraft = ready.reason === "Draft" || ready.reason === "Proposed";
  const isOutdated = status.observedDraft?.generation !== metadata.generation;
  return isOfDraft && isOutdated ? "no controller has looked at it since it was changed" : fromOne(ready.message);
};

const COLOURS = {
  Pending: "dim",
  Preparing: "cyan",
  Prepared: "cyan",
  Committing: "cyan",
  Committed: "green",
  RollingBack: "yellow",
  RolledBack: "yellow",
  Failed: "red",
} as const;

/** When it began to do what it does, or has done: to apply its changes, or to roll them back once they were Committed. */
const beganAt = ({ metadata, status }: Transaction): string | undefined => {
  const { conditions, startedAt = metadata.creationTimestamp } = status;
  const committed = conditions.find(({ type }) => type === "Committed");
  const uncommittedAt = committed?.status === "False" ? committed.lastTransitionTime : undefined;
  return [startedAt, uncommittedAt]
    .filter((time) => time !== undefined)
    .toSorted()
    .at(-1);
};

/** `Transaction shop/web: Committing, 1/3, for 12s`. @param since default: when it began */
export const headline = (txn: Transaction, since: number | undefined, now: number, paint: Paint): string => {
  const { metadata, status } = txn;
  const { phase, progress = `0/${txn.spec.changes.length}`, completedAt } = status;
  const began = since === undefined ? beganAt(txn) : new Date(since).toISOString();
  // By one clock: `since` is of this machine, the others are of the controller.
  const end = (isTerminal(phase) && since === undefined && Date.parse(completedAt ?? "")) || now;
  const took = `${isTerminal(phase) ? "after" : "for"} ${age(began, end)}`;
  return `Transaction ${metadata.namespace}/${metadata.name}: ${paint(COLOURS[phase], phase)}, ${progress}, ${took}`;
};

const lineOf = ({ index, change, state, colour, detail }: ChangeState, digits: number, paint: Paint, width: number) => {
  const start = ` ${MARKS[colour]} ${String(index + 1).padStart(digits)}  `;
  const rest = shortened(`${state.padEnd(11)}  ${change}${detail === "" ? "" : `: ${detail}`}`, width - start.length);
  const word = rest.slice(0, state.length);
  return `${paint(colour, start)}${paint(colour, word)}${rest.slice(state.length)}`;
};

/** The state that a terminal shows. */
export interface Shown {
  /** Undefined: it has not been seen yet. */
  readonly txn: Transaction | undefined;
  readonly warning: string | undefined;
  readonly since: number | undefined;
}

/**
 * The text for a terminal: all of it, a line per change, which is shortened to the width. At most `height` lines, unless messages
 * alone are longer: then as many changes are left out.
 */
export const progressScreen = (
  { txn, warning, since }: Shown,
  now: number,
  paint: Paint,
  width: number,
  height: number,
): string => {
  const told = warning === undefined ? [] : [paint("yellow", hanging(warning, width, 0))];
  if (txn === undefined) return told.join("\n");
  const message = `   ${hanging(messageOfTransaction(txn), width, 3)}`;
  const states = changeStates(txn);
  const digits = String(states.length).length;
  // Beside the headline, the number of those that are left out, and the line of the cursor.
  const room = Math.max(1, height - 3 - [message, ...told].join("\n").split("\n").length);
  const active = states.findIndex(({ colour }) => colour === "cyan");
  const from = states.length <= room ? 0 : Math.min(Math.max(0, active - Math.floor(room / 2)), states.length - room);
  const shown = states.slice(from, from + room).map((state) => lineOf(state, digits, paint, width));
  const hidden = states.length - shown.length;
  return [
    headline(txn, since, now, paint),
    ...shown,
    ...(hidden === 0 ? [] : [paint("dim", `   and ${hidden} more`)]),
    message,
    ...told,
  ].join("\n");
};

/** How a change may be because of a rollback. */
const UNDONE: readonly string[] = ["rolled back", "not rolled back"];

/** The news since `former`, for a pipe or file, on lines of their own, in the order in which they happened. */
export const progressNews = (former: Transaction | undefined, txn: Transaction): readonly string[] => {
  const { phase, progress = "" } = txn.status;
  const before = new Map((former === undefined ? [] : changeStates(former)).map((one) => [one.index, one]));
  const changes = changeStates(txn).flatMap(({ index, change, state, detail }) => {
    const was = before.get(index);
    // It was applied long ago, and is to be rolled back once more.
    const isAgain = was?.state === "not rolled back" && state === "applied";
    const isNew = state !== "pending" && !isAgain && (was?.state !== state || was.detail !== detail);
    const of = `${index + 1}/${txn.spec.changes.length}`;
    return isNew ? [{ state, line: `${of} ${state}: ${change}${detail === "" ? "" : `: ${detail}`}` }] : [];
  });
  const message = messageOfTransaction(txn);
  const isTold = former === undefined ? "" : messageOfTransaction(former);
  const says = former?.status.phase !== phase || (isTold !== message && changes.length === 0);
  const said = says ? [`${phase} ${progress}: ${message}`.replace(" :", ":")] : [];
  const forward = changes.filter(({ state }) => !UNDONE.includes(state)).map(({ line }) => line);
  // The last is rolled back first.
  const undone = changes.flatMap(({ state, line }) => (UNDONE.includes(state) ? [line] : [])).toReversed();
  if (isTerminal(phase)) return [...forward, ...undone, ...said];
  return phase === "RollingBack" ? [...forward, ...said, ...undone] : [...said, ...forward];
};
