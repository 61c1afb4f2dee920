// Executes functions of blueprints against objects in memory, with a crash at any request.
import {
  type ApiError,
  asObject,
  equal,
  isObject,
  type Json,
  type JsonObject,
  type KubeObject,
  without,
} from "@janus/types";
import type { Request } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import type { ActionSet } from "../../../packages/blueprints/src/api/action-set.ts";
import type { ObjectReference } from "../../../packages/blueprints/src/api/object-reference.ts";
import type { Args, ArgTable } from "../../../packages/blueprints/src/core/args.ts";
import { transactionAccess } from "../../../packages/blueprints/src/core/atomic/transaction.ts";
import type { ExecOutcome } from "../../../packages/blueprints/src/core/exec/exec-outcome.ts";
import { type LogOutput, NO_LOG } from "../../../packages/blueprints/src/core/log-output.ts";
import type { Answer } from "../../../packages/blueprints/src/core/memory.ts";
import {
  type Access,
  isWatchedFact,
  indexOf,
  type KanisterFunction,
  keyOf,
  type PhaseContext,
  type PhaseStep,
} from "../../../packages/blueprints/src/core/phase-context.ts";

const KINDS: Readonly<Record<string, readonly (readonly [plural: string, kind: string, namespaced: boolean])[]>> = {
  "/api/v1": [
    ["secrets", "Secret", true],
    ["configmaps", "ConfigMap", true],
    ["persistentvolumeclaims", "PersistentVolumeClaim", true],
    ["namespaces", "Namespace", false],
    ["pods", "Pod", true],
  ],
  "/apis/apps/v1": [
    ["deployments", "Deployment", true],
    ["statefulsets", "StatefulSet", true],
  ],
  "/apis/example.com/v1": [["things", "Thing", true]],
  "/apis/snapshot.storage.k8s.io/v1": [
    ["volumesnapshots", "VolumeSnapshot", true],
    ["volumesnapshotcontents", "VolumeSnapshotContent", false],
    ["volumesnapshotclasses", "VolumeSnapshotClass", false],
  ],
};

const refused = (code: number, reason: string, message: string, notFound?: "object" | "path"): ApiError => ({
  type: "refused",
  code,
  reason,
  message,
  causes: [],
  ...(notFound === undefined ? {} : { notFound }),
});

const isRefused = (error: ApiError, code: number): boolean => error.type === "refused" && error.code === code;

const merged = (base: JsonObject, patch: JsonObject): JsonObject => {
  const result: Record<string, Json> = { ...base };
  for (const [name, value] of Object.entries(patch))
    if (value === null) delete result[name];
    else result[name] = isObject(value) ? merged(asObject(base[name]), value) : value;
  return result;
};

export interface World {
  /** By `<plural>/<namespace>/<name>`. */
  readonly objects: Map<string, KubeObject>;
  /** Such as `create secrets/shop/a`, as far as they have changed something. */
  readonly writes: string[];
  readonly answer: (request: Request) => Answer;
}

type Rules = Readonly<Record<string, (object: KubeObject) => KubeObject | undefined>>;

const absent = (key: string): Answer => E.left(refused(404, "NotFound", `${key} not found`, "object"));

/**
 * @param rules what another controller makes of each object of this resource that is created or changed; undefined: nothing
 */
export const newWorld = (objects: Readonly<Record<string, JsonObject>> = {}, rules: Rules = {}): World => {
  let version = 0;
  const stored = new Map<string, KubeObject>();
  const store = (key: string, object: KubeObject): KubeObject => {
    version += 1;
    const uid = object.metadata.uid ?? `uid-${version}`;
    const next = { ...object, metadata: { ...object.metadata, uid, resourceVersion: `${version}` } };
    const [plural = ""] = key.split("/");
    const ruled = rules[plural]?.(next);
    stored.set(key, ruled ?? next);
    return next;
  };
  for (const [key, object] of Object.entries(objects)) {
    const [, namespace = "", name = ""] = key.split("/");
    const metadata = { ...(namespace === "" ? {} : { namespace }), name, ...asObject(object["metadata"]) };
    store(key, { apiVersion: "v1", kind: "Thing", ...object, metadata });
  }
  const writes: string[] = [];
  const answer = (request: Request): Answer => {
    if (request.verb === "raw" && request.path === "/apis")
      return E.right({ apiVersion: "v1", kind: "APIGroupList", metadata: {} });
    if (request.verb === "raw") {
      const resources = KINDS[request.path]?.map(([name, kind, namespaced]) => ({ name, kind, namespaced }));
      return resources === undefined
        ? E.left(refused(404, "NotFound", "404 page not found", "path"))
        : E.right({ apiVersion: "v1", kind: "APIResourceList", metadata: {}, resources });
    }
    const { resource, namespace = "" } = request;
    if (resource.isVirtual === true && request.verb === "create")
      return E.right({ ...(request.body as KubeObject), status: { allowed: true } });
    if (request.verb === "list") {
      const items = [...stored].flatMap(([key, one]) =>
        key.startsWith(`${resource.plural}/${namespace}/`) ? [one] : [],
      );
      return E.right({ apiVersion: "v1", kind: "List", metadata: {}, items });
    }
    const body = request.verb === "create" ? (request.body as KubeObject) : undefined;
    const name = request.verb === "create" ? body?.metadata.name : request.name;
    const key = `${resource.plural}/${namespace}/${name ?? ""}`;
    const there = stored.get(key);
    if (request.verb === "create") {
      if (namespace === "none") return E.left(refused(404, "NotFound", 'namespaces "none" not found'));
      if (there !== undefined) return E.left(refused(409, "AlreadyExists", `${key} already exists`));
      writes.push(`create ${key}`);
      return E.right(store(key, body as KubeObject));
    }
    if (there === undefined) return absent(key);
    switch (request.verb) {
      case "get":
        return E.right(there);
      case "delete": {
        if (request.preconditions?.uid !== there.metadata.uid)
          return E.left(refused(409, "Conflict", "the UID in the precondition does not match"));
        if (there.metadata.deletionTimestamp === undefined) writes.push(`delete ${key}`);
        if ((there.metadata.finalizers ?? []).length === 0) stored.delete(key);
        else store(key, { ...there, metadata: { ...there.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } });
        return E.right(there);
      }
      case "strategicMergePatch":
      case "mergePatch": {
        if (request.verb === "strategicMergePatch" && resource.group.includes(".com"))
          return E.left(refused(415, "UnsupportedMediaType", "the body of the request was in an unknown format"));
        writes.push(`${request.verb} ${key}${request.subresource === undefined ? "" : `/${request.subresource}`}`);
        return E.right(
          store(key, merged(there as unknown as JsonObject, request.body as JsonObject) as unknown as KubeObject),
        );
      }
      case "apply":
      case "update":
        throw new Error(`no answer to ${request.verb}`);
    }
  };
  return { objects: stored, writes, answer };
};

const ACTION_SET = {
  metadata: { name: "backup", namespace: "kanister", uid: "u", resourceVersion: "1" },
} as ActionSet;

export const START = 1_000_000;

/** What a crash leaves of a request, or of a record in the journal: nothing, or all but its answer. */
export interface Crash {
  readonly at: number;
  readonly isApplied: boolean;
}

export interface Execution {
  readonly step: Exclude<PhaseStep, { readonly type: "run" | "remember" }>;
  readonly remembered: JsonObject;
  /** Requests and records in the journal. */
  readonly count: number;
  /** Continues at a later time, after a change of what is watched, or without. */
  readonly again: (now: number, isChanged?: boolean) => Execution;
}

export interface Circumstances {
  readonly crash?: Crash;
  readonly now?: number;
  readonly attempt?: number;
  readonly object?: ObjectReference;
  readonly profile?: ObjectReference;
  readonly workload?: JsonObject;
  readonly mayRerun?: boolean;
  readonly isAtomic?: boolean;
  readonly log?: LogOutput;
  /** How commands end; undefined: they run. */
  readonly executed?: (key: string) => ExecOutcome | undefined;
}

const NEVER = (): undefined => undefined;

/** The verbs of RBAC. */
const VERBS: Readonly<Record<string, string>> = { mergePatch: "patch", strategicMergePatch: "patch" };

/** The permission that a request needs. Nobody is asked for what all may read. */
const accessOf = (request: Request): Access | undefined => {
  if (request.verb === "raw" || request.resource.isVirtual === true) return undefined;
  const { verb, resource, namespace = "" } = request;
  const subresource = "subresource" in request ? request.subresource : undefined;
  return {
    verb: VERBS[verb] ?? verb,
    group: resource.group,
    resource: resource.plural,
    namespace,
    ...(subresource === undefined ? {} : { subresource }),
  };
};

/** What is told besides: of the Secret that a Pod waits for where the args are known, of the Profile by its place. */
const isToldElsewhere = (
  { concealed, readsProfile }: Pick<KanisterFunction<never>, "concealed" | "readsProfile">,
  { verb, resource }: Access,
): boolean =>
  (concealed !== undefined && resource === "secrets" && ["create", "get"].includes(verb)) ||
  (readsProfile === true && verb === "get" && ["profiles", "secrets"].includes(resource));

/**
 * Executes a phase until it waits or ends.
 *
 * Guarantees: a request for which the function does not say that it needs the permission is an error, where it says what it needs.
 */
export const execute = <T extends ArgTable>(
  func: KanisterFunction<T>,
  args: Args<T>,
  { answer }: World,
  {
    crash,
    now = START,
    attempt = 1,
    object,
    profile,
    workload = {},
    mayRerun = false,
    isAtomic = false,
    executed = NEVER,
    log = NO_LOG,
  }: Circumstances = {},
): Execution => {
  const { step, access, atomic } = func;
  const { namespace: own } = ACTION_SET.metadata;
  const ofObjects = (isAtomic ? (atomic?.access ?? access) : access)(args, own, object);
  const told = ofObjects.length === 0 || !isAtomic ? ofObjects : [...ofObjects, ...transactionAccess(own)];
  const demandTold = (request: Request): void => {
    const needed = accessOf(request);
    if (told.length === 0 || needed === undefined || isToldElsewhere(func, needed)) return;
    // An object that is known by its name is one of those in its place.
    if (!told.some((one) => equal(without(one, ["name"]), needed)))
      throw new Error(`it does not say that it needs ${JSON.stringify(needed)}`);
  };
  const facts = new Map<string, Answer>();
  const troubles = new Map<string, ApiError>();
  const id = { action: 0, phase: 0 };
  let remembered: JsonObject = {};
  let count = 0;
  let process = "first";
  /** Whether it happens, and whether that is known. */
  const survives = (happen: () => void): boolean => {
    const isCrash = crash?.at === count;
    count += 1;
    if (!isCrash || crash.isApplied) happen();
    if (isCrash) {
      facts.clear();
      process = "second";
    }
    return !isCrash;
  };
  const go = (at: number): Execution => {
    for (let turn = 0; turn < 100; turn += 1) {
      const context: PhaseContext = {
        actionSet: ACTION_SET,
        serviceAccount: "ops",
        id,
        name: "phase",
        attempt,
        seed: "",
        ...(object === undefined ? {} : { object }),
        ...(profile === undefined ? {} : { profile }),
        startedAt: START,
        now: at,
        settings: { defaultServiceAccount: "default", podReadyTimeout: 1, toolsImage: "tools", seed: "", process },
        remembered,
        log,
        logOf: () => log,
        seen: {},
        mayRerun,
        isAtomic,
        workload,
        executed,
        pod: { override: {}, labels: {}, annotations: {} },
        trouble: (name) => troubles.get(`${keyOf({ id, attempt })}/${name}`),
        fact: (name) => facts.get(`${keyOf({ id, attempt })}/${name}`),
      };
      const next = step(args, context);
      if (next.type === "remember")
        survives(() => {
          ({ remembered } = next);
        });
      else if (next.type === "run")
        for (const { fact, request } of next.effects) {
          demandTold(request);
          let reply: Answer | undefined;
          const isKnown = survives(() => {
            reply = answer(request);
          });
          if (!isKnown) break;
          if (reply === undefined) continue;
          if (request.verb === "create" && E.isLeft(reply) && isRefused(reply.left, 404))
            troubles.set(fact, reply.left);
          else facts.set(fact, reply);
        }
      else
        return {
          step: next,
          remembered,
          count,
          again: (later, isChanged = true) => {
            if (!isChanged) return go(later);
            for (const fact of facts.keys()) if (isWatchedFact(fact, indexOf(id, 0))) facts.delete(fact);
            return go(later);
          },
        };
    }
    throw new Error("the phase does not come to rest");
  };
  return go(now);
};

/** Executes it with a crash at each request, before it and after it. */
export const withCrashes = (run: (crash?: Crash) => { readonly count: number }): void => {
  const { count } = run();
  for (let at = 0; at < count; at += 1) for (const isApplied of [false, true]) run({ at, isApplied });
};
