// Runs a scenario of Transactions in which requests get wrong answers, and says what was wrong in the end.
import { transactions } from "@janus/api";
import { randomBytes } from "node:crypto";
import type { Client, Hook, Request, Watch } from "@janus/kube";
import { violations } from "../crash/invariants.ts";
import { nameOf, show } from "../crash/crashing-process.ts";
import { transaction } from "../crash/objects.ts";
import { isOver, sleep } from "../crash/over.ts";
import { type Environment, runWith, type ScenarioRun } from "../crash/run-scenario.ts";
import type { Scenario } from "../crash/scenario.ts";
import { must } from "../crash/world.ts";
import { isWrite, kindOf } from "../trouble/kinds.ts";
import type { TestBed } from "../trouble/test-bed.ts";
import type { Answer } from "./answers.ts";
import { type Bystander, bystander } from "./bystander.ts";

/** A request of a scenario: the same in every run. */
export interface Asked {
  readonly text: string;
  /** From 1. */
  readonly nth: number;
  readonly kind: string;
  readonly writes: boolean;
}

/** The wrong answers of one run. */
export interface AnswerPlan {
  /** These are answered so, in this order; where it lasts, all of the kind of the last one from then on. */
  readonly requests: readonly Asked[];
  readonly answer: Answer;
  /** Whether the API server is asked all the same. */
  readonly lands: boolean;
  readonly lasts: boolean;
}

export interface RunResult {
  /** What is wrong. */
  readonly wrong: readonly string[];
  /** Requests for the Transaction, each once. */
  readonly trace: readonly Asked[];
  /** How many there were in all, and how many of them met the answer. */
  readonly requests: number;
  readonly met: number;
}

/** How long an answer lasts that lasts, in ms: at least, and at most while the bystander, whom it does not concern, is under way. */
const LASTING = 10_000;
const LASTING_AT_MOST = 50_000;
/** How long a Transaction may take when the trouble is over, in ms. */
const PATIENCE = 300_000;

/** Events, which are off the critical path, and requests that depend on time: their order differs. */
const isUnsteady = ({ purpose = "" }: Request): boolean => ["event", "renew-lock"].includes(purpose);

/** Asked for all at once, whoever they are for. */
const isShared = (kind: string): boolean => /^(discovery|reflect):/.test(kind);

const RUN = "tests.janus.io/run";

/** Requests for locks: there are more of them the longer it takes. */
const isOfTime = (kind: string): boolean => /^(renew|read)-lock:/.test(kind);

/** The controller of this run watches the Transactions of the run, in all namespaces. */
const widened = <A extends Request | Watch>(request: A, run: string): A => {
  if (!("resource" in request) || request.purpose !== "reflect") return request;
  const { namespace: _, ...rest } = request;
  return { ...rest, labelSelector: `${RUN}=${run}` } as A;
};

const watching = (client: Client, run: string): Client => ({
  ...client,
  watch: (request, signal) => client.watch(widened(request, run), signal),
});

/** What it is about, without what differs from run to run. */
const textOf = (request: Request, namespace: string): string => {
  if (isUnsteady(request)) return kindOf(request);
  const path = request.verb === "raw" ? ` ${request.path}` : "";
  return `${show(request).replaceAll(namespace, "here")}${path}`;
};

interface Misanswering {
  readonly hook: Hook;
  readonly trace: Asked[];
  readonly result: Count;
}

interface Count {
  requests: number;
  met: number;
  began: number | undefined;
  defect: string | undefined;
  /** It met an answer that cannot be distinguished from a true one. */
  isDeceived: boolean;
}

const nothing = (): Count => ({ requests: 0, met: 0, began: undefined, defect: undefined, isDeceived: false });

const misanswering = (
  testBed: TestBed,
  run: string,
  plan: AnswerPlan,
  namespace: string,
  other: Bystander,
): Misanswering => {
  const counts = new Map<string, number>();
  const trace: Asked[] = [];
  const result = nothing();
  const left = [...plan.requests];

  const isMet = ({ text, nth, kind }: Asked): boolean => {
    const last = plan.requests.at(-1);
    if (result.began !== undefined && plan.lasts) {
      const isForBystander = other.isUnderWay() && !isShared(kind);
      return kind === last?.kind && performance.now() < result.began + (isForBystander ? LASTING_AT_MOST : LASTING);
    }
    const [first] = left;
    if (first === undefined || first.text !== text || nth < first.nth) return false;
    left.shift();
    if (left.length === 0) {
      result.began = performance.now();
      other.comes();
    }
    return true;
  };

  const hook: Hook = (asked, next) => {
    const request = widened(asked, run);
    if (request.purpose === "event" && JSON.stringify(request).includes("internal error in Janus"))
      result.defect = nameOf(request);
    if (other.asks(request)) return next(request);
    const text = textOf(asked, namespace);
    const one = { text, nth: (counts.get(text) ?? 0) + 1, kind: kindOf(request), writes: isWrite(request) };
    counts.set(text, one.nth);
    trace.push(one);
    if (!isOfTime(one.kind)) result.requests += 1;
    if (!isMet(one)) return next(request);
    result.met += 1;
    const lands = !one.writes || plan.lands;
    // Where field managers may not be folded, they stay as many as they are.
    if (plan.answer.isTrueToForm?.(request, lands) === true || request.purpose === "fold-managers")
      result.isDeceived = true;
    return testBed.badWay({ says: plan.answer.name, lands }).send(request);
  };
  return { hook, trace, result };
};

/** Deletes the Transaction in the end, where that was to happen at a moment that never came. */
const deleteAtLast = async ({ seen, api }: Environment, namespace: string, over: () => boolean): Promise<void> => {
  let since: number | undefined;
  while (!over()) {
    await sleep(500);
    const observed = seen.of(namespace, "txn");
    if (observed === undefined || observed.isGone || !isOver(observed.object)) since = undefined;
    else since ??= performance.now();
    if (since === undefined || performance.now() < since + 3000) continue;
    await api.send({ verb: "delete", resource: transactions, namespace, name: transaction.metadata.name });
    return;
  }
};

/**
 * The scenario in which whatever the last phase is, it only has to be true; people may come in vain.
 *
 * @param isOfOthers requests that are not for its Transaction: people do not answer to them.
 */
const lenient = (scenario: Scenario, anything: boolean, isOfOthers: (request: Request) => boolean): Scenario => ({
  ...scenario,
  ...(anything ? { orElse: ["Committed", "RolledBack", "Failed", "Pending", "Preparing"] as const } : {}),
  userActions: (scenario.userActions ?? []).map((userAction) => ({
    ...userAction,
    is: (request, answer) => !isOfOthers(request) && userAction.is(request, answer),
    does: (place) => userAction.does(place).catch(() => {}),
  })),
});

/** What could not be rolled back may be as it was before, or as the change made it; what is said of it is that it is not known. */
const isOfUnsettled = (text: string): boolean => /^(rollback-failed|unknown), but /.test(text);

/** Runs a scenario in which requests are answered so. @param most requests: more would be a storm */
export const runWithAnswers = async (
  testBed: TestBed,
  scenario: Scenario,
  planned: ScenarioRun,
  plan: AnswerPlan,
  most: number,
): Promise<RunResult> => {
  const run = randomBytes(5).toString("hex");
  const { environment } = testBed;
  const labels = { [RUN]: run };
  const asked = plan.requests.at(-1);
  // Locks run out, and so does time; and whoever deletes the Transaction may come at another moment.
  const mayBeAny = scenario.gone === true || scenario.spec["timeout"] !== undefined;
  const anything = mayBeAny || plan.answer.isRefusal === true || plan.lasts || isOfTime(asked?.kind ?? "");
  const actors: { other: Bystander; answering: Misanswering }[] = [];
  let isOverNow = false;
  const direct: Parameters<typeof runWith>[2] = async ({ namespace }, made) => {
    const other = await bystander(environment, labels);
    for (const { metadata } of made)
      must(
        await environment.api.send({
          verb: "mergePatch",
          resource: transactions,
          namespace,
          name: metadata.name ?? "",
          body: { metadata: { labels } },
        }),
      );
    if (scenario.gone === true) void deleteAtLast(environment, namespace, () => isOverNow);
    const answering = misanswering(testBed, run, plan, namespace, other);
    actors.push({ other, answering });
    return { faultOf: () => () => undefined, between: async () => {}, hooks: [answering.hook] };
  };
  const committedAt = async (): Promise<number | undefined> => actors[0]?.other.committed();
  const played = {
    ...lenient(scenario, anything, (request) => actors[0]?.other.asks(request) === true),
    // The controller lives until the bystander has committed, too.
    afterwards: [...(scenario.afterwards ?? []), () => committedAt().catch(() => undefined)],
  };
  const wrong: string[] = [];
  try {
    const end = await runWith(
      { ...environment, theirs: watching(environment.theirs, run), patience: PATIENCE },
      played,
      direct,
    );
    if (actors[0]?.answering.result.isDeceived !== true)
      wrong.push(...violations(end, planned).filter((text) => !isOfUnsettled(text)));
  } catch (error) {
    wrong.push(String(error));
  } finally {
    isOverNow = true;
  }
  const result = actors[0]?.answering.result ?? nothing();
  try {
    const at = await committedAt();
    const isLate = at !== undefined && result.began !== undefined && plan.lasts && at > result.began + LASTING_AT_MOST;
    if (isLate && !isShared(asked?.kind ?? "")) wrong.push("the bystander had to wait until the trouble was over");
  } catch (error) {
    wrong.push(String(error));
  }
  if (result.defect !== undefined) wrong.push(`a defect is reported in ${result.defect}`);
  if (result.requests > most) wrong.push(`${result.requests} requests, of which ${result.met} met it`);
  return { wrong, trace: actors[0]?.answering.trace ?? [], requests: result.requests, met: result.met };
};
