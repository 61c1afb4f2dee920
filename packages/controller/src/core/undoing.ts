import * as E from "fp-ts/lib/Either.js";
import { accepted } from "./accepted.ts";
import type { Ask, Effect } from "./effect.ts";
import { type Fault, meaning, sentence } from "./fault.ts";
import type { Instant } from "./instant.ts";
import type { Journal } from "./journal.ts";
import { type Known, type Rebuff, rebuffed, set, type Sighting, unset } from "./known.ts";
import { type KubeObject, show } from "./object.ts";
import { LOOK_AGAIN, type Situation } from "./situation.ts";
import type { Item } from "./targets.ts";

/** The next thing to do to put one item back, or how that ended. */
export type Undoing =
  | { readonly at: "run"; readonly effects: readonly Effect[] }
  | { readonly at: "wait"; readonly until: Instant; readonly because: string }
  /** It takes the lock of another change's target, which depends on this one. */
  | { readonly at: "lock"; readonly index: number }
  /** `stillThere`: under this uid, since its deletion was never made. */
  | { readonly at: "restored"; readonly warning?: string; readonly stillThere?: string }
  /** `conflict`: because somebody else has changed it since. */
  | { readonly at: "kept"; readonly error: string; readonly conflict?: true };

export interface Undone extends Item {
  readonly situation: Situation;
  readonly journal: Journal;
  readonly seen: Sighting;
}

export const going = (...effects: readonly Effect[]): Undoing => ({ at: "run", effects });
export const kept = (error: string): Undoing => ({ at: "kept", error });
export const conflict = (error: string): Undoing => ({ at: "kept", error, conflict: true });

/** A refusal ends the attempt on this item; a conflict or absence means to look again. */
export const refusedFor =
  (item: Item): Ask["learn"] =>
  (known, answer) =>
    E.isRight(answer) ? known : noted(known, item, answer.left);

const noted = (known: Known, { index, place }: Item, fault: Fault): Known => ({
  ...known,
  refusals: set(known.refusals, index, {
    reason: "CommitFailed",
    message: `${show(place)}: the API server refuses to put it back: ${sentence(fault)}`,
    fate: "undecided",
  }),
});

/** What was refused as if something had moved, though nothing has, is not sent again at once. */
export const pause = ({ situation: { known, now }, index, seen }: Undone): Undoing | undefined => {
  const rebuff = rebuffed(known, index, seen.object);
  return rebuff === undefined || now >= rebuff.at + LOOK_AGAIN
    ? undefined
    : { at: "wait", until: rebuff.at + LOOK_AGAIN, because: `trying again: ${rebuff.message}` };
};

const lookAgain = (known: Known, { index }: Item): Known => ({ ...known, live: unset(known.live, index) });

/** After any write the target is read again, or its answer taken for the read. */
export const restoring = (undone: Undone, call: Ask["call"], answered: "is-live" | "look"): Ask => ({
  purpose: "restore",
  item: undone.index,
  as: "serviceAccount",
  call,
  learn: (known, answer, now, sent) => {
    if (E.isRight(answer))
      return answered === "look"
        ? lookAgain(known, undone)
        : { ...known, live: set(known.live, undone.index, { object: answer.right, at: sent }) };
    if (meaning(answer.left) !== "conflict") return noted(known, undone, answer.left);
    const { resourceVersion } = undone.seen.object?.metadata ?? {};
    const rebuff: Rebuff = { at: now, message: sentence(answer.left), resourceVersion };
    return lookAgain({ ...known, rebuffs: set(known.rebuffs, undone.index, rebuff) }, undone);
  },
  lost: (known) => lookAgain(known, undone),
});

/** Remembers what the API server made of a write that was to put an object back (see `accepted.ts`). */
export const folded = (ask: Ask, { index, place }: Item, goal: KubeObject, sent: object): Ask => ({
  ...ask,
  learn: (known, answer, ...when) => {
    const after = ask.learn(known, answer, ...when);
    return E.isLeft(answer)
      ? after
      : { ...after, goals: set(after.goals, index, accepted(goal, sent, answer.right, place)) };
  },
});
