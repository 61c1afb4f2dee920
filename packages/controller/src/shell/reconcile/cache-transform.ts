// Reduces watched Transactions to the fields that the queue needs.
import { API_VERSION, FINALIZER, KIND, type LIFECYCLES, type Phase, PHASES } from "@janus/api";
import type { KubeObject, ObjectMeta } from "@janus/kube";
import { fromTimestamp, type Instant } from "@janus/types";
import { isTerminal, REQUESTS } from "../../core/index.ts";

type Lifecycle = (typeof LIFECYCLES)[number];

/** The fields of a Transaction that are read here. */
interface Cached extends KubeObject {
  readonly spec?: { readonly ttlSecondsAfterFinished?: number; readonly lifecycle?: Lifecycle };
  readonly status?: {
    readonly phase?: Phase;
    readonly completedAt?: string;
    readonly reversibleUntil?: string;
    readonly journal?: object;
  };
}

const only = <A extends object, K extends keyof A>(from: A | undefined, ...keys: readonly K[]): Pick<A, K> =>
  Object.fromEntries(keys.flatMap((key) => (from?.[key] === undefined ? [] : [[key, from[key]]]))) as Pick<A, K>;

const IDENTITY = ["namespace", "name", "uid", "resourceVersion"] as const satisfies readonly (keyof ObjectMeta)[];

/**
 * Reduces each watched Transaction to what is cached: its identity, and what decides whether it must be reconciled. A cluster may
 * have thousands of finished ones, and decisions are made on live reads.
 */
export const cacheTransform = (object: KubeObject): KubeObject => {
  const { spec, status } = object as Cached;
  const { annotations = {}, finalizers = [], ...metadata } = object.metadata;
  return {
    apiVersion: API_VERSION,
    kind: KIND,
    metadata: {
      ...only(metadata, ...IDENTITY, "deletionTimestamp"),
      // Not all of them, nor their values: there may be 256 KiB of annotations, and as many finalizers as fit into etcd.
      finalizers: finalizers.includes(FINALIZER) ? [FINALIZER] : [],
      annotations: Object.fromEntries(REQUESTS.filter((name) => name in annotations).map((name) => [name, ""])),
    },
    spec: {
      ...only(spec, "ttlSecondsAfterFinished"),
      ...(spec?.lifecycle === "Published" ? {} : only(spec, "lifecycle")),
    },
    status: only(status, "phase", "completedAt", "reversibleUntil", "journal"),
  };
};

/** Whether it is a Draft, or proposed. */
export const isUnpublished = (object: KubeObject): boolean => (object as Cached).spec?.lifecycle !== undefined;

export const phaseOf = (object: KubeObject): Phase => (object as Cached).status?.phase ?? "Pending";

/** The field selector of those that are not finished: a cluster may have thousands that are, which take seconds to list. */
export const UNFINISHED = PHASES.filter(isTerminal)
  .map((phase) => `status.phase!=${phase}`)
  .join();

/**
 * When this Transaction must be reconciled next; undefined: not before it changes. A finished one without our finalizer may
 * expire; a Failed one with a journal may be retried; a Committed one may rest until its rollbackWindow has passed; a request has
 * to be answered.
 *
 * @param defaultTtl seconds after which finished ones without ttlSecondsAfterFinished expire; undefined: never
 */
export const dueAt = (object: KubeObject, defaultTtl?: number): Instant | undefined => {
  const { spec, status } = object as Cached;
  const { finalizers = [], annotations = {}, deletionTimestamp } = object.metadata;
  const phase = phaseOf(object);
  if (!isTerminal(phase) || REQUESTS.some((name) => name in annotations)) return 0;
  if (finalizers.includes(FINALIZER)) return deletionTimestamp === undefined ? restsUntil(object) : 0;
  if (phase !== "RolledBack" && status?.journal !== undefined) return 0;
  const completed = fromTimestamp(status?.completedAt);
  const ttl = spec?.ttlSecondsAfterFinished ?? defaultTtl;
  return ttl === undefined || completed === undefined ? undefined : completed + ttl * 1000;
};

/** The end of the rollbackWindow of a Committed one whose locks are released; of any other one: at once. */
const restsUntil = (object: KubeObject): Instant => {
  const { status } = object as Cached;
  return (phaseOf(object) === "Committed" ? fromTimestamp(status?.reversibleUntil) : undefined) ?? 0;
};
