import {
  type Change,
  decodeTransaction,
  FINALIZER,
  journalName,
  lockLease,
  type Phase,
  type ResolvedChange,
  Transaction,
} from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { isOwn } from "../../../packages/controller/src/core/observe.ts";
import { decide } from "../../../packages/controller/src/core/decide.ts";
import type { ApiCall } from "../../../packages/controller/src/core/state/effect.ts";
import { found, heard, unanswered } from "./learn.ts";
import { decodeJournal, newJournal, type Position } from "../../../packages/controller/src/core/state/journal.ts";
import {
  changeIn,
  type ChangeObservations,
  noObservations,
  type Observations,
  withChanges,
  journalIn,
} from "../../../packages/controller/src/core/state/observations.ts";
import type { Trial } from "../../../packages/controller/src/core/state/preflight-observations.ts";
import type { TargetObservation } from "../../../packages/controller/src/core/state/target-observations.ts";
import type { ReconcileContext } from "../../../packages/controller/src/core/state/reconcile-context.ts";
import { NOW, settings } from "./arbitrary-situation.ts";
import { transaction, UID } from "./transaction.ts";
import type { Owned } from "../../../packages/controller/src/core/state/listings.ts";
import { type ApiError, asObject, isObject, type KubeObject, member, type Resource } from "@janus/types";

export type Answer = E.Either<ApiError, KubeObject>;

/** As of an aggregated API whose server is down. */
const NOT_AVAILABLE: ApiError = {
  type: "refused",
  code: 503,
  reason: "ServiceUnavailable",
  message: "the server is currently unable to handle the request",
  causes: [],
};

/** A 404 is of the very object that was asked for. */
export const refused = (code: number, message = "no"): Answer =>
  E.left({ type: "refused", code, reason: "", message, causes: [], ...(code === 404 ? { notFound: "object" } : {}) });

/** An object as it was before the Transaction, and as its snapshot has it. */
export const former = (kind: string, name: string, fields: Partial<KubeObject> = {}): KubeObject => ({
  ...fields,
  apiVersion: "v1",
  kind,
  metadata: { name, namespace: "shop", ...fields.metadata, uid: `uid-of-${name}`, resourceVersion: "1" },
});

const resource = (kind: string): Resource => ({
  group: kind === "CustomResourceDefinition" ? "apiextensions.k8s.io" : "",
  version: "v1",
  plural: `${kind.toLowerCase()}s`,
  kind,
  namespaced: true,
  statusSubresource: false,
});

/** Of a ConfigMap or another namespaced kind of the core group. */
export const change = (type: ResolvedChange["type"], name: string, kind = "ConfigMap"): ResolvedChange => {
  const target = { apiVersion: "v1", kind, name };
  return type === "Delete" ? { type, target } : { type, target, content: { data: { a: "new" } } };
};

const journalled = (txn: Transaction, position: Position, data: object = {}): KubeObject => {
  const object = newJournal(txn, { position }, 0) as KubeObject;
  return {
    ...object,
    data: { ...asObject(object["data"]), ...data },
    metadata: { ...object.metadata, uid: "uid-of-journal", resourceVersion: "1" },
  };
};

/**
 * A Transaction of whose changes those before the cursor are in: everything is prepared and locked, and this process has
 * written the journal itself, and remembers what was there before.
 */
export const underway = (
  phase: Phase,
  changes: readonly Change[],
  position: Position,
  known: Partial<Observations> = {},
): ReconcileContext => {
  const prepared = changes.map(({ type, target: { kind, name } }) => {
    const { uid, resourceVersion } = former(kind, name).metadata;
    const snapshot = { store: "deploy-v2-rollback", key: `item-${name}` };
    const lock = { lockLease: lockLease({ group: "", kind, namespace: "shop", name }), leaseNamespace: "shop" };
    return { prepared: true, ...lock, ...(type === "Create" ? {} : { uid, resourceVersion, snapshot }) };
  });
  const { metadata, ...rest } = Transaction.encode(transaction(changes)) as unknown as KubeObject;
  const decoded = decodeTransaction({
    ...rest,
    metadata: { ...metadata, finalizers: [FINALIZER] },
    status: {
      phase,
      startedAt: new Date(NOW).toISOString(),
      items: phase === "Preparing" ? changes.map(() => ({})) : prepared,
      journal: { name: journalName(UID), uid: "uid-of-journal" },
    },
  });
  if (E.isLeft(decoded)) throw new Error(decoded.left);
  const txn = decoded.right;
  const journal = decodeJournal(journalled(txn, position), changes.length);
  return {
    txn,
    now: NOW,
    settings,
    queuedBefore: () => undefined,
    nextWaiter: () => undefined,
    known: {
      ...noObservations(NOW),
      hasRecorded: true,
      resources: new Map(
        changes.map(({ target: { apiVersion, kind } }) => [`${apiVersion}/${kind}`, resource(kind)] as const),
      ),
      changes: new Map(
        changes.map(({ type, target: { kind, name } }, index) => [
          index,
          {
            lock: {
              type: "held",
              version: { uid: `lock-${index}`, resourceVersion: "1" },
              until: NOW + 300_000,
            },
            before: type === "Create" ? undefined : former(kind, name),
          },
        ]),
      ),
      ...(journal === undefined ? {} : { journal: { type: "read" as const, journal } }),
      ...known,
    },
  };
};

/** It has learned this, too, of these of its changes. */
export const observing = (
  context: ReconcileContext,
  learned: Readonly<Record<number, ChangeObservations>>,
): ReconcileContext => ({
  ...context,
  known: withChanges(
    context.known,
    Object.entries(learned).map(([index, observed]) => [Number(index), observed]),
  ),
});

/** It has learned this, too, of each of its changes. */
export const observingAll = (
  context: ReconcileContext,
  learned: (change: Change, index: number, observed: ChangeObservations) => ChangeObservations,
): ReconcileContext =>
  observing(
    context,
    Object.fromEntries(
      context.txn.spec.changes.map((one, index) => [index, learned(one, index, changeIn(context.known, index))]),
    ),
  );

export const seen = (object: KubeObject | undefined, at = NOW): TargetObservation =>
  object === undefined ? { type: "absent", at } : { type: "read", object, at };

/** The dry run on this target, which nothing is in the way of. */
export const tried = ({ object }: TargetObservation): Trial => ({
  of: object?.metadata.resourceVersion,
  problems: [],
});

export const allowed = (...verbs: readonly string[]): ReadonlyMap<string, "allowed"> =>
  new Map(verbs.map((verb) => [verb, "allowed"]));

/** RFC 7386. */
const merged = (at: unknown, patch: unknown): unknown =>
  isObject(patch)
    ? Object.fromEntries(
        Object.entries({ ...asObject(at), ...patch }).flatMap(([name, value]) => {
          const nextWaiter = member(patch, name);
          if (nextWaiter === null) return [];
          return [[name, nextWaiter === undefined ? value : merged(asObject(at)[name], nextWaiter)]];
        }),
      )
    : patch;

export interface Story {
  readonly at: ReconcileContext;
  /** Every request, in order. */
  readonly asked: readonly ApiCall[];
}

/**
 * What becomes of it within so many ms, each request taking one: writes to the Transaction itself succeed, everything else is
 * answered as told. What does not get through is tried again a second later.
 *
 * @param served whether the API server serves the kinds of the targets; it is not asked unless it is told
 * @param isDown whether writes to the Transaction itself are answered as told, too
 */
export const later = (
  start: ReconcileContext,
  ms: number,
  answer: (ask: ApiCall, at: ReconcileContext) => Answer,
  served?: "served" | "unserved" | "down",
  isDown: (at: ReconcileContext) => boolean = () => false,
): Story => {
  let at = start;
  const asked: ApiCall[] = [];
  while (at.now < start.now + ms) {
    const step = decide(at);
    if (step.type === "done") break;
    if (step.type === "wait") at = { ...at, now: Math.max(step.until, at.now + 1) };
    else
      for (const effect of step.effects) {
        at = { ...at, now: at.now + 1 };
        if ("call" in effect) {
          asked.push(effect);
          at = told(at, effect, answer, isDown(at));
        } else if (effect.purpose === "find-owned")
          at = { ...at, known: found(at, { effect, found: { owned: [], unlisted: [] } }, at.now) };
        else if (effect.purpose === "discover" && served === "down")
          at = {
            ...at,
            known: unanswered(at, effect, NOT_AVAILABLE, at.now),
            now: at.now + 1000,
          };
        else if (effect.purpose === "discover" && served !== undefined)
          at = {
            ...at,
            known: found(
              at,
              { effect, found: served === "served" ? { resource: resource(effect.kind) } : { others: [] } },
              at.now,
            ),
          };
        else throw new Error(`nobody answers ${effect.purpose}`);
      }
  }
  return { at, asked };
};

const told = (
  at: ReconcileContext,
  effect: ApiCall,
  answer: (ask: ApiCall, at: ReconcileContext) => Answer,
  isDown: boolean,
): ReconcileContext => {
  const { now } = at;
  const body = "body" in effect.call ? effect.call.body : {};
  const reply: Answer =
    isOwn(effect) && !isDown ? E.right(merged(Transaction.encode(at.txn), body) as KubeObject) : answer(effect, at);
  const { txn, known, failed, unreadable } = heard(at, effect, reply, now);
  if (unreadable !== undefined) throw new Error(`writes what cannot be read: ${unreadable.why}`);
  return { ...at, txn, now: failed === undefined ? now : now + 1000, known };
};

/** The journal after a checkpoint, as the API server answers it. */
export const checkpointed = ({ txn, known }: ReconcileContext, { call }: ApiCall): Answer => {
  const position: Position = journalIn(known)?.position ?? { direction: "forward", cursor: 0 };
  const { data } = "body" in call ? (call.body as { readonly data?: object }) : {};
  return E.right(journalled(txn, position, data));
};

/** As {@link checkpointed}, of a journal that keeps all that was ever written to it. */
export const checkpoints = (): ((at: ReconcileContext, ask: ApiCall) => Answer) => {
  let data: unknown = {};
  return (at, ask) => {
    data = merged(data, "body" in ask.call ? asObject(ask.call.body)["data"] : {});
    return checkpointed(at, { ...ask, call: { ...ask.call, body: { data } } as ApiCall["call"] });
  };
};

const owned = ({ kind, metadata: { name = "", uid = "", ownerReferences = [] } }: KubeObject): readonly Owned[] =>
  ownerReferences.length === 0
    ? []
    : [{ kind, namespace: "shop", name, uid, owners: ownerReferences.map((one) => one.uid) }];

/** The next step, as text, of one that is Preparing: everything is read, and the API server refuses nothing. */
export const examined = (changes: readonly Change[], ...there: readonly KubeObject[]): string => {
  const start = underway(
    "Preparing",
    changes,
    { direction: "forward", cursor: 0 },
    { serviceAccount: "there", owned: new Map([["shop", there.flatMap(owned)]]) },
  );
  const owners = new Map(there.map(({ metadata: { uid = "" } }) => [uid, { is: "there" as const, readAt: NOW }]));
  const step = decide(
    observingAll(start, ({ target: { name } }) => {
      const target = seen(there.find(({ metadata }) => metadata.name === name));
      return {
        owners,
        preflight: { permissions: allowed("create", "update", "patch", "delete"), trial: tried(target) },
        target,
      };
    }),
  );
  return JSON.stringify(step.type === "run" ? step.effects : step);
};
