// Replays a schedule of the model on the real API server, line by line.
import { decodeTransaction, type JsonObject, lockLease, REQUEST_ROLLBACK } from "@janus/api";
import type { KubeObject } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { changeOf, nameOf } from "../unit/model/scenario.ts";
import type { Story } from "../unit/model/stories.ts";
import { bystander, lock, spec, transaction } from "./objects.ts";
import { type Environment, runWith, type ScenarioRun } from "./run-scenario.ts";
import type { Scenario } from "./scenario.ts";
import { newReplayer, type Replayer } from "./replayer.ts";
import type { Ref, Users } from "./users.ts";
import { sleep } from "./over.ts";

type Data = Readonly<Record<string, string>>;

const widget = (name: string, data: Data): JsonObject & Ref => ({
  apiVersion: "example.com/v1",
  kind: "Widget",
  metadata: { name },
  data,
});
const OLD: Data = { ours: "old", other: "old" };
const THEIRS: Data = { ours: "theirs", other: "theirs" };

/** In seconds. Longer than what has to be done before somebody dies for a long time. */
const TIMEOUT = 15;

const scenarioOf = (name: string, { types, schedule, phase }: Story): Scenario => {
  const isLong = schedule.some((line) => line.includes("long after"));
  const before = types.flatMap((type, index) => (type === "Create" ? [] : [widget(nameOf(index), OLD)]));
  return {
    name,
    outcome: phase as Scenario["outcome"],
    before: [bystander, ...before],
    spec: spec(types.map(changeOf) as never, isLong ? { timeout: `${TIMEOUT}s` } : {}),
  };
};

const leaseOf = (index: number, namespace: string): string =>
  lockLease({ group: "example.com", kind: "Widget", namespace, name: nameOf(index) });

/** The names that the model has for what is on the real API server. */
const namesOf = (
  { types }: Story,
  namespace: string,
  uid: string,
): readonly (readonly [is: string, inModel: string])[] => [
  ...types.map((_, index) => [leaseOf(index, namespace), leaseOf(index, "shop")] as const),
  [namespace, "shop"],
  [uid, "u-txn"],
];

interface People {
  readonly act: (action: string, key: string) => Promise<void>;
  /** What would be there had only they acted; `undefined`: nothing. */
  readonly without: ReadonlyMap<string, Data | undefined>;
  /** Objects that they have touched. */
  readonly touched: ReadonlySet<string>;
}

/** Who does on the real API server what the model's others do (`tests/unit/model/others.ts`). */
const people = (
  { create, patch, apply, remove, read }: Users,
  story: Story,
  named: (inModel: string) => string,
): People => {
  const without = new Map<string, Data | undefined>(
    story.types.flatMap((type, index) => (type === "Create" ? [] : [[nameOf(index), OLD] as const])),
  );
  const touched = new Set<string>();
  const ours = async (name: string): Promise<Data> => (await read(widget(name, {})))["data"] as Data;
  const edit = async (name: string, data: Data): Promise<void> => {
    await patch(widget(name, data));
    without.set(name, { ...without.get(name), ...data });
  };
  const toWidget: Readonly<Record<string, (name: string) => Promise<unknown>>> = {
    "edits another field of": (name) => edit(name, { other: "theirs" }),
    "edits our field of": (name) => edit(name, { ours: "theirs" }),
    "applies the value that our field has in": async (name) => {
      const { ours: value = "" } = await ours(name);
      await apply(widget(name, { ours: value }));
      without.set(name, { ...without.get(name), ours: value });
    },
    "writes the status of": (name) => patch({ ...widget(name, {}), status: { seen: true } } as Ref, "status"),
    "takes the finalizers off": (name) => patch({ ...widget(name, {}), metadata: { name, finalizers: [] } } as Ref),
    deletes: async (name) => {
      await remove(widget(name, {}));
      without.delete(name);
    },
    "deletes and creates again": async (name) => {
      await remove(widget(name, {}));
      await create(widget(name, THEIRS));
      without.set(name, THEIRS);
    },
    creates: async (name) => {
      await create(widget(name, THEIRS));
      without.set(name, THEIRS);
    },
  };
  const toLease: typeof toWidget = {
    deletes: (name) => remove({ ...lock("", 0), metadata: { name } }),
    takes: (name) => patch({ ...lock("", 15), metadata: { name } }),
  };
  const toTransaction: typeof toWidget = {
    deletes: () => remove(transaction),
    "asks for a rollback of": () =>
      patch({ ...transaction, metadata: { name: "txn", annotations: { [REQUEST_ROLLBACK]: "" } } } as Ref),
  };
  return {
    without,
    touched,
    act: async (action, key) => {
      const [kind = "", path = ""] = key.split(" ");
      const name = named(path.slice(path.indexOf("/") + 1));
      const does = { Widget: toWidget, Lease: toLease, Transaction: toTransaction }[kind]?.[action];
      if (does === undefined) throw new Error(`nobody knows how to do this: ${action} ${key}`);
      await does(name);
      if (kind === "Widget") touched.add(name);
    },
  };
};

/** States of a change whose target must be as if we had never been there. */
const CLEAN: readonly string[] = ["untouched", "refused", "prepared", "rejected", "restored"];

const dataOf = (object: KubeObject | undefined): string => JSON.stringify(object?.["data"] ?? {}, ["ours", "other"]);

/** What is wrong with the data of the targets, as in `tests/unit/model/invariants.ts`. */
const wrongData = (
  { types }: Story,
  { after, transactions }: ScenarioRun,
  { without, touched }: People,
): readonly string[] => {
  const decoded = decodeTransaction(transactions.get("txn")?.object);
  if (E.isLeft(decoded)) return [decoded.left];
  return types.flatMap((type, index): readonly string[] => {
    const name = nameOf(index);
    const { type: at } = decoded.right.status.items[index]?.state ?? { type: "untouched" };
    const change = changeOf(type, index);
    const content = change.type === "Delete" ? {} : (change.content["data"] as Data);
    const committed = { ...(type === "Patch" ? without.get(name) : {}), ...content };
    const isClean = CLEAN.includes(at);
    if (!isClean && (at !== "committed" || touched.has(name))) return [];
    const [is, should] = [
      dataOf(after.get(`Widget/${name}`)),
      dataOf({ data: isClean ? without.get(name) : committed } as never),
    ];
    return is === should ? [] : [`${at}, but Widget ${name} is ${is} and not ${should}`];
  });
};

export interface Replay {
  readonly run: ScenarioRun;
  /** What of the schedule has not come to pass. */
  readonly left: readonly unknown[];
  readonly wrong: readonly string[];
}

/** Replays a schedule of the model on the real API server. */
export const replay = async (environment: Environment, name: string, story: Story): Promise<Replay> => {
  const setting = Promise.withResolvers<{ readonly acting: People; readonly replayer: Replayer }>();
  const run = await runWith(environment, scenarioOf(name, story), async (place, [txn]) => {
    const names = namesOf(story, place.namespace, txn?.metadata.uid ?? "");
    const inModelNames = (text: string) => names.reduce((inModel, [is, as]) => inModel.replaceAll(is, as), text);
    const acting = people(place, story, (inModel) => names.find(([, as]) => as === inModel)?.[0] ?? inModel);
    const replayer = newReplayer(story.schedule, environment.theirs.send, inModelNames, acting.act);
    setting.resolve({ acting, replayer });
    await replayer.begin();
    return {
      faultOf: () => replayer.faultOf,
      between: async () => {
        if (replayer.isLongAgo()) await sleep(TIMEOUT * 1000);
      },
      hooks: [replayer.hook],
    };
  });
  const { acting, replayer } = await setting.promise;
  return { run, left: replayer.left(), wrong: wrongData(story, run, acting) };
};
