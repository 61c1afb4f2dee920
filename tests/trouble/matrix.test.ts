import type { Hook } from "@janus/kube";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { violations } from "../crash/invariants.ts";
import { type ScenarioRun, runScenario } from "../crash/run-scenario.ts";
import { asPlanned, type Scenario, scenarios } from "../crash/scenario.ts";
import type { Trouble } from "../fixtures/proxy.ts";
import { sideBySide } from "../fixtures/side-by-side.ts";
import { counting, inAll, isWrite, kindOf } from "./kinds.ts";
import { newTestBed, type TestBed } from "./test-bed.ts";

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

let testBed: TestBed;
beforeAll(async () => void (testBed = await newTestBed()));
afterAll(() => testBed.clear());

/**
 * The first request of each of these kinds meets the trouble on its way to the API server; the second one, if it writes,
 * on the way back.
 */
const twice = (kinds: readonly string[], meets: Meets): Hook => {
  const seen = new Map<string, number>();
  return (request, next) => {
    const kind = kindOf(request);
    const count = (seen.get(kind) ?? 0) + 1;
    seen.set(kind, count);
    if (!kinds.includes(kind)) return next(request);
    if (count === 1) return testBed.badWay({ ...meets, lands: false }).send(request);
    const lands = isWrite(request) && meets.meets !== 429;
    return count === 2 && lands ? testBed.badWay({ ...meets, lands }).send(request) : next(request);
  };
};

/** The n-th write meets the trouble on its way back. */
const once = (n: number, meets: Meets): Hook => {
  let writes = 0;
  return (request, next) => {
    if (!isWrite(request)) return next(request);
    writes += 1;
    return writes === n ? testBed.badWay({ ...meets, lands: true }).send(request) : next(request);
  };
};

interface RunResult {
  readonly wrong: readonly string[];
  /** Requests by kind. */
  readonly counts: ReadonlyMap<string, number>;
}

const runWithAnswers = async (
  scenario: Scenario,
  hook: Hook,
  planned: ScenarioRun,
  most: number,
): Promise<RunResult> => {
  const { hook: count, counts } = counting();
  const wrong = await runScenario(testBed.environment, scenario, [], "at once", [count, hook]).then(
    (end) => violations(end, planned),
    (error: unknown) => [String(error)],
  );
  const storm = inAll(counts) > most ? [`${inAll(counts)} requests: ${JSON.stringify([...counts])}`] : [];
  return { wrong: [...wrong, ...storm], counts };
};

/** The day of some requests. */
interface Day {
  readonly kinds: readonly string[];
  readonly trouble: Named;
}

const ends = (["Committed", "RolledBack"] as const).map((outcome) => {
  const scenario = scenarios.findLast((one) => one.outcome === outcome);
  if (scenario === undefined) throw new Error(`no scenario ends as ${outcome}`);
  return [outcome, scenario] as const;
});

describe.each(ends)("trouble on the way to %s", (_, scenario) => {
  /** Without any trouble; and what nobody but a storm of requests exceeds. */
  const undisturbed = async () => {
    const { hook, counts } = counting();
    let writes = 0;
    const write: Hook = (request, next) => {
      if (isWrite(request)) writes += 1;
      return next(request);
    };
    const [end, planned] = await Promise.all([
      runScenario(testBed.environment, scenario, [], "at once", [hook, write]),
      runScenario(testBed.environment, asPlanned(scenario), []),
    ]);
    expect(violations(end, planned)).toEqual([]);
    return { planned, usual: counts, writes, most: 2 * inAll(counts) + 50 };
  };

  it("is waited out, whatever it is and whichever kind of request meets it", { timeout: 600_000 }, async () => {
    const { planned, usual, most } = await undisturbed();
    const wrong: string[] = [];
    const tried = new Set<string>();
    const met = new Set<string>();
    let days = TROUBLES.flatMap((trouble) => [...usual.keys()].map((kind): Day => ({ kinds: [kind], trouble })));
    // Trouble brings kinds of requests that there are none of without it: those meet it, too, after what brought them.
    while (days.length > 0) {
      const next = new Map<string, Day>();
      await sideBySide(SIDE_BY_SIDE, days, async ({ kinds, trouble }) => {
        const [name, meets] = trouble;
        const result = await runWithAnswers(scenario, twice(kinds, meets), planned, most);
        wrong.push(...result.wrong.map((text) => `${kinds.join(" and ")} met ${name}: ${text}`));
        for (const kind of kinds) if (result.counts.has(kind)) met.add(kind);
        for (const kind of result.counts.keys())
          if (!usual.has(kind) && !tried.has(`${kind} ${name}`)) {
            tried.add(`${kind} ${name}`);
            next.set(`${kind} ${name}`, { kinds: [...kinds, kind], trouble });
          }
      });
      days = [...next.values()];
    }
    expect(wrong.map((text) => text.slice(0, 400))).toEqual([]);
    expect([...usual.keys()].filter((kind) => !met.has(kind))).toEqual([]);
    expect(met.size).toBeGreaterThan(usual.size);
  });

  it("is waited out, whichever single write meets it on its way back", { timeout: 600_000 }, async () => {
    const { planned, writes, most } = await undisturbed();
    const days = Array.from({ length: writes }, (_, index) => [index + 1, DOUBTFUL[index % DOUBTFUL.length]] as const);
    const wrong = await sideBySide(SIDE_BY_SIDE, days, async ([n, [name, meets] = OVERLOADED]) => {
      const result = await runWithAnswers(scenario, once(n, meets), planned, most);
      return result.wrong.map((text) => `write ${n} met ${name}: ${text}`);
    });
    expect(wrong.flat().map((text) => text.slice(0, 400))).toEqual([]);
  });
});
