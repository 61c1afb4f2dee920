// Objects of the journal's four kinds, and a cluster that has them, for tests of what follows from them.
import { isObject, type JsonObject, type KubeObject } from "@janus/types";
import { API_VERSION } from "../../../packages/git-journal/src/api/names.ts";
import type { Kind } from "../../../packages/git-journal/src/core/configured.ts";
import type { ServedResource } from "../../../packages/git-journal/src/core/discovery.ts";
import type { ClusterState, JournalSettings } from "../../../packages/git-journal/src/core/wanted.ts";

export const SETTINGS: JournalSettings = {
  selection: { watchAll: false, excludes: [{ plural: "leases" }], secrets: true },
  limits: { maxFiles: 200, maxBytes: 1_000_000, maxWait: 20_000 },
};

/** The older, the earlier it was made. */
export const made = (kind: Kind, at: string, spec: JsonObject, more: JsonObject = {}): KubeObject => {
  const [first = "", second] = at.split("/");
  const place = second === undefined ? { name: first } : { namespace: first, name: second };
  const metadata = {
    ...place,
    uid: `uid of ${at}`,
    resourceVersion: "1",
    generation: 1,
    creationTimestamp: "2026-01-01T00:00:00Z",
  };
  return { apiVersion: API_VERSION, kind, metadata: { ...metadata, ...more }, spec };
};

export const config = (at = "shop/repo", spec: JsonObject = {}, more: JsonObject = {}): KubeObject =>
  made("GitRepoConfig", at, { repoUrl: "https://git.example.com/live.git", branch: "main", ...spec }, more);

export const destination = (at = "shop/prod", spec: JsonObject = {}, more: JsonObject = {}): KubeObject =>
  made("GitDestination", at, { repoRef: { name: "repo" }, branch: "main", baseFolder: "prod", ...spec }, more);

export const watchRule = (at = "shop/all", spec: JsonObject = {}): KubeObject =>
  made("WatchRule", at, { destinationRef: { name: "prod" }, rules: [{ resources: ["configmaps"] }], ...spec });

export const clusterWatchRule = (at = "all", spec: JsonObject = {}): KubeObject =>
  made("ClusterWatchRule", at, {
    destinationRef: { name: "prod", namespace: "shop" },
    rules: [{ resources: ["configmaps"], scope: "Namespaced" }],
    ...spec,
  });

const served = (group: string, plural: string, namespaced = true): ServedResource => ({
  group,
  plural,
  kind: plural,
  namespaced,
  versions: ["v1"],
});

const SERVED = [served("", "configmaps"), served("coordination.k8s.io", "leases"), served("", "namespaces", false)];

const isOf = (kind: Kind, object: unknown): object is KubeObject => isObject(object) && object["kind"] === kind;

export const cluster = (...objects: readonly unknown[]): ClusterState => ({
  objects: {
    GitRepoConfig: objects.filter((one) => isOf("GitRepoConfig", one)),
    GitDestination: objects.filter((one) => isOf("GitDestination", one)),
    WatchRule: objects.filter((one) => isOf("WatchRule", one)),
    ClusterWatchRule: objects.filter((one) => isOf("ClusterWatchRule", one)),
  },
  namespaceLabels: new Map([
    ["shop", { team: "shop" }],
    ["bank", { team: "bank" }],
  ]),
  served: SERVED,
  gone: new Set(),
  watched: undefined,
});
