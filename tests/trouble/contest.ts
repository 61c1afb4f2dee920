// Contests of two controllers over the same targets, at random.
import { transactions } from "@janus/api";
import { controller } from "@janus/controller";
import { jsonLog } from "@janus/runtime/parts";
import { type Api, type Client, connect, type Connection, type Hook, type KubeObject } from "@janus/kube";
import * as fc from "fast-check";
import { setTimeout } from "node:timers/promises";
import { crashingProcess } from "../crash/crashing-process.ts";
import { bareCreation, configMap, REFUSED, spec } from "../crash/objects.ts";
import type { Environment } from "../crash/run-scenario.ts";
import { type Users as Place, newUsers } from "../crash/users.ts";
import { KINDS } from "../crash/world.ts";
import { watchHistory } from "./history.ts";
import { type Entry, isTerminal, judge, nameOf, phaseOf, TARGETS } from "./judge.ts";

/** One process after the other. In ms: when it dies, and how long after that the next one begins. */
interface Life {
  readonly lasts: number;
  readonly pause: number;
}

export interface Contest {
  readonly entries: readonly Entry[];
  readonly lives: readonly [readonly Life[], readonly Life[]];
  /** What each request of a controller is held up for in turn, in ms. */
  readonly delays: readonly number[];
}

const entry: fc.Arbitrary<Entry> = fc.record({
  controller: fc.constantFrom(0, 1),
  targets: fc.shuffledSubarray(TARGETS, { minLength: 1, maxLength: 4 }),
  wholly: fc.boolean(),
  isRefused: fc.boolean(),
  after: fc.nat(2000),
});
const lives = fc.array(fc.record({ lasts: fc.integer({ min: 200, max: 3000 }), pause: fc.nat(1000) }), {
  maxLength: 3,
});

export const contest: fc.Arbitrary<Contest> = fc.record({
  entries: fc.array(entry, { minLength: 4, maxLength: 7 }),
  lives: fc.tuple(lives, lives),
  delays: fc.array(fc.oneof(fc.constant(0), fc.nat(60)), { minLength: 20, maxLength: 40 }),
});

/** Longer than all of them take one after the other, in ms; a machine on which each request takes seconds included. */
export const PATIENCE = 900_000;

/** For all lives: the times of the product. With shorter ones nothing gets on where hundreds of requests wait for each other. */
export const connectAll = (connection: Connection): Client => connect(connection, { connections: 512 });

const held = (delays: readonly number[]): Hook => {
  let count = 0;
  return async (request, next) => {
    count += 1;
    const ms = delays[count % delays.length] ?? 0;
    if (ms > 0) await setTimeout(ms);
    return next(request);
  };
};

/** Processes that die and are replaced, the last one excepted. */
const inhabit = (client: Api, namespace: string, lives: readonly Life[], delay: Hook): (() => Promise<void>) => {
  const over = new AbortController();
  const run = async (): Promise<void> => {
    for (const life of [...lives, undefined]) {
      if (over.signal.aborted) return;
      const { hook, discard } = crashingProcess();
      const janus = controller(
        { ...client, send: (request) => hook(request, (mine) => delay(mine, client.send)) },
        {
          settings: { controllerNamespace: "janus-system", writeTimeout: 5000, margin: 1000, recoveryDelay: 3_600_000 },
          concurrency: 4,
          identity: "test",
          log: jsonLog("error"),
          watchNamespaces: [namespace],
        },
      );
      const signal = { signal: over.signal };
      await setTimeout(life?.lasts ?? PATIENCE * 2, undefined, signal).catch(() => {});
      discard();
      await janus.stop();
      await setTimeout(life?.pause ?? 0, undefined, signal).catch(() => {});
    }
  };
  const running = run();
  return async () => {
    over.abort();
    await running;
  };
};

const submit = async (place: Place, targets: string, index: number, entry: Entry): Promise<KubeObject> => {
  const name = nameOf(index);
  const changes = entry.targets.map((target) => ({
    type: entry.wholly ? "Update" : "Patch",
    target: { apiVersion: "v1", kind: "ConfigMap", name: target, namespace: targets },
    content: { data: { by: name } },
  }));
  await setTimeout(entry.after);
  return place.create({
    apiVersion: "backup.janus.io/v1alpha1",
    kind: "Transaction",
    metadata: { name },
    spec: spec(entry.isRefused ? [...changes, bareCreation(name, { labels: REFUSED })] : changes),
  });
};

const kind = (name: string) => KINDS.find((one) => one.kind === name) ?? transactions;

/** Lets the two contend, and tells what was wrong. */
export const hold = async (
  { api, find, theirs }: Pick<Environment, "api" | "find" | "theirs">,
  { entries, lives, delays }: Contest,
): Promise<readonly string[]> => {
  const places = await Promise.all([newUsers(api, find), newUsers(api, find)]);
  const [{ namespace }, other] = places;
  await places[0].create({
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "RoleBinding",
    metadata: { name: "other" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "admin" },
    subjects: [{ kind: "ServiceAccount", name: "deploy", namespace: other.namespace }],
  });
  for (const name of TARGETS) await places[0].create(configMap(name, { by: "nobody" }));
  const history = await watchHistory(api, [
    { resource: kind("ConfigMap"), namespace },
    { resource: kind("Lease"), namespace },
    ...places.map((place) => ({ resource: transactions, namespace: place.namespace })),
  ]);
  const ends = places.map((place, index) => inhabit(theirs, place.namespace, lives[index] ?? [], held(delays)));
  try {
    const made = await Promise.all(
      entries.map((entry, index) => submit(places[entry.controller], namespace, index, entry)),
    );
    const until = performance.now() + PATIENCE;
    const last = (name: string) =>
      history.versions().findLast(({ object }) => object.kind === "Transaction" && object.metadata.name === name);
    const isOver = (index: number): boolean => {
      const object = last(nameOf(index))?.object;
      return object !== undefined && isTerminal(phaseOf(object)) && (object.metadata.finalizers ?? []).length === 0;
    };
    while (!entries.every((_, index) => isOver(index))) {
      if (performance.now() > until)
        return entries.flatMap((_, index) =>
          isOver(index)
            ? []
            : [`${nameOf(index)} has not ended: ${JSON.stringify(last(nameOf(index))?.object["status"])}`],
        );
      await setTimeout(100);
    }
    return judge(history.versions(), entries, made, namespace);
  } finally {
    await Promise.all(ends.map((end) => end()));
    history.end();
  }
};
