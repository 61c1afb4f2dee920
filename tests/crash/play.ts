import { type Phase, RETRY_ROLLBACK } from "@janus/api";
import { controller, jsonLog } from "@janus/controller";
import {
  type Api,
  type Client,
  connect,
  type Connection,
  type Discovery,
  type Hook,
  type KubeObject,
} from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { interference, phaseOf } from "./deed.ts";
import { type Asked, type Mishap, mortal } from "./mortal.ts";
import type { Scenario } from "./scenario.ts";
import { type Sightings, sightings } from "./sightings.ts";
import { type Stage, stage } from "./stage.ts";
import { type Turns, turns } from "./turns.ts";
import { look, transactions, type World } from "./world.ts";

/** Short, so that what waits for a write that may still turn up does not wait long. */
const WRITE_TIMEOUT = 1500;
const MARGIN = 100;

/** A Transaction in the end; what it was last, where it is gone. */
export interface Ended {
  readonly object: KubeObject;
  readonly isGone: boolean;
}

export interface Play {
  readonly scenario: Scenario;
  readonly before: World;
  readonly after: World;
  /** What people have done last to each object; see `stage.ts`. */
  readonly done: Stage["done"];
  /** By name. */
  readonly transactions: ReadonlyMap<string, Ended>;
  /** Requests of each life. */
  readonly traces: readonly (readonly Asked[])[];
  /** Writes to targets that the API server has made, in order: `<field manager> <verb> <Kind>/<name>`. */
  readonly written: readonly string[];
}

export interface Casting {
  /** The administrator's. */
  readonly api: Api;
  readonly find: Discovery;
  /** The controllers' connections: what one has sent arrives, also when it dies then. */
  readonly theirs: Client;
  readonly seen: Sightings;
  /** Of plays in which a controller is at work. */
  readonly turns: Turns;
}

/** More plays than that would only make each other's requests time out. */
const AT_WORK = 12;

export const cast = (connection: Connection, api: Api, find: Discovery): Casting => ({
  api,
  find,
  theirs: connect(connection, { writeTimeout: WRITE_TIMEOUT, deadline: 5000, connections: 512 }),
  seen: sightings(api),
  turns: turns(AT_WORK),
});

/** When the next controller begins: at once, or when the locks of the dead one have expired. */
export type Takeover = "at once" | "late";

interface Life {
  readonly trace: readonly Asked[];
  readonly died: Promise<void>;
  readonly end: () => Promise<void>;
}

const live = (client: Api, namespace: string, mishap: Mishap | undefined, extra: readonly Hook[]): Life => {
  const { hook, died, trace, bury } = mortal(mishap);
  const send = [hook, ...extra].reduceRight<Api["send"]>(
    (next, around) => (request) => around(request, next),
    client.send,
  );
  const janus = controller(
    { ...client, send },
    {
      settings: {
        controllerNamespace: "janus-system",
        writeTimeout: WRITE_TIMEOUT,
        margin: MARGIN,
        recoveryDelay: 3_600_000,
      },
      concurrency: 4,
      identity: "test",
      log: jsonLog("error"),
      watchNamespace: namespace,
    },
  );
  return {
    trace,
    died,
    end: async () => {
      bury();
      await janus.stop();
    },
  };
};

const TERMINAL: readonly Phase[] = ["Committed", "RolledBack", "Failed"];

const isOver = (transaction: KubeObject): boolean =>
  TERMINAL.includes(phaseOf(transaction)) &&
  (transaction.metadata.finalizers ?? []).length === 0 &&
  transaction.metadata.annotations?.[RETRY_ROLLBACK] === undefined;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A Transaction that is over, by a live read; `undefined` as long as it is not. */
const ended = async (
  { api, seen }: Casting,
  namespace: string,
  made: KubeObject,
  leaves: boolean,
): Promise<Ended | undefined> => {
  const name = made.metadata.name ?? "";
  const sight = seen.of(namespace, name);
  if (sight?.isGone === true) return sight;
  if (leaves || sight === undefined || !isOver(sight.object)) return undefined;
  const live = await api.send({ verb: "get", resource: transactions, namespace, name });
  return E.isRight(live) && isOver(live.right) ? { object: live.right, isGone: false } : undefined;
};

/** Longer than anything takes, in ms; a busy machine included. */
const PATIENCE = 300_000;

/** Waits until all Transactions are over, or the controller has died. */
const over = async (
  casting: Casting,
  { gone }: Scenario,
  namespace: string,
  made: readonly KubeObject[],
  died: Promise<void>,
): Promise<readonly Ended[] | "died"> => {
  const until = performance.now() + PATIENCE;
  let isDead = false;
  void died.then(() => (isDead = true));
  for (;;) {
    const news = casting.seen.change(namespace);
    if (isDead) return "died";
    const ends = await Promise.all(made.map((one) => ended(casting, namespace, one, gone === true)));
    if (ends.every((end) => end !== undefined)) return ends;
    if (performance.now() > until) {
      const states = made.map(({ metadata: { name = "" } }) => casting.seen.of(namespace, name)?.object);
      throw new Error(
        `not over after ${PATIENCE / 1000} s: ${JSON.stringify(states.map((state) => [state?.metadata.finalizers, state?.["status"]]))}`,
      );
    }
    await Promise.race([news, died, sleep(1000)]);
  }
};

/** Until every lock has expired that a dead controller has left behind; at least a second, which is their lockTimeout. */
const expiry = async ({ api, turns }: Casting, namespace: string): Promise<void> => {
  const durations = [...(await look(api, namespace))].flatMap(([key, lease]) =>
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
const set = async ({ api, find }: Casting, { before }: Scenario): Promise<Stage> => {
  const place = await stage(api, find);
  for (const object of before) await place.create(object);
  return place;
};

const submit = async ({ create }: Stage, { spec, rivals = [] }: Scenario): Promise<readonly KubeObject[]> => {
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

/**
 * Plays a scenario in a namespace of its own. Each controller has its mishap, in turn; when it dies, another one takes over,
 * at once or when the locks have expired; the last one lives.
 */
export const play = async (
  casting: Casting,
  scenario: Scenario,
  mishaps: readonly Mishap[],
  takeover: Takeover = "at once",
  extra: readonly Hook[] = [],
): Promise<Play> => {
  const { api, theirs, turns } = casting;
  await turns.take();
  try {
    const place = await set(casting, scenario);
    const { namespace, done } = place;
    const before = await look(api, namespace);
    const made = await submit(place, scenario);
    const traces: (readonly Asked[])[] = [];
    const written: string[] = [];
    const hooks = [interference(scenario.deeds ?? [], place), ...extra, recordingWrites(written)];
    const afterwards = [...(scenario.afterwards ?? [])];
    const lives = [...mishaps, undefined];
    for (const mishap of lives) {
      const life = live(theirs, namespace, mishap, hooks);
      traces.push(life.trace);
      const ends = await livedThrough(casting, place, scenario, made, life, afterwards);
      if (ends !== "died") {
        const transactions = new Map(ends.map((end) => [end.object.metadata.name ?? "", end]));
        return { scenario, before, after: await look(api, namespace), done, transactions, traces, written };
      }
      if (takeover === "late") await expiry(casting, namespace);
    }
    throw new Error("the last one lives");
  } finally {
    turns.give();
  }
};

/** Until everything is over, and nobody has anything more to do, or until it dies. Whatever comes of it, the life is over then. */
const livedThrough = async (
  casting: Casting,
  place: Stage,
  scenario: Scenario,
  made: readonly KubeObject[],
  { died, end }: Life,
  afterwards: NonNullable<Scenario["afterwards"]>[number][],
): Promise<readonly Ended[] | "died"> => {
  try {
    for (;;) {
      const ends = await over(casting, scenario, place.namespace, made, died);
      const next = ends === "died" ? undefined : afterwards.shift();
      if (next === undefined) return ends;
      await next(place);
    }
  } finally {
    await end();
  }
};
