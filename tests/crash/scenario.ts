// A scenario: the objects that there are, the Transactions, and what people do meanwhile. With those of one Transaction.
import type { JsonObject, Phase } from "@janus/api";
import { onPhase, type UserAction } from "./user-action.ts";
import {
  application,
  bareCreation,
  bystander,
  configMap,
  creation,
  deletion,
  patch,
  replacement,
  REFUSED,
  refusedCreation,
  secret,
  service,
  spec,
  update,
} from "./objects.ts";
import type { ScenarioRun } from "./run-scenario.ts";
import type { Ref, Users } from "./users.ts";

export interface Scenario {
  readonly name: string;
  /** The last phase of the Transaction, if no controller dies. */
  readonly outcome: Phase;
  /** What else it may come to when time is lost, or what people do comes at another moment. */
  readonly orElse?: readonly Phase[];
  /** Objects that are there before, without namespace; see `users.ts`. */
  readonly before: readonly (JsonObject & Ref)[];
  readonly spec: JsonObject;
  /** Further Transactions at the same time. They commit. */
  readonly rivals?: readonly JsonObject[];
  /** What people do meanwhile. */
  readonly userActions?: readonly UserAction[];
  /** What people do when it is over, one after the other, each when it is over again. */
  readonly afterwards?: readonly ((users: Users) => Promise<unknown>)[];
  /** The Transaction goes away. */
  readonly gone?: true;
  /** What must have become of the targets, where it is not simply what the items say. */
  readonly check?: (run: ScenarioRun) => readonly string[];
}

interface Change {
  readonly type: string;
  readonly waitFor?: readonly string[];
  readonly target: { readonly kind: string; readonly name: string };
}

const isRefused = (object: unknown): boolean => JSON.stringify(object).includes(Object.keys(REFUSED)[0] ?? "");

/** The scenario with nothing in its way: without what is refused, held up, locked or done by people. It commits. */
export const asPlanned = ({ name, before, spec }: Scenario): Scenario => {
  const isFree = (change: Change): boolean => {
    const there = before.find(
      ({ kind, metadata }) => kind === change.target.kind && metadata.name === change.target.name,
    );
    return !isRefused(change) && !isRefused(there ?? {}) && (change.type !== "Create" || there === undefined);
  };
  const {
    timeout: _,
    deletionPolicy: __,
    ttlSecondsAfterFinished: ___,
    waitFor: ____,
    rollbackWindow: _____,
    ...rest
  } = spec;
  const changes = (spec["changes"] as unknown as readonly Change[])
    .filter(isFree)
    .map((change) => ({ ...change, waitFor: [] }));
  return {
    name,
    outcome: "Committed",
    before: before
      .filter(({ kind }) => kind !== "Lease")
      .map((object) => {
        const { finalizers: _, ...metadata } = object.metadata as JsonObject & Ref["metadata"];
        return { ...object, metadata };
      }),
    // Nobody is there to publish a Draft.
    spec: { ...rest, changes, lifecycle: "Published" },
  };
};

/** One change of each type. The `n`-th is refused when it is really made. */
const changes = (refused?: number): readonly JsonObject[] => {
  const labelled = (n: number): JsonObject => (refused === n ? { labels: REFUSED } : {});
  return [
    patch(configMap("patched"), { data: { version: "2.0" }, metadata: labelled(0) }),
    update({
      ...service("updated", labelled(1)),
      spec: {
        selector: { app: "new" },
        ports: [
          { name: "http", port: 81 },
          { name: "more", port: 82 },
        ],
      },
    }),
    creation(configMap("created", { made: "yes" }, labelled(2))),
    deletion(secret("deleted")),
    bareCreation("bare", labelled(4)),
  ];
};

const before = (refused?: number): Scenario["before"] => [
  configMap("patched", { version: "1.0", kept: "yes" }),
  service("updated"),
  secret("deleted", refused === 3 ? { labels: REFUSED } : {}),
  bystander,
];

const parent = configMap("parent", { is: "owner" });
const owned = { apiVersion: "v1", kind: "ConfigMap", name: "parent", uid: "uid of ConfigMap/parent" };
const child = configMap("child", { of: "parent" }, { ownerReferences: [owned] });
const family = [bystander, parent, child];

/** One of an object that is there, and one of an object that is not. */
const applications = [
  application(configMap("there", { version: "2.0" })),
  application(configMap("new", { version: "2.0" })),
];
const there = [configMap("there", { version: "1.0", kept: "yes" }), bystander];

/** Its volume is not one that was provisioned for it, and the ServiceAccount may not read volumes. */
const claim: JsonObject & Ref = {
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name: "claim" },
  spec: { volumeName: "there", accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
};

/** Immutable: only another one may have other data. */
const sealed: JsonObject & Ref = { ...configMap("sealed", { version: "1.0" }), immutable: true };

/** An object that so many Transactions have patched that their field managers are put together before the next one. */
const crowded = configMap(
  "crowded",
  { version: "1.0", kept: "yes" },
  {
    managedFields: Array.from({ length: 25 }, (_, n) => ({
      manager: `janus-v${n}-00000000-0000-4000-8000-0000000000${String(n).padStart(2, "0")}`,
      operation: "Apply",
      apiVersion: "v1",
      time: `2026-01-01T00:00:${String(n).padStart(2, "0")}Z`,
      fieldsType: "FieldsV1",
      // Not of data: who creates an object takes over what it sets.
      fieldsV1: { "f:metadata": { "f:annotations": { [`f:former-${n}`]: {} } } },
    })),
  },
);
/** An object that an earlier Apply has created. */
const applied = configMap(
  "applied",
  { version: "1.0", old: "yes" },
  {
    labels: { old: "yes" },
    managedFields: [
      {
        manager: "janus-apply:v0-00000000-0000-4000-8000-000000000000",
        operation: "Update",
        apiVersion: "v1",
        fieldsType: "FieldsV1",
        fieldsV1: { "f:metadata": { "f:annotations": { "f:backup.janus.io/created-by": {} } } },
      },
    ],
  },
);
const leavingOut = [
  application(configMap("applied", { version: "2.0" })),
  patch(configMap("there"), { data: { version: null, added: "yes" } }),
];

/** Success, and failure at each position. */
export const scenarios: readonly Scenario[] = [
  {
    name: "field managers are folded before a Patch",
    outcome: "Committed",
    before: [crowded, bystander],
    spec: spec([patch(crowded, { data: { version: "2.0" } })]),
  },
  { name: "an Apply of each kind commits", outcome: "Committed", before: there, spec: spec(applications) },
  {
    name: "an Apply of each kind is rolled back",
    outcome: "RolledBack",
    before: there,
    spec: spec([...applications, refusedCreation]),
  },
  {
    name: "what cannot be edited is replaced, and commits",
    outcome: "Committed",
    before: [sealed, bystander],
    spec: spec([replacement(configMap("sealed", { version: "2.0" }))]),
  },
  {
    name: "what was replaced is put back",
    outcome: "RolledBack",
    before: [sealed, bystander],
    spec: spec([replacement(configMap("sealed", { version: "2.0" })), refusedCreation]),
  },
  {
    name: "what is to replace it is refused when it is made, and what was there is put back",
    outcome: "RolledBack",
    before: [sealed, bystander],
    spec: spec([
      application(configMap("new", { version: "2.0" })),
      replacement(configMap("sealed", { version: "2.0" }, { labels: REFUSED })),
    ]),
  },
  {
    name: "a Replace of what is absent is a Create",
    outcome: "RolledBack",
    before: [bystander],
    spec: spec([replacement(configMap("fresh", { version: "1.0" })), refusedCreation]),
  },
  {
    name: "an Apply removes what an earlier one has set, and a Patch what is null",
    outcome: "Committed",
    before: [applied, ...there],
    spec: spec(leavingOut),
  },
  {
    name: "what an Apply and a Patch remove comes back",
    outcome: "RolledBack",
    before: [applied, ...there],
    spec: spec([...leavingOut, refusedCreation]),
  },
  {
    name: "an owner and what it owns are deleted, and both come back",
    outcome: "RolledBack",
    before: family,
    spec: spec([deletion(parent), deletion(child), refusedCreation]),
  },
  {
    name: "what is owned is deleted, then its owner, and both come back",
    outcome: "RolledBack",
    before: family,
    spec: spec([deletion(child), deletion(parent), refusedCreation]),
  },
  {
    name: "what is owned is deleted, its owner is replaced, and both come back",
    outcome: "RolledBack",
    before: family,
    spec: spec([deletion(child), replacement(configMap("parent", { is: "another" })), refusedCreation]),
  },
  {
    name: "what is owned is deleted, and comes back to its owner",
    outcome: "RolledBack",
    before: family,
    spec: spec([deletion(child), refusedCreation]),
  },
  {
    name: "what is owned is deleted, and comes back without its owner, which somebody has deleted",
    outcome: "RolledBack",
    before: family,
    spec: spec([deletion(child), refusedCreation]),
    userActions: [onPhase("RollingBack", ({ remove }) => remove(parent))],
  },
  {
    name: "what gets an owner loses it again",
    outcome: "RolledBack",
    before: family,
    spec: spec([patch(bystander, { metadata: { ownerReferences: [owned] } }), refusedCreation]),
  },
  {
    name: "a Service that was created goes, and a claim with a volume stays",
    outcome: "Failed",
    before: [bystander],
    spec: spec([creation(service("made")), creation(claim), refusedCreation]),
  },
  { name: "all four types commit", outcome: "Committed", before: before(), spec: spec(changes()) },
  ...[0, 1, 2, 3, 4].map(
    (refused): Scenario => ({
      name: `change ${refused} of 5 is refused when it is made`,
      outcome: "RolledBack",
      before: before(refused),
      spec: spec(changes(refused)),
    }),
  ),
];
