import { FINALIZER, journalName, SNAPSHOT_FINALIZER, type SnapshotStore, UID_LABEL } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import type { ApiCall } from "../../../packages/controller/src/core/state/effect.ts";
import type { ReconcileContext } from "../../../packages/controller/src/core/state/reconcile-context.ts";
import { formerObject, readStores } from "../../../packages/controller/src/core/snapshots/snapshot-stores.ts";
import { NOW } from "./arbitrary-situation.ts";
import { UID } from "./transaction.ts";
import { type Answer, change, former, later, refused, underway } from "./underway.ts";
import type { KubeObject } from "@janus/types";
import { learn } from "./learn.ts";

const ref: SnapshotStore = { kind: "Secret", name: "deploy-v2-rollback", uid: "uid-of-deploy-v2-rollback", digest: "" };

const stored = (uid: string, finalizers: readonly string[] = [SNAPSHOT_FINALIZER]): KubeObject =>
  former("Secret", ref.name, { metadata: { labels: { [UID_LABEL]: uid }, finalizers } });

const withStore = ({ txn, ...rest }: ReconcileContext): ReconcileContext => ({
  ...rest,
  txn: { ...txn, status: { ...txn.status, snapshots: [ref] } },
});

const committed = withStore(
  underway("Committed", [change("Delete", "a")], { direction: "forward", cursor: 1 }, { begun: true }),
);

const isWrite = ({ call }: ApiCall): boolean => call.verb === "mergePatch" || call.verb === "delete";
const isOfStore = ({ call }: ApiCall): boolean => call.place.resource.kind === "Secret";

/** The store as the API server has it, and what it answers to writes of it until then. */
const server = (until: number, refusal: Answer) => {
  let object: KubeObject | undefined = stored(UID);
  const answer = (ask: ApiCall, { now }: ReconcileContext): Answer => {
    if (!isOfStore(ask) || ask.call.place.name !== ref.name)
      return isWrite(ask) ? E.right(former("Lease", "any")) : refused(404);
    if (object === undefined) return refused(404);
    if (ask.call.verb === "get") return E.right(object);
    if (now < until) return refusal;
    if (ask.call.verb === "delete") {
      const gone = object;
      object = (object.metadata.finalizers ?? []).length === 0 ? undefined : object;
      return E.right(gone);
    }
    const { metadata } = (ask.call as { readonly body: KubeObject }).body;
    object = { ...object, metadata: { ...object.metadata, finalizers: metadata.finalizers ?? [] } };
    return E.right(object);
  };
  return { answer, left: () => object };
};

const CONFLICT = refused(409, "the object has been modified");

describe("a snapshot that is not needed any more", () => {
  it.each<readonly [string, Answer]>([
    ["403", refused(403, "admission webhook says no")],
    ["422", refused(422, "denied by a policy")],
    ["409, though it is the same", CONFLICT],
    ["404 of a proxy", E.left({ type: "refused", code: 404, reason: "", message: "page not found", causes: [] })],
    ["400", refused(400)],
  ])("is deleted before the finalizer is removed, whatever is answered for a while: %s", (_, refusal) => {
    const { answer, left } = server(NOW + 5_000, refusal);
    const meanwhile = later(committed, 4_000, answer).at;
    expect(meanwhile.txn.metadata.finalizers).toEqual([FINALIZER]);
    const { at } = later(meanwhile, 60_000, answer);
    expect(left()).toBeUndefined();
    expect(at.txn.metadata.finalizers).toEqual([]);
  });

  it("keeps the finalizers of other clients", () => {
    const { at, asked } = later(committed, 60_000, (ask) => {
      if (!isOfStore(ask) || ask.call.place.name !== ref.name) return refused(404);
      return E.right(stored(UID, ["x/y", ...(ask.call.verb === "get" ? [SNAPSHOT_FINALIZER] : [])]));
    });
    const [patch] = asked.filter((ask) => isOfStore(ask) && ask.call.verb === "mergePatch");
    expect(patch?.call).toMatchObject({ body: { metadata: { finalizers: ["x/y"], resourceVersion: "1" } } });
    expect(at.txn.metadata.finalizers).toEqual([]);
  });

  it("holds up a deletion in a namespace that is being deleted as long as it bears our finalizer, and nothing else does", () => {
    const deletionTimestamp = "2026-01-01T12:00:00Z";
    const going = former("Namespace", "shop", { metadata: { deletionTimestamp } });
    const deleted: ReconcileContext = {
      ...committed,
      txn: { ...committed.txn, metadata: { ...committed.txn.metadata, deletionTimestamp } },
      // Something was refused already.
      known: { ...committed.known, retryingSince: { since: NOW } },
    };
    const until = NOW + 5_000;
    const no = refused(403, "admission webhook says no");
    const { answer, left } = server(until, no);
    const all = (ask: ApiCall, at: ReconcileContext): Answer => {
      if (ask.purpose === "read-namespace") return E.right(going);
      return isWrite(ask) && (!isOfStore(ask) || ask.call.verb === "delete") ? no : answer(ask, at);
    };
    const meanwhile = later(deleted, 4_000, all).at;
    expect(meanwhile.txn.metadata.finalizers).toEqual([FINALIZER]);
    const { at } = later(meanwhile, 10_000, all);
    expect(left()?.metadata.finalizers).toEqual([]);
    expect(at.txn.metadata.finalizers).toEqual([]);
  });
});

it("a journal that the status names as a store is neither released as one, nor waited for", () => {
  const journal = former("ConfigMap", journalName(UID), {
    metadata: { labels: { [UID_LABEL]: UID } },
    data: { position: "{}" },
  });
  const named: SnapshotStore = {
    kind: "ConfigMap",
    name: journalName(UID),
    uid: journal.metadata.uid ?? "",
    digest: "",
  };
  const { txn } = committed;
  const start = { ...committed, txn: { ...txn, status: { ...txn.status, snapshots: [named] } } };
  const { at, asked } = later(start, 60_000, (ask) =>
    ask.call.place.name === journalName(UID) ? E.right(journal) : refused(404),
  );
  expect(asked.filter(({ purpose }) => purpose === "release-store")).toEqual([]);
  expect(at.txn.metadata.finalizers).toEqual([]);
});

const theirs = (ask: ApiCall): Answer =>
  isOfStore(ask) && ask.call.place.name === ref.name ? E.right(stored("another")) : refused(404);

describe("a store that is recorded as this Transaction's, and says that it is of another one", () => {
  it.each(["Committed", "RolledBack", "Failed"] as const)("is not written in phase %s", (phase) => {
    const start = { ...committed, txn: { ...committed.txn, status: { ...committed.txn.status, phase } } };
    const { asked, at } = later(start, 60_000, theirs);
    expect(asked.filter((ask) => isOfStore(ask) && isWrite(ask))).toEqual([]);
    expect(at.txn.metadata.finalizers).toEqual([]);
  });

  it("is not restored from, even under its own uid and digest", () => {
    const { txn, known } = committed;
    const [read] = readStores(txn, known, [ref]);
    const seen = read === undefined ? undefined : learn({ txn, known }, read, theirs(read));
    expect(seen === undefined ? undefined : formerObject(seen, [ref], "item-0-1")).toEqual(
      E.left("Secret deploy-v2-rollback does not have the label of this Transaction"),
    );
  });
});
