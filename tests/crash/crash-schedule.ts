// The faults of a run: at which of the requests that were seen a controller can die in ways that differ.
import { isExhaustive } from "../fixtures/sample.ts";
import type { Asked, Fault } from "./crashing-process.ts";

/** Whether to run also those crashes that leave the same cluster behind as another one: that takes hours. */
export const isThorough = isExhaustive || process.env["JANUS_CRASH"] === "thorough";

/**
 * The requests of a controller that represent all of them. Of those that depend on time, and of equal reads, the first two: their
 * number differs from run to run.
 */
const representative = (trace: readonly Asked[]): readonly Asked[] =>
  trace.filter(({ text, nth, writes }) => isThorough || nth <= 2 || (writes && !text.includes("renew-lock")));

/** A crash before a request while no write is in flight equals the one after the previous request: nothing happens in between. */
const isOfItsOwn = ({ alone }: Asked, at: number): boolean => isThorough || at === 0 || !alone;

/** A crash before and after each of these requests, and the lost response of each write. */
const faults = (asked: readonly Asked[]): readonly Fault[] =>
  asked.flatMap((one, at): readonly Fault[] => {
    const { text, nth, writes } = one;
    const before: readonly Fault[] = isOfItsOwn(one, at) ? [{ text, nth, when: "before" }] : [];
    const unheard: readonly Fault[] = writes ? [{ text, nth, when: "unheard" }] : [];
    return [...before, { text, nth, when: "after" }, ...unheard];
  });

/** Faults at every request. */
export const everyFault = (trace: readonly Asked[]): readonly Fault[] => faults(representative(trace));

/** Those that differ: a crash after a read leaves the same cluster behind as the one after the write before it. */
export const distinctFaults = (trace: readonly Asked[]): readonly Fault[] =>
  faults(representative(trace).filter(({ writes }) => writes || isThorough));

/** Only crashes after a request. */
export const crashesAfterWrites = (trace: readonly Asked[]): readonly Fault[] =>
  distinctFaults(trace).filter(({ when }) => when === "after" || (isThorough && when === "before"));

const PHRASES: Readonly<Record<Fault["when"], string>> = {
  before: "crashed before",
  after: "crashed after",
  unheard: "had no response to",
};

export const show = (faults: readonly Fault[]): string =>
  faults.map(({ text, nth, when }) => `${PHRASES[when]} ${text}${nth > 1 ? ` (no. ${nth})` : ""}`).join("; then ");
