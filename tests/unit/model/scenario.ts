import { type ResolvedChange, emptyStatus, Transaction } from "@janus/api";
import type { KubeObject, Settings } from "@janus/controller";
import { noObservations } from "@janus/controller";
import { keyOf, managed, type World } from "./api-server.ts";
import { type Budget, type State, TIMEOUT } from "./state.ts";

export const SETTINGS: Settings = {
  controllerNamespace: "janus-system",
  writeTimeout: 10_000,
  margin: 2000,
  recoveryDelay: 60_000,
};
export const OWN = "Transaction shop/txn";
/** Seconds since the epoch matter to nobody. */
const START = Date.parse("2026-01-01T00:00:00Z");

export const WIDGETS = {
  group: "example.com",
  version: "v1",
  plural: "widgets",
  kind: "Widget",
  namespaced: true,
  statusSubresource: true,
} as const;

export type Type = ResolvedChange["type"];
export const TYPES: readonly Type[] = ["Create", "Update", "Patch", "Replace", "Delete"];

export const nameOf = (index: number): string => `abc`.charAt(index);

export const targetKey = (index: number): string =>
  keyOf({ resource: WIDGETS, namespace: "shop", name: nameOf(index) });

const CONTENT = {
  Create: { data: { ours: "new", other: "new" } },
  Update: { data: { ours: "new" } },
  Patch: { data: { ours: "new" } },
  Replace: { data: { ours: "new" } },
};

export const changeOf = (type: Type, index: number): ResolvedChange => {
  const target = { apiVersion: "example.com/v1", kind: "Widget", name: nameOf(index) };
  return type === "Delete" ? { type, target } : { type, target, content: CONTENT[type] };
};

const there = (index: number, finalizers: readonly string[]): KubeObject => {
  const object: KubeObject = {
    apiVersion: "example.com/v1",
    kind: "Widget",
    metadata: {
      name: nameOf(index),
      namespace: "shop",
      uid: `setup's ${targetKey(index)}`,
      resourceVersion: "0",
      ...(finalizers.length === 0 ? {} : { finalizers }),
    },
    data: { ours: "old", other: "old" },
  };
  return managed(object, "setup");
};

/** Anything may go wrong, but nothing twice. */
export const ONCE: Budget = {
  all: 7,
  crash: 1,
  lost: 1,
  late: 1,
  refused: 1,
  wrong: 0,
  others: 1,
  leases: 1,
  wishes: 1,
};

/** Nothing goes wrong. */
export const NEVER: Budget = {
  all: 0,
  crash: 0,
  lost: 0,
  late: 0,
  refused: 0,
  wrong: 0,
  others: 0,
  leases: 0,
  wishes: 0,
};

export interface Particulars {
  readonly deletionPolicy?: "Release" | "Rollback";
  /** On every target. */
  readonly finalizers?: readonly string[];
  /** Of all changes. */
  readonly waitFor?: readonly string[];
  readonly waitAt?: "End";
  readonly rollbackWaitFor?: readonly string[];
  /** In ms. */
  readonly rollbackWindow?: number;
}

/** A Transaction of such changes, about to be taken up for the first time. */
export const begin = (
  types: readonly Type[],
  left: Budget,
  { deletionPolicy = "Release", finalizers = [], ...others }: Particulars = {},
): State => {
  const transaction = {
    metadata: { name: "txn", namespace: "shop", uid: "u-txn", resourceVersion: "1", generation: 1 },
    spec: {
      serviceAccountName: "deploy",
      lockTimeout: 30_000,
      timeout: TIMEOUT,
      lifecycle: "Published" as const,
      deletionPolicy,
      ...others,
      changes: types.map(changeOf),
    },
    status: emptyStatus,
  };
  const own = Transaction.encode(transaction) as KubeObject;
  const account: KubeObject = {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { name: "deploy", namespace: "shop", uid: "u-sa", resourceVersion: "1" },
  };
  const namespace: KubeObject = {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: "shop", uid: "u-shop", resourceVersion: "1" },
  };
  const targets = new Map(
    types.flatMap((type, index) => (type === "Create" ? [] : [[targetKey(index), there(index, finalizers)] as const])),
  );
  const world: World = {
    objects: new Map([[OWN, own], ["ServiceAccount shop/deploy", account], ["Namespace /shop", namespace], ...targets]),
    writes: new Map([[OWN, 1], ...[...targets.keys()].map((key) => [key, 1] as const)]),
  };
  return {
    world,
    without: targets,
    touched: new Set(),
    deleted: new Set(),
    now: START,
    own,
    known: noObservations(START),
    term: 1,
    flights: [],
    left,
    pauses: 0,
    stray: new Set(),
  };
};
