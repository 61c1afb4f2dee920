// The requests that a decision is made of, with the names under which their answers are remembered.
import type { Request } from "@janus/kube";
import {
  configMaps,
  type JsonObject,
  type KubeObject,
  namespaces,
  type Resource,
  secrets,
  serviceAccounts,
  sizeOf,
} from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import type { ActionSet } from "../api/action-set.ts";
import { ACTION_SET_UID, actionSets, GROUP, VERSION } from "../api/names.ts";
import type { Effect, StepEvent } from "./effect.ts";
import { encodeJournal, type Journal } from "./journal.ts";
import type { Answer, KnownJournal, Memory } from "./memory.ts";
import { journalName } from "./names.ts";

/** The facts that are no answers about other objects: the ActionSet itself, and its journal. */
export const OWN = "actionset";
export const JOURNAL = "journal";

/** The purpose of the write that says that it waits for its turn. */
export const QUEUE = "queue";

const MANAGER = "janus-blueprints";

export { configMaps, namespaces, secrets, serviceAccounts };
export const claims: Resource = {
  group: "",
  version: "v1",
  plural: "persistentvolumeclaims",
  kind: "PersistentVolumeClaim",
  namespaced: true,
  statusSubresource: false,
};

const workload = (plural: string, kind: string): Resource => ({
  group: "apps",
  version: "v1",
  plural,
  kind,
  namespaced: true,
  statusSubresource: true,
});

export const statefulSets = workload("statefulsets", "StatefulSet");
export const deployments = workload("deployments", "Deployment");
export const replicaSets = workload("replicasets", "ReplicaSet");

/** An object, by where it is served. */
export interface ObjectRef {
  readonly resource: Resource;
  readonly namespace?: string;
  readonly name: string;
}

export const get = (
  purpose: string,
  fact: string,
  { resource, namespace, name }: ObjectRef,
  as?: string,
  subresource?: string,
): Effect => ({
  purpose,
  fact,
  ...(as === undefined ? {} : { as }),
  request: {
    verb: "get",
    resource,
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(subresource === undefined ? {} : { subresource }),
  },
});

export const create = (purpose: string, fact: string, resource: Resource, body: KubeObject, as?: string): Effect => {
  const { namespace } = body.metadata;
  const request: Request = {
    verb: "create",
    resource,
    body,
    fieldManager: MANAGER,
    ...(namespace === undefined ? {} : { namespace }),
  };
  return { purpose, fact, request, ...(as === undefined ? {} : { as }) };
};

/** Deletes this object, and no other of its name. @param resourceVersion only as it was read */
export const remove = (
  purpose: string,
  fact: string,
  { resource, namespace, name }: ObjectRef,
  uid: string,
  as?: string,
  resourceVersion?: string,
): Effect => ({
  purpose,
  fact,
  ...(as === undefined ? {} : { as }),
  request: {
    verb: "delete",
    resource,
    name,
    ...(namespace === undefined ? {} : { namespace }),
    preconditions: { uid, ...(resourceVersion === undefined ? {} : { resourceVersion }) },
    propagationPolicy: "Background",
  },
});

/** Writes to an object whose version is not known: what it says holds whatever the object was. */
export const patch = (
  purpose: string,
  fact: string,
  verb: "mergePatch" | "strategicMergePatch",
  { resource, namespace, name }: ObjectRef,
  body: JsonObject,
  as: string,
  subresource?: string,
): Effect => ({
  purpose,
  fact,
  as,
  request: {
    verb,
    resource,
    name,
    body,
    fieldManager: MANAGER,
    ...(namespace === undefined ? {} : { namespace }),
    ...(subresource === undefined ? {} : { subresource }),
  },
});

export const ownerOf = ({ metadata: { name, uid } }: ActionSet): JsonObject => ({
  apiVersion: `${GROUP}/${VERSION}`,
  kind: "ActionSet",
  name,
  uid,
});

/** Writes to the ActionSet the version of which was read: nobody's write is overwritten. */
export const patchOwn = (
  { metadata: { namespace, name, uid, resourceVersion } }: ActionSet,
  purpose: string,
  { metadata = {}, ...body }: { readonly metadata?: JsonObject; readonly status?: JsonObject },
  events: readonly StepEvent[] = [],
): Effect => ({
  purpose,
  fact: OWN,
  request: {
    verb: "mergePatch",
    resource: actionSets,
    namespace,
    name,
    body: { metadata: { ...metadata, uid, resourceVersion }, ...body },
    fieldManager: MANAGER,
  },
  ...(events.length === 0 ? {} : { events }),
});

/** Deletes this ActionSet, and no other of its name. */
export const removeOwn = ({ metadata: { namespace, name, uid } }: ActionSet): Effect =>
  remove("expire", OWN, { resource: actionSets, namespace, name }, uid);

const journalRef = ({ metadata: { namespace, uid } }: ActionSet): ObjectRef => ({
  resource: secrets,
  namespace,
  name: journalName(uid),
});

export const readJournal = (actionSet: ActionSet): Effect => get("read-journal", JOURNAL, journalRef(actionSet));

export const createJournal = (actionSet: ActionSet, journal: Journal, events: readonly StepEvent[]): Effect => {
  const { namespace, name } = journalRef(actionSet);
  const { uid } = actionSet.metadata;
  const body = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      namespace: namespace ?? "",
      name,
      labels: { [ACTION_SET_UID]: uid },
      ownerReferences: [ownerOf(actionSet)],
    },
    data: encodeJournal(journal),
  } as unknown as KubeObject;
  return { ...create("create-journal", JOURNAL, secrets, body), events };
};

type ReadJournal = Extract<KnownJournal, { type: "read" }>;

export const writeJournal = (
  actionSet: ActionSet,
  { uid, resourceVersion }: ReadJournal,
  journal: Journal,
  events: readonly StepEvent[],
): Effect => {
  const { namespace = "", name } = journalRef(actionSet);
  return {
    purpose: "write-journal",
    fact: JOURNAL,
    request: {
      verb: "mergePatch",
      resource: secrets,
      namespace,
      name,
      body: { metadata: { uid, resourceVersion }, data: encodeJournal(journal) },
      fieldManager: MANAGER,
    },
    events,
  };
};

export const deleteJournal = (actionSet: ActionSet, { uid }: ReadJournal): Effect =>
  remove("delete-journal", JOURNAL, journalRef(actionSet), uid);

/** Asks for answers. Those that are not known yet are collected, to be asked for side by side. */
export interface Inquiry {
  readonly ask: (effect: Effect) => Answer | undefined;
  readonly missing: readonly Effect[];
}

/** The most bytes of the Secrets and ConfigMaps that an ActionSet names: they are in memory as long as it runs. */
const MOST_NAMED = 512 * 1024;

const TOO_MUCH: Answer = E.left({
  type: "refused",
  code: 413,
  reason: "RequestEntityTooLarge",
  message: `the Secrets and ConfigMaps before it are more than ${MOST_NAMED / 1024} KiB, which is the most`,
  causes: [],
});

const isNamed = (fact: string): boolean => fact.startsWith("Secret/") || fact.startsWith("ConfigMap/");

const bytesNamed = ({ facts }: Memory): number =>
  [...facts].reduce(
    (sum, [fact, answer]) => (isNamed(fact) && E.isRight(answer) ? sum + sizeOf(answer.right) : sum),
    0,
  );

/** Named objects are asked for one after the other, until there is no room for more: nobody knows how large they are. */
export const inquiry = (memory: Memory): Inquiry => {
  const missing: Effect[] = [];
  let bytes: number | undefined;
  return {
    missing,
    ask: (effect) => {
      const { fact } = effect;
      const answer = memory.facts.get(fact);
      if (answer !== undefined || missing.some((one) => one.fact === fact)) return answer;
      if (isNamed(fact) && (bytes ??= bytesNamed(memory)) > MOST_NAMED) return TOO_MUCH;
      if (!isNamed(fact) || !missing.some((one) => isNamed(one.fact))) missing.push(effect);
      return undefined;
    },
  };
};
