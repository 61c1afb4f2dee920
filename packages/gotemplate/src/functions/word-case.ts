// Words in camelCase, snake_case and kebab-case, as huandu/xstrings writes them.
import { bytesOfRunes, runesOf } from "../value/bytes.ts";
import { isLetter, isNumber, isPunctuation, isSpace, isUpper, lowerRune, upperRune } from "../value/unicode.ts";

const isConnector = (rune: number | undefined): boolean =>
  rune !== undefined && (rune === 0x2d || rune === 0x5f || isSpace(rune));

export const camelCase = (text: string): string => {
  const runes = runesOf(text);
  const start = runes.findIndex((rune) => !isConnector(rune));
  if (start < 0) return text;
  const out = runes.slice(0, start);
  let isFirstUpper = isUpper(runes[start] ?? 0);
  let current = lowerRune(runes[start] ?? 0);
  for (const rune of runes.slice(start + 1)) {
    const before = current;
    current = rune;
    if (isConnector(rune) && isConnector(before)) {
      out.push(before);
      continue;
    }
    if (isConnector(before)) {
      isFirstUpper = isUpper(rune);
      current = upperRune(rune);
    } else {
      if (isFirstUpper) {
        if (isUpper(rune)) current = lowerRune(rune);
        else isFirstUpper = false;
      }
      out.push(before);
    }
  }
  out.push(current);
  return bytesOfRunes(out);
};

type WordType = "invalid" | "number" | "upper" | "alphabet" | "connector" | "punctuation" | "other";
interface Word {
  readonly type: WordType;
  readonly runes: readonly number[];
}

/** Letters, without the common and rare Chinese characters. */
const isAlphabet = (rune: number): boolean =>
  isLetter(rune) &&
  !(rune >= 0x4e00 && rune <= 0x9fcc) &&
  !(rune >= 0x3400 && rune <= 0x4d85) &&
  !(rune >= 0x2_0000 && rune <= 0x2_b81d);

const wordAt = (runes: readonly number[], from: number): Word => {
  const first = runes[from];
  if (first === undefined) return { type: "invalid", runes: [] };
  const run = (start: number, is: (rune: number) => boolean): number => {
    let at = start;
    while (at < runes.length && is(runes[at] as number)) at++;
    return at;
  };
  const word = (type: WordType, to: number): Word => ({ type, runes: runes.slice(from, to) });
  const isSmall = (rune: number): boolean => isAlphabet(rune) && !isUpper(rune);
  if (isConnector(first)) return word("connector", run(from + 1, isConnector));
  if (isPunctuation(first)) return word("punctuation", run(from + 1, isPunctuation));
  if (isUpper(first)) {
    const second = runes[from + 1];
    if (second === undefined) return word("upper", from + 1);
    if (isUpper(second)) {
      const to = run(from + 1, isUpper);
      const after = runes[to];
      return word("upper", after !== undefined && isAlphabet(after) ? to - 1 : to);
    }
    return word("upper", isAlphabet(second) ? run(from + 1, isSmall) : from + 1);
  }
  if (isAlphabet(first)) return word("alphabet", run(from + 1, isSmall));
  if (isNumber(first)) return word("number", run(from + 1, isNumber));
  return word(
    "other",
    run(from + 1, (rune) => !isConnector(rune) && !isAlphabet(rune) && !isNumber(rune) && !isPunctuation(rune)),
  );
};

const joins = ({ type }: Word): boolean => type !== "connector" && type !== "punctuation";

const lowerWords = (text: string, connector: string): string => {
  const runes = runesOf(text);
  const dash = connector.charCodeAt(0);
  const out: number[] = [];
  let at = 0;
  const next = (): Word => {
    const word = wordAt(runes, at);
    at += word.runes.length;
    return word;
  };
  const push = ({ type, runes: letters }: Word): void => {
    if (type === "connector") out.push(...letters.map(() => dash));
    else out.push(...letters.map((rune) => (isUpper(rune) ? lowerRune(rune) : rune)));
  };
  const hasMore = (): boolean => at < runes.length;

  let word = next();
  while (hasMore()) {
    if (word.type !== "connector") push(word);
    const before = word;
    word = next();
    if (before.type === "number") {
      while (word.type === "alphabet" || word.type === "number") {
        push(word);
        word = next();
      }
      if (word.type !== "invalid" && joins(word)) out.push(dash);
    } else if (before.type === "connector") push(before);
    else if (before.type !== "punctuation") {
      if (word.type !== "number") {
        if (joins(word)) out.push(dash);
        continue;
      }
      if (!hasMore()) continue;
      const number = word;
      word = next();
      // A number belongs to the word before it, unless small letters follow.
      if (word.type !== "alphabet") {
        push(number);
        if (joins(word)) out.push(dash);
        continue;
      }
      out.push(dash);
      push(number);
      while (word.type === "alphabet" || word.type === "number") {
        push(word);
        word = next();
      }
      if (word.type !== "invalid" && joins(word)) out.push(dash);
    }
  }
  push(word);
  return bytesOfRunes(out);
};

export const snakeCase = (text: string): string => lowerWords(text, "_");
export const kebabCase = (text: string): string => lowerWords(text, "-");
