// Trouble on the way of any controller to its API server: each kind of request meets each trouble, and so does each write.
import type { Client, Hook } from "@janus/kube";
import { expect } from "vitest";
import type { Trouble } from "../fixtures/proxy.ts";
import { sampled, seed } from "../fixtures/sample.ts";
import { sideBySide } from "../fixtures/side-by-side.ts";
import { counting, inAll, isOfTime, isWrite, kindOf } from "./kinds.ts";

/** Lets a controller do its work from beginning to end, its requests by way of these hooks. Returns what is wrong with the end. */
export type Run = (...hooks: readonly Hook[]) => Promise<readonly string[]>;

/** A way to the API server on which each request meets this. */
export type BadWay = (trouble: Trouble) => Pick<Client, "send">;

/** Runs that go on side by side. They mostly wait. */
const SIDE_BY_SIDE = 12;

type Meets = Omit<Extract<Trouble, { readonly meets: unknown }>, "lands">;
type Named = readonly [name: string, meets: Meets];

/** Who refuses for being overloaded does nothing. All others may have done what they were asked. */
const OVERLOADED: Named = ["429 with Retry-After", { meets: 429, retryAfter: 1 }];
const DOUBTFUL: readonly Named[] = [
  ["500", { meets: 500 }],
  ["503 with Retry-After", { meets: 503, retryAfter: 1 }],
  ["504", { meets: 504 }],
  ["a connection that is reset", { meets: "reset" }],
  ["silence", { meets: "silence" }],
];
const TROUBLES: readonly Named[] = [OVERLOADED, ...DOUBTFUL];

/**
 * The first request of each of these kinds meets the trouble on its way to the API server; the second one, if it writes,
 * on the way back.
 */
const twice = (badWay: BadWay, kinds: readonly string[], meets: Meets): Hook => {
  const seen = new Map<string, number>();
  return (request, next) => {
    const kind = kindOf(request);
    const count = (seen.get(kind) ?? 0) + 1;
    seen.set(kind, count);
    if (!kinds.includes(kind)) return next(request);
    if (count === 1) return badWay({ ...meets, lands: false }).send(request);
    const lands = isWrite(request) && meets.meets !== 429;
    return count === 2 && lands ? badWay({ ...meets, lands }).send(request) : next(request);
  };
};

/** The n-th write meets the trouble on its way back. */
const once = (badWay: BadWay, n: number, meets: Meets): Hook => {
  let writes = 0;
  return (request, next) => {
    if (!isWrite(request)) return next(request);
    writes += 1;
    return writes === n ? badWay({ ...meets, lands: true }).send(request) : next(request);
  };
};

interface RunResult {
  readonly wrong: readonly string[];
  /** Requests by kind. */
  readonly counts: ReadonlyMap<string, number>;
}

const runWith = async (run: Run, hook: Hook, most: number): Promise<RunResult> => {
  const { hook: count, counts } = counting();
  const wrong = await run(count, hook).catch((error: unknown) => [String(error)]);
  const storm = inAll(counts) > most ? [`${inAll(counts)} requests: ${JSON.stringify([...counts])}`] : [];
  return { wrong: [...wrong, ...storm], counts };
};

/** Without any trouble; and what nobody but a storm of requests exceeds. */
const undisturbed = async (run: Run) => {
  const { hook, counts } = counting();
  let writes = 0;
  const write: Hook = (request, next) => {
    if (isWrite(request)) writes += 1;
    return next(request);
  };
  expect(await run(hook, write)).toEqual([]);
  return { usual: counts, writes, most: 2 * inAll(counts) + 50 };
};

/** The day of some requests. */
interface Day {
  readonly kinds: readonly string[];
  readonly trouble: Named;
}

/** What happens to trouble. */
export interface Weathered {
  /** What it made end in another way, or made ask too often. */
  readonly wrong: readonly string[];
  /** The kinds of requests that each run without trouble has, and those that have met it. */
  readonly usual: readonly string[];
  readonly met: ReadonlySet<string>;
}

/**
 * Each kind of request meets each trouble, once on its way, and once, if it writes, on its way back.
 *
 * @param share one trouble in so many of each kind, another one each time
 */
export const eachKindMeetsTrouble = async (run: Run, badWay: BadWay, share = 1): Promise<Weathered> => {
  const { usual, most } = await undisturbed(run);
  const wrong: string[] = [];
  const tried = new Set<string>();
  const met = new Set<string>();
  let days = [...usual.keys()].flatMap((kind, at) =>
    TROUBLES.filter((_, n) => (n + at + seed) % share === 0).map((trouble): Day => ({ kinds: [kind], trouble })),
  );
  // Trouble brings kinds of requests that there are none of without it: those meet it, too, after what brought them.
  while (days.length > 0) {
    const next = new Map<string, Day>();
    await sideBySide(SIDE_BY_SIDE, days, async ({ kinds, trouble }) => {
      const [name, meets] = trouble;
      const result = await runWith(run, twice(badWay, kinds, meets), most);
      wrong.push(...result.wrong.map((text) => `${kinds.join(" and ")} met ${name}: ${text}`.slice(0, 400)));
      for (const kind of kinds) if (result.counts.has(kind) && !isOfTime(kind)) met.add(kind);
      for (const kind of result.counts.keys())
        if (!usual.has(kind) && !tried.has(`${kind} ${name}`)) {
          tried.add(`${kind} ${name}`);
          next.set(`${kind} ${name}`, { kinds: [...kinds, kind], trouble });
        }
    });
    days = [...next.values()];
  }
  return { wrong, usual: [...usual.keys()].filter((kind) => !isOfTime(kind)), met };
};

/** Each write meets a trouble on its way back. Returns what it made end in another way, or made ask too often. */
export const eachWriteMeetsTrouble = async (run: Run, badWay: BadWay, share: number): Promise<readonly string[]> => {
  const { writes, most } = await undisturbed(run);
  const days = Array.from({ length: writes }, (_, index) => [index + 1, DOUBTFUL[index % DOUBTFUL.length]] as const);
  const wrong = await sideBySide(SIDE_BY_SIDE, sampled(days, share), async ([n, [name, meets] = OVERLOADED]) => {
    const result = await runWith(run, once(badWay, n, meets), most);
    return result.wrong.map((text) => `write ${n} met ${name}: ${text}`.slice(0, 400));
  });
  return wrong.flat();
};

/** Requests of which there are as many each time, whatever time it takes. */
const isSteady: (purpose?: string) => boolean = (purpose = "") =>
  !["reflect", "event", "renew-lock", "read-lock"].includes(purpose);

/** Stops at its n-th request until it is let go. */
const standstill = (n: number, go: Promise<void>): { readonly hook: Hook; readonly reached: Promise<void> } => {
  const reached = Promise.withResolvers<void>();
  let count = 0;
  return {
    reached: reached.promise,
    hook: async (request, next) => {
      if (!isSteady(request.purpose)) return next(request);
      count += 1;
      if (count >= n) {
        reached.resolve();
        await go;
      }
      return next(request);
    },
  };
};

/** Requests of an undisturbed run. */
const lengthOf = async (run: Run): Promise<number> => {
  let length = 0;
  const count: Hook = (request, next) => {
    if (isSteady(request.purpose)) length += 1;
    return next(request);
  };
  expect(await run(count)).toEqual([]);
  return length;
};

/**
 * Lets trouble come when every run is at another point of its way.
 *
 * @param runs by name; `trouble` strikes so many of them at once
 * @returns what is wrong with how they end
 */
export const struckAnywhere = async (
  runs: readonly { readonly name: string; readonly run: Run; readonly struck: Run }[],
  atOnce: number,
  trouble: (go: () => void) => Promise<void>,
): Promise<readonly string[]> => {
  const lengths = await Promise.all(runs.map(({ run }) => lengthOf(run)));
  const go = Promise.withResolvers<void>();
  const points = Array.from({ length: atOnce }, (_, index) => {
    const which = index % runs.length;
    const at = 1 + Math.floor(((index + 0.5) / atOnce) * (lengths[which] ?? 0));
    return { ...(runs[which] as (typeof runs)[number]), at, ...standstill(at, go.promise) };
  });
  const ends = points.map(async ({ name, struck, at, hook }) => {
    const wrong = await struck(hook).catch((error: unknown) => [String(error)]);
    return wrong.map((text) => `${name}, at request ${at}: ${text}`.slice(0, 2000));
  });
  await Promise.all(points.map(({ reached }, index) => Promise.race([reached, ends[index]])));
  await trouble(go.resolve);
  return (await Promise.all(ends)).flat();
};
