// The effect of a change on its target (create, change, delete, none) as a word with a colour.
import type { Paint } from "../output/style.ts";

/** The effect of a change on its target. */
export type Effect = "create" | "change" | "replace" | "delete" | "none" | "unknown" | "fail";

const WORDS: Readonly<Record<Effect, string>> = {
  create: "create",
  change: "change",
  replace: "replace",
  delete: "delete",
  none: "unchanged",
  unknown: "not known",
  fail: "FAILS",
};

const COLOURS = {
  create: "green",
  change: "yellow",
  replace: "red",
  delete: "red",
  none: "dim",
  unknown: "cyan",
  fail: "red",
} as const;

/** The word in colour, in a column. @param isTried false: nothing is known, since something general is wrong. */
export const effectWord = (effect: Effect, isTried: boolean, paint: Paint): string => {
  const word = effect === "unknown" && !isTried ? "not tried" : WORDS[effect];
  return paint(COLOURS[effect], word.padEnd(9));
};

/** `1 create, 2 change, 1 unchanged` */
export const countedEffects = (effects: readonly Effect[]): string =>
  (["create", "change", "replace", "delete", "unknown", "none"] as const)
    .flatMap((effect) => {
      const count = effects.filter((one) => one === effect).length;
      const word = effect === "unknown" ? "not known before an earlier change is applied" : WORDS[effect];
      return count === 0 ? [] : [`${count} ${word}`];
    })
    .join(", ");
