// Crashes of any controller, before and after each of its requests, each lost response, and each answer that is wrong.
import type { ApiError, Client, Hook } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { sampled } from "../fixtures/sample.ts";
import { everyFault, show } from "./crash-schedule.ts";
import { type Asked, crashingProcess, type Fault, meets, show as textOf } from "./crashing-process.ts";

/** A controller, and what it is given to do. */
export interface Subject<World> {
  /** Starts it, for the objects of this namespace. */
  readonly start: (api: Client, namespace: string) => { readonly stop: () => Promise<void> };
  /** Creates what it is to work on in a namespace of its own. */
  readonly prepare: () => Promise<string>;
  /** The objects as they are when it has nothing left to do; undefined: it has. */
  readonly ended: (namespace: string) => Promise<World | undefined>;
}

/** How long it may take to end, in ms: far longer than it takes. */
const PATIENCE = 300_000;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** One process, until it has ended its work, or has crashed. */
const live = async <World>(
  client: Client,
  { start, ended }: Subject<World>,
  namespace: string,
  fault?: Fault,
  around: Hook = (request, next) => next(request),
): Promise<{ readonly world: World | "crashed" | "never ended"; readonly trace: readonly Asked[] }> => {
  const { hook, crashed, trace, discard } = crashingProcess(meets(fault));
  const send: Client["send"] = (request) => hook(request, (inner) => around(inner, client.send));
  const work = start({ ...client, send }, namespace);
  let world: World | "crashed" | undefined;
  void crashed.then(() => (world = "crashed"));
  try {
    for (const end = Date.now() + PATIENCE; world === undefined; await pause(50)) {
      if (Date.now() > end) return { world: "never ended", trace };
      const seen = await ended(namespace);
      world ??= seen;
    }
    return { world, trace };
  } finally {
    discard();
    await work.stop();
  }
};

/** What is wrong with how it ends where its requests go by way of these hooks: that it differs from `expected`. */
export const endOf =
  <World>(client: Client, subject: Subject<World>, expected: string) =>
  async (...hooks: readonly Hook[]): Promise<readonly string[]> => {
    const around: Hook = hooks.reduceRight<Hook>(
      (inner, hook) => (request, next) => hook(request, (passed) => inner(passed, next)),
      (request, next) => next(request),
    );
    const { world } = await live(client, subject, await subject.prepare(), undefined, around);
    const end = JSON.stringify(world);
    return end === expected ? [] : [end];
  };

/** How it ends without any fault. */
export const usualEnd = async <World>(client: Client, subject: Subject<World>): Promise<string> =>
  JSON.stringify((await live(client, subject, await subject.prepare())).world);

/** The runs whose end differs from that of one without a fault, and how many there were. */
export interface Outcome {
  readonly wrong: readonly string[];
  readonly runs: number;
}

/**
 * Runs it once without a crash, and then once for each crash and each lost response, in a namespace of its own each time.
 *
 * @param share one in so many of them
 * @returns what ended in another way; nothing, if it survives everything
 */
export const crashEverywhere = async <World>(client: Client, subject: Subject<World>, share = 1): Promise<Outcome> => {
  const whole = await live(client, subject, await subject.prepare());
  const expected = JSON.stringify(whole.world);
  const wrong: string[] = [];
  const faults = sampled(everyFault(whole.trace), share);
  for (const fault of faults) {
    const namespace = await subject.prepare();
    const first = await live(client, subject, namespace, fault);
    const { world } = first.world === "crashed" ? await live(client, subject, namespace) : first;
    if (JSON.stringify(world) !== expected) wrong.push(`${show([fault])}: ${JSON.stringify(world)}`);
  }
  return { wrong, runs: faults.length };
};

/** At least one, however few there are. */
const crashes = (trace: readonly Asked[], share: number): readonly Fault[] => {
  const all = everyFault(trace).filter(({ when }) => when !== "unheard");
  return sampled(all, Math.min(share, all.length));
};

/**
 * As {@link crashEverywhere}, but each time the process that takes over dies, too, at one of the requests that it then has.
 *
 * @param shares one in so many of the first crashes, and of the second ones
 */
export const crashTwice = async <World>(
  client: Client,
  subject: Subject<World>,
  shares: { readonly first: number; readonly second: number },
): Promise<Outcome> => {
  const whole = await live(client, subject, await subject.prepare());
  const expected = JSON.stringify(whole.world);
  const wrong: string[] = [];
  let runs = 0;
  const judge = (world: World | string, ...faults: readonly Fault[]): void => {
    runs += 1;
    if (JSON.stringify(world) !== expected) wrong.push(`${show(faults)}: ${JSON.stringify(world)}`);
  };
  for (const first of crashes(whole.trace, shares.first)) {
    const once = await subject.prepare();
    await live(client, subject, once, first);
    const resumed = await live(client, subject, once);
    judge(resumed.world, first);
    for (const second of crashes(resumed.trace, shares.second)) {
      const namespace = await subject.prepare();
      await live(client, subject, namespace, first);
      const { world } = await live(client, subject, namespace, second);
      judge(world === "crashed" ? (await live(client, subject, namespace)).world : world, first, second);
    }
  }
  return { wrong, runs };
};

const refused = (code: number, reason: string, notFound?: "other"): ApiError => ({
  type: "refused",
  code,
  reason,
  message: `${code} ${reason}`,
  causes: [],
  ...(notFound === undefined ? {} : { notFound }),
});

/** What an API server, or what is before it, may answer although it is not so, and that does not last. */
const PASSING: readonly ApiError[] = [
  refused(409, "Conflict"),
  refused(429, "TooManyRequests"),
  refused(500, "InternalError"),
  refused(503, "ServiceUnavailable"),
  refused(504, "Timeout"),
  refused(404, "NotFound", "other"),
  { type: "unanswered", cause: "deadline", message: "no answer in time" },
];

/** Answers one request so; `lands`: the API server has done all the same what it was asked. */
const wrongly = ({ text, nth }: Pick<Asked, "text" | "nth">, error: ApiError, lands: boolean): Hook => {
  let left = nth;
  return async (request, next) => {
    if (textOf(request) !== text) return next(request);
    left -= 1;
    if (left !== 0) return next(request);
    if (lands) await next(request);
    return E.left(error);
  };
};

/**
 * Runs it once as it is, and then once for each request and each wrong answer to that, done all the same or not, in a namespace of
 * its own each time.
 *
 * @returns what ended in another way; nothing, if it waits out everything that passes
 */
export const answerEverywhere = async <World>(client: Client, subject: Subject<World>, share = 1): Promise<Outcome> => {
  const whole = await live(client, subject, await subject.prepare());
  const expected = JSON.stringify(whole.world);
  const wrong: string[] = [];
  const cases = whole.trace.flatMap((asked) =>
    PASSING.flatMap((error) => (asked.writes ? [false, true] : [false]).map((lands) => ({ asked, error, lands }))),
  );
  const tried = sampled(cases, share);
  for (const { asked, error, lands } of tried) {
    const { world } = await live(client, subject, await subject.prepare(), undefined, wrongly(asked, error, lands));
    const what = error.type === "refused" ? error.message : error.cause;
    if (JSON.stringify(world) !== expected)
      wrong.push(`${asked.text} was answered with ${what}${lands ? ", and done" : ""}: ${JSON.stringify(world)}`);
  }
  return { wrong, runs: tried.length };
};
