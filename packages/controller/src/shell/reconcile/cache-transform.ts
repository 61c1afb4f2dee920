import { API_VERSION, FINALIZER, KIND, type Phase } from "@janus/api";
import type { KubeObject, ObjectMeta } from "@janus/kube";
import { fromTimestamp, type Instant, isTerminal } from "../../core/index.ts";
import { REQUESTS } from "./user-requests.ts";

/** What the API server may have put there; all else of it is not looked at here. */
interface Seen extends KubeObject {
  readonly spec?: { readonly ttlSecondsAfterFinished?: number };
  readonly status?: { readonly phase?: Phase; readonly completedAt?: string; readonly journal?: object };
}

const only = <A extends object, K extends keyof A>(from: A | undefined, ...keys: readonly K[]): Pick<A, K> =>
  Object.fromEntries(keys.flatMap((key) => (from?.[key] === undefined ? [] : [[key, from[key]]]))) as Pick<A, K>;

const IDENTITY = ["namespace", "name", "uid", "resourceVersion"] as const satisfies readonly (keyof ObjectMeta)[];

/**
 * What is remembered of each Transaction that is watched: who it is, and what tells whether it is to be looked at. Thousands that
 * have ended are kept in a cluster; and decisions are made on live reads.
 */
export const cacheTransform = (object: KubeObject): KubeObject => {
  const { spec, status } = object as Seen;
  const { annotations = {}, finalizers = [], ...metadata } = object.metadata;
  return {
    apiVersion: API_VERSION,
    kind: KIND,
    metadata: {
      ...only(metadata, ...IDENTITY, "deletionTimestamp"),
      // Not all of them, nor what they say: there may be 256 KiB of annotations, and as many finalizers as fit into etcd.
      finalizers: finalizers.includes(FINALIZER) ? [FINALIZER] : [],
      annotations: Object.fromEntries(REQUESTS.filter((name) => name in annotations).map((name) => [name, ""])),
    },
    spec: only(spec, "ttlSecondsAfterFinished"),
    status: only(status, "phase", "completedAt", "journal"),
  };
};

export const phaseOf = (object: KubeObject): Phase => (object as Seen).status?.phase ?? "Pending";

/**
 * When something may have to be done for a Transaction that looks like this; undefined: never, unless it changes. One that has
 * ended, and that our finalizer is not on, may expire; a Failed one that had come as far as a journal may be tried again.
 */
export const dueAt = (object: KubeObject): Instant | undefined => {
  const { spec, status } = object as Seen;
  const phase = phaseOf(object);
  const isEnded = isTerminal(phase) && !(object.metadata.finalizers ?? []).includes(FINALIZER);
  if (!isEnded || (phase === "Failed" && status?.journal !== undefined)) return 0;
  const completed = fromTimestamp(status?.completedAt);
  return spec?.ttlSecondsAfterFinished === undefined || completed === undefined
    ? undefined
    : completed + spec.ttlSecondsAfterFinished * 1000;
};
