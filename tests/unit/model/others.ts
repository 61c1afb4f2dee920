import { REQUEST_ROLLBACK } from "@janus/api";
import { type KubeObject } from "@janus/controller";
import { rewritten, stored, type World } from "./api-server.ts";

/** Something that others do to an object between two requests of ours. */
export interface Deed {
  readonly name: string;
  /** The object afterwards; "no" where it cannot be done. `seen`: what made them do it. */
  readonly on: (
    object: KubeObject | undefined,
    key: string,
    version: string,
    seen: KubeObject | undefined,
  ) => KubeObject | undefined | "no";
}

const edit =
  (data: object) =>
  (live: KubeObject | undefined, _: string, version: string): KubeObject | "no" =>
    live === undefined
      ? "no"
      : rewritten(live, "update", { ...live, data: { ...(live["data"] as object), ...data } }, "person", version);

const theirs = (key: string, version: string): KubeObject => {
  const [kind = "", path = ""] = key.split(" ");
  const [namespace = "", name = ""] = path.split("/");
  return {
    apiVersion: "example.com/v1",
    kind,
    metadata: { name, namespace, uid: `person's ${key} #${version}`, resourceVersion: version },
    data: { ours: "theirs", other: "theirs" },
  };
};

const deleted: Deed["on"] = (live, _, resourceVersion) => {
  if (live === undefined || live.metadata.deletionTimestamp !== undefined) return "no";
  const deletionTimestamp = "2026-01-01T00:00:00Z";
  const { generation } = live.metadata;
  const next = generation === undefined ? {} : { generation: generation + 1 };
  return (live.metadata.finalizers ?? []).length === 0
    ? undefined
    : { ...live, metadata: { ...live.metadata, ...next, deletionTimestamp, resourceVersion } };
};

/** A manager of a later Transaction, which has the same target. */
const LATER = "janus-later-11111111-2222-4333-8444-555555555555";

/** Keeps an object that we have created from being deleted. It is in no list: an exploration begins after it. */
export const changedByLater: Deed = {
  name: "changes, as a later Transaction,",
  on: (live, _, version) =>
    live === undefined ? "no" : rewritten(live, "apply", { data: { later: "new" } }, LATER, version),
};

/** What others do to a target. */
export const deeds: readonly Deed[] = [
  { name: "edits another field of", on: edit({ other: "theirs" }) },
  { name: "edits our field of", on: edit({ ours: "theirs" }) },
  {
    name: "applies the value that our field has in",
    on: (live, _, version, seen) => {
      const ours = (seen?.["data"] as { readonly ours?: string } | undefined)?.ours;
      return live === undefined || ours === undefined
        ? "no"
        : rewritten(live, "apply", { data: { ours } }, "applier", version);
    },
  },
  {
    name: "writes the status of",
    on: (live, _, resourceVersion) =>
      live === undefined ? "no" : { ...live, status: { seen: true }, metadata: { ...live.metadata, resourceVersion } },
  },
  {
    name: "clears managedFields of",
    on: (live, _, resourceVersion) => {
      if (live?.metadata.managedFields === undefined) return "no";
      const { managedFields: __, ...metadata } = live.metadata;
      return { ...live, metadata: { ...metadata, resourceVersion } };
    },
  },
  { name: "deletes", on: deleted },
  {
    name: "takes the finalizers off",
    on: (live) => (live?.metadata.deletionTimestamp === undefined ? "no" : undefined),
  },
  { name: "deletes and creates again", on: (live, key, version) => (live === undefined ? "no" : theirs(key, version)) },
  { name: "creates", on: (live, key, version) => (live === undefined ? theirs(key, version) : "no") },
  {
    name: "withdraws what a later Transaction has changed of",
    on: (live, _, version) =>
      live?.metadata.managedFields?.some(({ manager }) => manager === LATER) === true
        ? rewritten(live, "apply", {}, LATER, version)
        : "no",
  },
];

/** What becomes of a Lease of ours. */
export const leaseDeeds: readonly Deed[] = [
  { name: "deletes", on: (live) => (live === undefined ? "no" : undefined) },
  {
    name: "takes",
    on: (live, _, resourceVersion) =>
      live === undefined
        ? "no"
        : {
            ...live,
            metadata: { ...live.metadata, resourceVersion },
            spec: { holderIdentity: "somebody", leaseDurationSeconds: 15 },
          },
  },
];

/** What people want of a Transaction. */
export const wishes: readonly Deed[] = [
  {
    name: "deletes",
    on: deleted,
  },
  {
    name: "asks for a rollback of",
    on: (live, _, resourceVersion) => {
      const annotations = { [REQUEST_ROLLBACK]: "" };
      return live === undefined || live.metadata.annotations !== undefined
        ? "no"
        : { ...live, metadata: { ...live.metadata, annotations, resourceVersion } };
    },
  },
];

export const did = (world: World, key: string, deed: Deed): World | undefined => {
  const live = world.objects.get(key);
  const next = deed.on(live, key, String((world.writes.get(key) ?? 0) + 1), live);
  return next === "no" ? undefined : stored(world, key, next);
};
