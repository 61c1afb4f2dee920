import { type Change, type Item, SNAPSHOT_FINALIZER, type Transaction } from "@janus/api";
import * as fc from "fast-check";
import type { Cleanup, ReleaseTo } from "../../../packages/controller/src/core/state/cleanup.ts";
import type { Journal, Position } from "../../../packages/controller/src/core/state/journal.ts";
import {
  changeIn,
  type ChangeObservations,
  noObservations,
  type Observations,
} from "../../../packages/controller/src/core/state/observations.ts";
import type { LockObservation } from "../../../packages/controller/src/core/state/lock-observation.ts";
import {
  type AbortCause,
  type ForwardObservations,
  type SentWrite,
  sentWrite,
  type Write,
} from "../../../packages/controller/src/core/state/forward-observations.ts";
import type { TargetObservation } from "../../../packages/controller/src/core/state/target-observations.ts";
import type { PreflightObservations } from "../../../packages/controller/src/core/state/preflight-observations.ts";
import type { Settings, ReconcileContext } from "../../../packages/controller/src/core/state/reconcile-context.ts";
import { arbitraryObject } from "./arbitrary-answer.ts";
import { arbitraryTransaction, error, store, word } from "./arbitrary-transaction.ts";
import type { Resource } from "@janus/types";

/** When all of this happens, give or take a minute. */
export const NOW = Date.UTC(2026, 0, 1, 12);
const instant = fc.integer({ min: -60_000, max: 60_000 }).map((off) => NOW + off);

const past = instant.map((at) => Math.min(at, NOW));

export const settings: Settings = {
  controllerNamespace: "janus-system",
  writeTimeout: 5_000,
  margin: 1_000,
  recoveryDelay: 10_000,
};

const CLUSTER_SCOPED: readonly string[] = ["Namespace", "CustomResourceDefinition", "ClusterRole"];

const resourceOf = ({ target: { apiVersion, kind } }: Change): Resource => ({
  group: apiVersion.includes("/") ? (apiVersion.split("/")[0] ?? "") : "",
  version: apiVersion.split("/").at(-1) ?? "",
  plural: `${kind.toLowerCase()}s`,
  kind,
  namespaced: !CLUSTER_SCOPED.includes(kind),
  statusSubresource: kind === "Namespace",
});

const version: fc.Arbitrary<Journal["version"]> = fc.record({ uid: word, resourceVersion: word });

const index = fc.nat({ max: 4 });
const ofFew = <A>(value: fc.Arbitrary<A>): fc.Arbitrary<ReadonlyMap<number, A>> =>
  fc.array(fc.tuple(index, value), { maxLength: 1 }).map((entries) => new Map(entries));
const ofMost = <A>(value: fc.Arbitrary<A>): fc.Arbitrary<ReadonlyMap<number, A>> =>
  fc.oneof(
    { weight: 3, arbitrary: fc.array(value, { minLength: 5, maxLength: 5 }).map((all) => new Map(all.entries())) },
    { weight: 1, arbitrary: ofFew(value) },
  );

const lock: fc.Arbitrary<LockObservation> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({ type: fc.constant("held" as const), version, until: instant.map((at) => at + 70_000) }),
  },
  fc.record({ type: fc.constant("held" as const), version, until: instant }),
  fc.record({ type: fc.constant("held" as const), version, until: instant, stale: fc.constant(true as const) }),
  fc.record({ type: fc.constantFrom("taken" as const, "free" as const) }),
  fc.record(
    {
      type: fc.constant("theirs" as const),
      holder: fc.constantFrom("shop/other/9f1c6f0e-2f6b-4c3e-9d3a-0d8a5b1c7e42", "somebody", ""),
      version,
      readAt: past,
      unchangedSince: past,
      expires: instant,
      holderState: fc.constantFrom(
        "untouched" as const,
        "active" as const,
        "rolling-back" as const,
        "finished" as const,
      ),
    },
    { requiredKeys: ["type", "holder", "version", "readAt", "unchangedSince", "expires"] },
  ),
  fc.record({ type: fc.constantFrom("lost" as const, "impossible" as const), why: fc.constant("no") }),
);

/** Mostly in the direction of the phase. */
const position = ({ spec, status }: Transaction): fc.Arbitrary<Position> => {
  const count = spec.changes.length;
  const forward = fc.nat({ max: count }).map((cursor): Position => ({ direction: "forward", cursor }));
  const back = fc.tuple(fc.nat({ max: count }), fc.nat({ max: count }), past).map(
    ([reached, by, since]): Position => ({
      direction: "back",
      cursor: Math.max(-1, reached - 1 - by),
      reached,
      since,
    }),
  );
  const isBack = status.phase === "RollingBack" || status.phase === "Failed";
  return fc.oneof({ weight: isBack ? 1 : 8, arbitrary: forward }, { weight: isBack ? 8 : 1, arbitrary: back });
};

const note = fc.record({ type: fc.constantFrom("rejected", "unknown", "rollback-failed", "restored"), error });
const before = fc.record({
  existed: fc.constant(true as const),
  uid: word,
  resourceVersion: word,
  snapshot: fc.record({ store: fc.constant("deploy-v2-rollback-1"), key: fc.constant("item-0-1") }),
});

const journal = (txn: Transaction): fc.Arbitrary<Journal> =>
  fc.record({
    version,
    position: position(txn),
    created: ofFew(word),
    replaced: ofFew(fc.oneof(word, fc.constant(""))),
    notes: ofFew(note),
    storeNames: fc.nat({ max: 4 }),
    doubted: ofFew(fc.constant(true as const)),
    deferred: ofFew(fc.record({ error, since: past })),
    renewed: ofFew(fc.record({ before, stores: fc.array(store, { maxLength: 2 }) })),
  }) as fc.Arbitrary<Journal>;

const write: fc.Arbitrary<SentWrite> = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant("made" as const), created: word }, { requiredKeys: ["type"] }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ type: fc.constantFrom("unanswered" as const, "accepted" as const), sent: past }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant("refused" as const),
      sent: past,
      code: fc.constantFrom(403, 404, 409),
      message: error,
    }),
  },
);

const refusal: fc.Arbitrary<AbortCause> = fc.record({
  reason: fc.constantFrom("CommitFailed", "ConflictDetected", "LockRenewalFailed", "Timeout", "Deleted"),
  message: error,
  fate: fc.constantFrom("not-sent", "rejected", "unknown"),
});

const storeData = fc.oneof(
  fc.constant({ type: "broken", why: "altered" }),
  fc
    .constantFrom(
      '{"metadata":{}}',
      "{",
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"uid":"1","resourceVersion":"1"}}',
    )
    .map((text) => ({
      type: "data",
      data: new Map([
        ["item-0-1", text],
        ["item-1-2", text],
      ]),
    })),
);

const storeKey = fc.constantFrom(
  ...["ConfigMap", "Secret"].flatMap((kind) =>
    ["deploy-v2-rollback", "deploy-v2-rollback-1"].map((name) => `${kind}/${name}`),
  ),
);
const entries = <A>(value: fc.Arbitrary<A>): fc.Arbitrary<ReadonlyMap<string, A>> =>
  fc.array(fc.tuple(storeKey, value), { maxLength: 4 }).map((all) => new Map(all));
const setOf = <A>(value: fc.Arbitrary<A>): fc.Arbitrary<ReadonlySet<A>> =>
  fc.uniqueArray(value, { maxLength: 3 }).map((all) => new Set(all));
const releaseTo = fc.constantFrom<ReleaseTo>("owned", "orphaned", "free", "kept");
const cleanup: fc.Arbitrary<Cleanup> = fc.record(
  {
    locks: setOf(index),
    stores: fc
      .array(
        fc.tuple(
          word,
          fc.record({
            released: setOf(releaseTo),
            postponed: setOf(fc.oneof(releaseTo, fc.constant("deleted" as const))),
          }),
        ),
        { maxLength: 2 },
      )
      .map((all) => new Map(all)),
    isJournalReleased: fc.constant(true as const),
    isSwept: fc.constant(true as const),
    reported: fc.constant(new Set<string>()),
  },
  { requiredKeys: ["locks", "stores", "reported"] },
);

const problems = fc.oneof({ weight: 8, arbitrary: fc.constant([]) }, fc.array(error, { maxLength: 1 }));

const target = fc
  .record({ object: fc.option(arbitraryObject, { nil: undefined, freq: 3 }), at: past })
  .map(
    ({ object, at }): TargetObservation =>
      object === undefined ? { type: "absent", at } : { type: "read", object, at },
  );

const VERBS = ["create", "update", "patch", "delete"];
const permissions = fc.oneof(
  { weight: 3, arbitrary: fc.constant(new Map(VERBS.map((verb) => [verb, "allowed" as const]))) },
  { weight: 1, arbitrary: fc.constant(new Map([["update", "denied" as const]])) },
);

const preflight = fc.record(
  { trial: fc.record({ of: fc.constantFrom(undefined, "1", "2"), problems }), permissions },
  { requiredKeys: [] },
) as fc.Arbitrary<PreflightObservations>;

const forward: fc.Arbitrary<ForwardObservations> = fc.oneof(
  { weight: 9, arbitrary: fc.record({ write }) },
  {
    weight: 1,
    arbitrary: fc.record({ cause: refusal, sent: write }, { requiredKeys: ["cause"] }).map(
      ({ cause, sent }): ForwardObservations => ({
        write: { type: "aborted", cause, ...(sent === undefined || sent.type === "made" ? {} : { sent }) },
      }),
    ),
  },
);

/** Each piece by change: `{ lock: { 0: …, 1: … }, target: { 0: … } }` as `{ 0: { lock: …, target: … }, 1: { lock: … } }`. */
const byChange = (pieces: object): ReadonlyMap<number, ChangeObservations> => {
  const changes = new Map<number, ChangeObservations>();
  for (const [name, all] of Object.entries(pieces) as readonly (readonly [string, ReadonlyMap<number, unknown>])[])
    for (const [at, piece] of all) changes.set(at, { ...changes.get(at), [name]: piece });
  return changes;
};

const changes = fc
  .record(
    {
      lock: ofMost(lock),
      target: ofMost(target),
      before: ofMost(fc.option(arbitraryObject, { nil: undefined, freq: 6 })),
      preflight: ofMost(preflight),
      forward: ofMost(forward),
      enabling: ofFew(fc.record({ since: past })),
      rollback: ofFew(
        fc.record(
          {
            puts: fc.nat({ max: 12 }),
            goal: arbitraryObject,
            taken: fc.subarray(["addresses", "ports"] as const),
          },
          { requiredKeys: [] },
        ),
      ),
    },
    { requiredKeys: ["lock", "forward", "target"] },
  )
  .map(byChange);

/** Everything that a process may know of a Transaction, each piece for itself. */
const knownOf = (txn: Transaction): fc.Arbitrary<Observations> => {
  const kinds = [
    ...new Map(
      txn.spec.changes.map((change) => [`${change.target.apiVersion}/${change.target.kind}`, resourceOf(change)]),
    ),
  ];
  const resources = fc
    .tuple(
      ...kinds.map((entry) =>
        fc.constantFrom<readonly [string, Resource | null]>(entry, entry, entry, entry, entry, [entry[0], null]),
      ),
    )
    .map((entries) => new Map<string, Resource | null>(entries));
  return fc
    .record(
      {
        since: instant,
        statusWritten: fc.record({ sent: instant, answered: instant }),
        resources: fc.oneof(
          { weight: 9, arbitrary: resources },
          { weight: 1, arbitrary: fc.constant(new Map<string, null>()) },
        ),
        namespace: fc.record({ isGoing: fc.boolean(), readAt: past }),
        serviceAccount: fc.constantFrom(...(["there", "there", "there", "there", "missing"] as const)),
        journal: fc.oneof(
          { weight: 8, arbitrary: journal(txn).map((read) => ({ type: "read", journal: read })) },
          fc.constantFrom({ type: "missing" as const }, { type: "taken" as const }),
          fc.record({ type: fc.constant("altered" as const), version, storeNames: fc.nat({ max: 4 }) }),
        ),
        changes,
        stores: ofFew(
          fc.oneof(
            store.map((one) => ({ type: "written", store: one })),
            fc.constantFrom({ type: "taken" }, { type: "left-over" }, { type: "unusable", why: "no" }),
          ),
        ),
        found: entries(
          fc.oneof(
            fc.constantFrom({ type: "absent" }, { type: "theirs" }),
            fc.record({
              type: fc.constant("ours"),
              uid: word,
              resourceVersion: word,
              finalizers: fc.subarray([SNAPSHOT_FINALIZER, "x/y"]),
            }),
          ),
        ),
        storeData: entries(storeData),
        cleanup,
        queueing: fc.constant(true as const),
      },
      // Without these hardly anything is decided.
      { requiredKeys: ["since", "statusWritten", "resources", "journal", "changes"] },
    )
    .map((known) => ({ ...noObservations(known.since), ...known })) as fc.Arbitrary<Observations>;
};

const isThere = ({ type }: Change): boolean => type !== "Create";

/** What was sent, and of which it is not known what has become of it. */
const underway = (write: Write | undefined): ForwardObservations => {
  const sent = sentWrite(write);
  return sent === undefined || sent.type === "made" ? {} : { write: sent };
};

/** In the middle of its work: everything is prepared and locked, and nothing has gone wrong yet. */
const untroubled = ({ txn, known, ...rest }: ReconcileContext): ReconcileContext => {
  const { deletionTimestamp: _, annotations: __, ...metadata } = txn.metadata;
  const version = { uid: "1", resourceVersion: "1" };
  const before = { ...version, existed: true, snapshot: { store: "deploy-v2-rollback", key: "item-0-1" } } as const;
  const { changes } = txn.spec;
  const items = changes.map(
    (change): Item => ({
      state: { type: "prepared", before: isThere(change) ? before : { existed: false } },
    }),
  );
  const observed = changes.map((change, index): ChangeObservations => {
    const { apiVersion, kind } = change.target;
    const former = changeIn(known, index);
    return {
      ...former,
      before: isThere(change) ? { apiVersion, kind, metadata: version } : undefined,
      lock: { type: "held", version, until: NOW + 100_000 },
      forward: underway(former.forward?.write),
    };
  });
  return {
    ...rest,
    txn: { ...txn, metadata, status: { ...txn.status, items, startedAt: "2026-01-01T11:59:59Z" } },
    known: {
      ...known,
      changes: new Map(observed.entries()),
    },
  };
};

const anything: fc.Arbitrary<ReconcileContext> = arbitraryTransaction.chain((txn) =>
  knownOf(txn).map((known) => ({
    txn,
    known,
    now: NOW,
    settings,
    queuedBefore: () => undefined,
    nextWaiter: () => undefined,
  })),
);
export const arbitrarySituation: fc.Arbitrary<ReconcileContext> = fc.oneof(anything, anything.map(untroubled));
