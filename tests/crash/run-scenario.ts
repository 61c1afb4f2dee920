// Runs a scenario of Transactions with one controller after the other, each with its fault.
import type { Api, Client, Connection, Discovery, Hook, KubeObject, Resource } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { interference } from "./user-action.ts";
import { connectAll, type Life, live } from "./life.ts";
import { type Asked, type FaultOf, meets, type Fault } from "./crashing-process.ts";
import { type Ended, over, sleep } from "./over.ts";
import type { Scenario } from "./scenario.ts";
import { type ObservedTransactions, observeTransactions } from "./observed-transactions.ts";
import { type Users, newUsers } from "./users.ts";
import { type Turns, turns } from "./turns.ts";
import { KINDS, look, type World } from "./world.ts";

export interface ScenarioRun {
  readonly scenario: Scenario;
  readonly before: World;
  readonly after: World;
  /** Each object as users have written it last; see `users.ts`. */
  readonly done: Users["done"];
  /** By name. */
  readonly transactions: ReadonlyMap<string, Ended>;
  /** Requests of each controller. */
  readonly traces: readonly (readonly Asked[])[];
  /** Writes to targets that the API server has made, in order: `<field manager> <verb> <Kind>/<name>`. */
  readonly written: readonly string[];
}

export interface Environment {
  /** The administrator's. */
  readonly api: Api;
  readonly find: Discovery;
  readonly theirs: Client;
  readonly seen: ObservedTransactions;
  /** For runs with an active controller. */
  readonly turns: Turns;
  /** The kinds whose objects are compared. */
  readonly kinds: readonly Resource[];
  /** See `over.ts`. */
  readonly patience?: number;
}

/** With more active runs requests would time out. */
const AT_WORK = 12;

export const newEnvironment = (
  connection: Connection,
  api: Api,
  find: Discovery,
  kinds: readonly Resource[] = KINDS,
): Environment => ({
  api,
  find,
  theirs: connectAll(connection),
  seen: observeTransactions(api),
  turns: turns(AT_WORK),
  kinds,
});

/** When the next controller begins: at once, or when the locks of the crashed one have expired. */
export type Takeover = "at once" | "late";

/** Until every lock has expired that a dead controller has left behind; at least a second, which is their lockTimeout. */
const expiry = async ({ api, turns, kinds }: Environment, namespace: string): Promise<void> => {
  const durations = [...(await look(api, namespace, kinds))].flatMap(([key, lease]) =>
    key.startsWith("Lease/janus-lock-")
      ? [(lease["spec"] as { readonly leaseDurationSeconds: number }).leaseDurationSeconds]
      : [],
  );
  turns.give();
  // Somebody's own lock for an hour is another matter.
  await sleep(Math.max(1, ...durations.filter((seconds) => seconds < 60)) * 1000 + 200);
  await turns.take();
};

const recordingWrites =
  (written: string[]): Hook =>
  async (request, next) => {
    const answer = await next(request);
    const isOurs = request.purpose === "change" || request.purpose === "restore";
    if (!isOurs || E.isLeft(answer) || request.verb === "raw") return answer;
    const manager = "fieldManager" in request ? request.fieldManager : "";
    const name = answer.right.metadata?.name ?? ("name" in request ? request.name : "");
    written.push(`${manager} ${request.verb} ${request.resource.kind}/${name}`);
    return answer;
  };

/** A namespace in which everything is as it is before the Transactions. */
const set = async ({ api, find }: Environment, { before }: Scenario): Promise<Users> => {
  const place = await newUsers(api, find);
  for (const object of before) await place.create(object);
  return place;
};

const submit = async ({ create }: Users, { spec, rivals = [] }: Scenario): Promise<readonly KubeObject[]> => {
  const made: KubeObject[] = [];
  for (const [n, each] of [spec, ...rivals].entries())
    made.push(
      await create({
        apiVersion: "backup.janus.io/v1alpha1",
        kind: "Transaction",
        metadata: { name: n === 0 ? "txn" : `rival-${n}` },
        spec: each,
      }),
    );
  return made;
};

/** The faults of the controllers of a run, one after the other. */
export interface FaultPlan {
  readonly faultOf: (life: number) => FaultOf;
  /** When one has crashed, until the next one begins. */
  readonly between: () => Promise<void>;
  /** Hooks of every controller. */
  readonly hooks: readonly Hook[];
}

/** Runs a scenario in a namespace of its own, with one controller after the other, until one does not crash. */
export const runWith = async (
  environment: Environment,
  scenario: Scenario,
  planFor: (place: Users, transactions: readonly KubeObject[]) => Promise<FaultPlan>,
): Promise<ScenarioRun> => {
  const { api, theirs, turns, kinds } = environment;
  await turns.take();
  try {
    const place = await set(environment, scenario);
    const { namespace, done } = place;
    const before = new Map(
      [...done].flatMap(([key, object]) => (object === undefined ? [] : [[key, object] as const])),
    );
    const made = await submit(place, scenario);
    const { faultOf, between, hooks } = await planFor(place, made);
    const traces: (readonly Asked[])[] = [];
    const written: string[] = [];
    const all = [interference(scenario.userActions ?? [], place), ...hooks, recordingWrites(written)];
    const afterwards = [...(scenario.afterwards ?? [])];
    for (;;) {
      const life = live(theirs, namespace, faultOf(traces.length), all);
      traces.push(life.trace);
      const ends = await untilOver(environment, place, scenario, made, life, afterwards);
      if (ends !== "died") {
        const transactions = new Map(ends.map((end) => [end.object.metadata.name ?? "", end]));
        return { scenario, before, after: await look(api, namespace, kinds), done, transactions, traces, written };
      }
      await between();
    }
  } finally {
    turns.give();
  }
};

/**
 * Runs a scenario in which each controller has its fault, in turn; after a crash another one takes over, at once or when the
 * locks have expired; the last one does not crash.
 */
export const runScenario = (
  environment: Environment,
  scenario: Scenario,
  faults: readonly Fault[],
  takeover: Takeover = "at once",
  hooks: readonly Hook[] = [],
): Promise<ScenarioRun> =>
  runWith(environment, scenario, async ({ namespace }) => ({
    faultOf: (life) => meets(faults[life]),
    between: async () => {
      if (takeover === "late") await expiry(environment, namespace);
    },
    hooks,
  }));

/** Waits until everything is over, users included, or until the controller has crashed; then stops the controller. */
const untilOver = async (
  environment: Environment,
  place: Users,
  scenario: Scenario,
  made: readonly KubeObject[],
  { crashed, end }: Life,
  afterwards: NonNullable<Scenario["afterwards"]>[number][],
): Promise<readonly Ended[] | "died"> => {
  try {
    for (;;) {
      const ends = await over(environment, scenario.gone === true, place.namespace, made, crashed);
      const next = ends === "died" ? undefined : afterwards.shift();
      if (next === undefined) return ends;
      await next(place);
    }
  } finally {
    await end();
  }
};
