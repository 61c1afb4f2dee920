import { holderIdentity, lockLease, type Phase } from "@janus/api";
import { controller, jsonLog } from "@janus/controller";
import type { Api, Hook, KubeObject } from "@janus/kube";
import * as fc from "fast-check";
import { setTimeout } from "node:timers/promises";
import { mortal } from "../crash/mortal.ts";
import { bareCreation, configMap, REFUSED, spec } from "../crash/objects.ts";
import type { Casting } from "../crash/play.ts";
import { type Stage as Place, stage } from "../crash/stage.ts";
import { KINDS, transactions } from "../crash/world.ts";
import { type Version, watchHistory } from "./history.ts";

/** What Transactions contend for. */
export const TARGETS = ["a", "b", "c", "d", "e"];

/** A Transaction. */
interface Entry {
  /** Which of the two controllers works on it. */
  readonly controller: 0 | 1;
  /** In the order of its changes. */
  readonly targets: readonly string[];
  /** Each change is a Patch, or the whole object. */
  readonly wholly: boolean;
  /** Its last change is refused, and it is rolled back. */
  readonly isRefused: boolean;
  /** When it is created, in ms. */
  readonly after: number;
}

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

/** Longer than all of them take one after the other, in ms; a busy machine included. */
const PATIENCE = 120_000;

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
      const { hook, bury } = mortal();
      const janus = controller(
        { ...client, send: (request) => hook(request, (mine) => delay(mine, client.send)) },
        {
          settings: { controllerNamespace: "janus-system", writeTimeout: 1500, margin: 100, recoveryDelay: 3_600_000 },
          concurrency: 4,
          identity: "test",
          log: jsonLog("error"),
          watchNamespace: namespace,
        },
      );
      const signal = { signal: over.signal };
      await setTimeout(life?.lasts ?? PATIENCE * 2, undefined, signal).catch(() => {});
      bury();
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

const phaseOf = ({ status }: KubeObject): Phase | undefined =>
  (status as { readonly phase?: Phase } | undefined)?.phase;
const isTerminal = (phase: Phase | undefined): boolean =>
  phase === "Committed" || phase === "RolledBack" || phase === "Failed";

const nameOf = (index: number): string => `t${index}`;

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
  { api, find, theirs }: Casting,
  { entries, lives, delays }: Contest,
): Promise<readonly string[]> => {
  const places = await Promise.all([stage(api, find), stage(api, find)]);
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

/** A write to a target's data. */
interface Mutation {
  readonly at: number;
  readonly target: string;
  readonly by: string;
}

const byOf = ({ data }: KubeObject): string => (data as { readonly by?: string } | undefined)?.by ?? "";

/** A Transaction writes its name once, on its way forward; who takes its name away again is itself, on its way back. */
const mutations = (versions: readonly Version[]): readonly Mutation[] =>
  TARGETS.flatMap((target) => {
    const seen = new Set(["nobody"]);
    let former = "nobody";
    return versions
      .filter(({ object }) => object.kind === "ConfigMap" && object.metadata.name === target)
      .flatMap(({ at, object }): readonly Mutation[] => {
        const now = byOf(object);
        const before = former;
        former = now;
        if (now === before) return [];
        const by = seen.has(now) ? before : now;
        seen.add(now);
        return [{ at, target, by }];
      });
  });

/** What is wrong with what has happened. */
const judge = (
  versions: readonly Version[],
  entries: readonly Entry[],
  made: readonly KubeObject[],
  namespace: string,
): readonly string[] => {
  const written = mutations(versions);
  const phases = (index: number, is: (phase: Phase | undefined) => boolean): number =>
    versions.find(({ object }) => object.metadata.uid === made[index]?.metadata.uid && is(phaseOf(object)))?.at ?? 0;
  const spans = entries.map((_, index) => ({
    from: phases(index, (phase) => phase === "Prepared") || Number.POSITIVE_INFINITY,
    to: phases(index, isTerminal),
  }));
  const holderAt = (target: string, at: number): string => {
    const name = lockLease({ group: "", kind: "ConfigMap", namespace, name: target });
    const lease = versions.findLast(
      (one) => one.at < at && one.object.kind === "Lease" && one.object.metadata.name === name,
    );
    return lease === undefined || lease.isGone
      ? "nobody"
      : ((lease.object["spec"] as { readonly holderIdentity?: string }).holderIdentity ?? "nobody");
  };
  const ended = entries.flatMap(({ isRefused }, index) => {
    const phase = phaseOf(
      versions.findLast(({ object }) => object.metadata.uid === made[index]?.metadata.uid)?.object ??
        ({} as KubeObject),
    );
    const wanted = isRefused ? "RolledBack" : "Committed";
    return phase === wanted ? [] : [`${nameOf(index)} ended as ${phase}, not ${wanted}`];
  });
  const unlocked = written.flatMap(({ at, target, by }) => {
    const identity = made.find(({ metadata }) => metadata.name === by)?.metadata;
    const holder = holderAt(target, at);
    return identity !== undefined && holder === holderIdentity(identity as never)
      ? []
      : [`${by} wrote ${target} at ${at}, when ${holder} held its lock`];
  });
  const within = entries.flatMap(({ targets }, index) =>
    written
      .filter(({ target, by }) => by !== nameOf(index) && targets.includes(target))
      .filter(({ at }) => (spans[index]?.from ?? 0) <= at && at <= (spans[index]?.to ?? 0))
      .map(({ at, target, by }) => `${by} wrote ${target} at ${at}, in the middle of ${nameOf(index)}`),
  );
  const committed = (by: string): boolean => entries[Number(by.slice(1))]?.isRefused === false;
  const left = TARGETS.flatMap((target) => {
    const wanted = written.findLast((one) => one.target === target && committed(one.by))?.by ?? "nobody";
    const is = versions.findLast(({ object }) => object.kind === "ConfigMap" && object.metadata.name === target);
    return is === undefined || byOf(is.object) === wanted
      ? []
      : [`${target} is by ${byOf(is.object)}, not by ${wanted}`];
  });
  const locks = [
    ...new Map(
      versions.filter(({ object }) => object.kind === "Lease").map((one) => [one.object.metadata.name, one]),
    ).values(),
  ]
    .filter(({ isGone }) => !isGone)
    .map(({ object }) => `${object.metadata.name} is left`);
  return [...ended, ...unlocked, ...within, ...left, ...locks];
};
