import type { Asked, Mishap } from "./mortal.ts";

/** Whether also those deaths are played that leave nothing behind that another one does not: that takes hours. */
export const isThorough = process.env["JANUS_CRASH"] === "thorough";

/**
 * The requests of a life that stand for all of them. Of those that only time brings, and of equal reads, the first two: how many
 * there are is different each time.
 */
const telling = (trace: readonly Asked[]): readonly Asked[] =>
  trace.filter(({ text, nth, writes }) => isThorough || nth <= 2 || (writes && !text.includes("renew-lock")));

/** One before a request that goes out while no write is under way is the one after the request before it: nothing happens in between. */
const isOfItsOwn = ({ alone }: Asked, at: number): boolean => isThorough || at === 0 || !alone;

/** A death before and after each of these requests, and each write's answer lost. */
const mishaps = (asked: readonly Asked[]): readonly Mishap[] =>
  asked.flatMap((one, at): readonly Mishap[] => {
    const { text, nth, writes } = one;
    const before: readonly Mishap[] = isOfItsOwn(one, at) ? [{ text, nth, when: "before" }] : [];
    const unheard: readonly Mishap[] = writes ? [{ text, nth, when: "unheard" }] : [];
    return [...before, { text, nth, when: "after" }, ...unheard];
  });

/** At every request. */
export const everyMishap = (trace: readonly Asked[]): readonly Mishap[] => mishaps(telling(trace));

/** Those that differ: a death after a read leaves the same cluster behind as the one after the write before it. */
export const differentMishaps = (trace: readonly Asked[]): readonly Mishap[] =>
  mishaps(telling(trace).filter(({ writes }) => writes || isThorough));

/** Only deaths after what was asked. */
export const deathsAfterWrites = (trace: readonly Asked[]): readonly Mishap[] =>
  differentMishaps(trace).filter(({ when }) => when === "after" || (isThorough && when === "before"));

const TOLD: Readonly<Record<Mishap["when"], string>> = {
  before: "died before",
  after: "died after",
  unheard: "had no answer to",
};

export const show = (mishaps: readonly Mishap[]): string =>
  mishaps.map(({ text, nth, when }) => `${TOLD[when]} ${text}${nth > 1 ? ` (no. ${nth})` : ""}`).join("; then ");
