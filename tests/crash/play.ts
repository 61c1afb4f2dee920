import type { Api, Client, Connection, Discovery, Hook, KubeObject, Resource } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { interference } from "./deed.ts";
import { connectAll, type Life, live } from "./life.ts";
import { type Asked, type Fate, meets, type Mishap } from "./mortal.ts";
import { type Ended, over, sleep } from "./over.ts";
import type { Scenario } from "./scenario.ts";
import { type Sightings, sightings } from "./sightings.ts";
import { type Stage, stage } from "./stage.ts";
import { type Turns, turns } from "./turns.ts";
import { KINDS, look, type World } from "./world.ts";

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
  readonly theirs: Client;
  readonly seen: Sightings;
  /** Of plays in which a controller is at work. */
  readonly turns: Turns;
  /** What is looked at before and after. */
  readonly kinds: readonly Resource[];
  /** See `over.ts`. */
  readonly patience?: number;
}

/** More plays than that would only make each other's requests time out. */
const AT_WORK = 12;

export const cast = (
  connection: Connection,
  api: Api,
  find: Discovery,
  kinds: readonly Resource[] = KINDS,
): Casting => ({
  api,
  find,
  theirs: connectAll(connection),
  seen: sightings(api),
  turns: turns(AT_WORK),
  kinds,
});

/** When the next controller begins: at once, or when the locks of the dead one have expired. */
export type Takeover = "at once" | "late";

/** Until every lock has expired that a dead controller has left behind; at least a second, which is their lockTimeout. */
const expiry = async ({ api, turns, kinds }: Casting, namespace: string): Promise<void> => {
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

/** What befalls the lives of a play, one after the other. */
export interface Direction {
  readonly fate: (life: number) => Fate;
  /** When one has died, until the next one begins. */
  readonly between: () => Promise<void>;
  /** Of every life. */
  readonly hooks: readonly Hook[];
}

/** Plays a scenario in a namespace of its own, with one controller after the other, until one lives to the end. */
export const perform = async (
  casting: Casting,
  scenario: Scenario,
  direct: (place: Stage, transactions: readonly KubeObject[]) => Promise<Direction>,
): Promise<Play> => {
  const { api, theirs, turns, kinds } = casting;
  await turns.take();
  try {
    const place = await set(casting, scenario);
    const { namespace, done } = place;
    const before = new Map(
      [...done].flatMap(([key, object]) => (object === undefined ? [] : [[key, object] as const])),
    );
    const made = await submit(place, scenario);
    const { fate, between, hooks } = await direct(place, made);
    const traces: (readonly Asked[])[] = [];
    const written: string[] = [];
    const all = [interference(scenario.deeds ?? [], place), ...hooks, recordingWrites(written)];
    const afterwards = [...(scenario.afterwards ?? [])];
    for (;;) {
      const life = live(theirs, namespace, fate(traces.length), all);
      traces.push(life.trace);
      const ends = await livedThrough(casting, place, scenario, made, life, afterwards);
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
 * Plays a scenario in which each controller has its mishap, in turn; when it dies, another one takes over, at once or when the
 * locks have expired; the last one lives.
 */
export const play = (
  casting: Casting,
  scenario: Scenario,
  mishaps: readonly Mishap[],
  takeover: Takeover = "at once",
  hooks: readonly Hook[] = [],
): Promise<Play> =>
  perform(casting, scenario, async ({ namespace }) => ({
    fate: (life) => meets(mishaps[life]),
    between: async () => {
      if (takeover === "late") await expiry(casting, namespace);
    },
    hooks,
  }));

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
      const ends = await over(casting, scenario.gone === true, place.namespace, made, died);
      const next = ends === "died" ? undefined : afterwards.shift();
      if (next === undefined) return ends;
      await next(place);
    }
  } finally {
    await end();
  }
};
