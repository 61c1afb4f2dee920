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

const COUNTED = {
  create: "to create",
  change: "to change",
  replace: "to replace",
  delete: "to delete",
  unknown: "not known before an earlier change is applied",
  none: "unchanged",
} as const;

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

/** `1 to create, 2 to change, 1 unchanged` */
export const countedEffects = (effects: readonly Effect[]): string =>
  (["create", "change", "replace", "delete", "unknown", "none"] as const)
    .flatMap((effect) => {
      const count = effects.filter((one) => one === effect).length;
      return count === 0 ? [] : [`${count} ${COUNTED[effect]}`];
    })
    .join(", ");
