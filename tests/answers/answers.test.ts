// Whatever is answered to any request, Transactions tell the truth of themselves, and leave nothing behind.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { violations } from "../crash/invariants.ts";
import { type ScenarioRun, runScenario } from "../crash/run-scenario.ts";
import { asPlanned, type Scenario, scenarios } from "../crash/scenario.ts";
import { contentsElsewhere } from "../crash/scenarios/contents.ts";
import { deletions } from "../crash/scenarios/deletion.ts";
import { turns as turnings } from "../crash/scenarios/turning.ts";
import { waits } from "../crash/scenarios/waiting.ts";
import { isBrief, isExhaustive, seed } from "../fixtures/sample.ts";
import { sideBySide } from "../fixtures/side-by-side.ts";
import { type Random, random } from "../soak/random.ts";
import { newTestBed, type TestBed } from "../trouble/test-bed.ts";
import { type Answer, ANSWERS, answers } from "./answers.ts";
import { type Asked, type AnswerPlan, runWithAnswers } from "./answered-run.ts";

/** Of a sample: scenarios, and runs in which the answer comes once and in which it lasts. */
const SAMPLE = isBrief ? { scenarios: 1, once: 12, lasting: 2 } : { scenarios: 4, once: 45, lasting: 9 };
/** Runs that go on side by side. They mostly wait. */
const SIDE_BY_SIDE = 12;
/** One line each so many runs, for whoever watches. */
const PROGRESS = 50;
/** Of equal requests the first ones; how many there are is different each time. */
const OF_EQUAL = 2;

/** Without those in which people answer to what they have seen, or others wait for it. */
const all = [...scenarios, ...waits, ...contentsElsewhere, ...turnings, ...deletions].filter(
  ({ afterwards }) => afterwards === undefined,
);

let testBed: TestBed;
beforeAll(async () => void (testBed = await newTestBed([], answers)));
afterAll(() => testBed.clear());

interface Baseline {
  readonly scenario: Scenario;
  readonly planned: ScenarioRun;
  /** What is asked without any trouble. */
  readonly trace: readonly Asked[];
  readonly usual: number;
}

/** An answer of which nothing is heard: the requests are only noted. */
const undisturbed = (answer: Answer): AnswerPlan => ({ requests: [], answer, lands: false, lasts: false });

const measureBaseline = async (scenario: Scenario): Promise<Baseline> => {
  const planned = await runScenario(testBed.environment, asPlanned(scenario), []);
  expect(violations(planned, planned)).toEqual([]);
  const [answer] = ANSWERS;
  if (answer === undefined) throw new Error("there are no answers");
  const { wrong, trace, requests } = await runWithAnswers(testBed, scenario, planned, undisturbed(answer), 1000);
  expect(wrong).toEqual([]);
  return { scenario, planned, trace, usual: requests };
};

interface AnsweredRun {
  readonly baseline: Baseline;
  readonly plan: AnswerPlan;
}

const once = (baseline: Baseline): readonly AnsweredRun[] =>
  baseline.trace
    .filter(({ nth }) => nth <= OF_EQUAL)
    .flatMap((one) =>
      ANSWERS.flatMap((answer) =>
        (one.writes ? [false, true] : [false]).map(
          (lands): AnsweredRun => ({ baseline, plan: { requests: [one], answer, lands, lasts: false } }),
        ),
      ),
    );

/** From the first one of each kind on. */
const lasting = (baseline: Baseline): readonly AnsweredRun[] => {
  const kinds = new Map(baseline.trace.toReversed().map((one) => [one.kind, one]));
  return [...kinds.values()].flatMap((one) =>
    ANSWERS.flatMap((answer) =>
      (one.writes ? [false, true] : [false]).map(
        (lands): AnsweredRun => ({ baseline, plan: { requests: [one], answer, lands, lasts: true } }),
      ),
    ),
  );
};

const sampleOf = <A>(all: readonly A[], size: number, { below }: Random): readonly A[] => {
  if (isExhaustive) return all;
  const left = [...all];
  return Array.from({ length: Math.min(size, left.length) }, () =>
    left.splice(Math.floor(below(left.length)), 1),
  ).flat();
};

const tell = ({ baseline: { scenario }, plan: { requests, answer, lands, lasts } }: AnsweredRun): string => {
  const asked = requests.map(({ text, nth }) => `${text}${nth > 1 ? ` (no. ${nth})` : ""}`).join(" and then ");
  return `${scenario.name}: ${asked} met ${answer.name}${lasts ? " for a while" : ""}${lands ? " when it was done" : ""}`;
};

/** No storm: what it takes to try again, with the pauses that there have to be, and to roll back. */
const most = ({ baseline: { usual }, plan: { lasts } }: AnsweredRun): number => (lasts ? 6 : 3) * usual + 100;

/** Requests that there are only because of the answer meet it, too. */
const follow = (
  { baseline, plan }: AnsweredRun,
  trace: readonly Asked[],
  tried: Set<string>,
): readonly AnsweredRun[] => {
  const known = new Set([...baseline.trace, ...plan.requests].map(({ kind }) => kind));
  const news = new Map(trace.filter(({ kind }) => !known.has(kind)).map((one) => [one.kind, { ...one, nth: 1 }]));
  return [...news].flatMap(([kind, one]): readonly AnsweredRun[] => {
    const key = `${baseline.scenario.name} ${kind} ${plan.answer.name} ${plan.lands}`;
    if (tried.has(key)) return [];
    tried.add(key);
    return [{ baseline, plan: { ...plan, requests: [...plan.requests, one] } }];
  });
};

const runAll = async (runs: readonly AnsweredRun[], what: string): Promise<readonly string[]> => {
  const wrong: string[] = [];
  const tried = new Set<string>();
  const began = performance.now();
  let ended = 0;
  for (let now = runs; now.length > 0; ) {
    const next: AnsweredRun[] = [];
    await sideBySide(SIDE_BY_SIDE, now, async (one) => {
      const { baseline, plan } = one;
      const result = await runWithAnswers(testBed, baseline.scenario, baseline.planned, plan, most(one));
      for (const text of result.wrong) {
        wrong.push(`${tell(one)}: ${text.slice(0, 600)}`);
        console.log(`WRONG: ${wrong.at(-1)}`);
      }
      if (!plan.lasts) next.push(...follow(one, result.trace, tried));
      ended += 1;
      const seconds = Math.round((performance.now() - began) / 1000);
      if (ended % PROGRESS === 0) console.log(`${what}: ${ended} runs in ${seconds} s`);
    });
    now = isExhaustive ? next : next.slice(0, Math.max(0, 2 * runs.length - ended));
  }
  console.log(`${what}: ${ended} runs in ${Math.round((performance.now() - began) / 1000)} s`);
  return wrong;
};

describe(`whatever is answered to a request (JANUS_SEED=${seed})`, () => {
  let baselines: readonly Baseline[];
  beforeAll(async () => {
    baselines = await sideBySide(SIDE_BY_SIDE, sampleOf(all, SAMPLE.scenarios, random(seed)), measureBaseline);
  });

  it.each([
    ["once", once, SAMPLE.once],
    ["for ten seconds", lasting, SAMPLE.lasting],
  ] as const)(
    "%s, the verdict is true, nothing is left, and no other Transaction is affected",
    async (what, days, size) => {
      const every = baselines.flatMap(days);
      console.log(`${what}: ${every.length} combinations`);
      expect(await runAll(sampleOf(every, size, random(seed)), what)).toEqual([]);
    },
    48 * 3_600_000,
  );
});
