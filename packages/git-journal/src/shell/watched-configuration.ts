// Watches all that the configuration follows from: objects of the four kinds, namespaces, and what the API server serves.
import type { Api, Resource } from "@janus/kube";
import {
  type Log,
  type ReflectedStore,
  reflectNamespaces,
  reportWatchFailure,
  type Watchdog,
} from "@janus/runtime/parts";
import type { KubeObject } from "@janus/types";
import { clusterWatchRules, gitDestinations, gitRepoConfigs, watchRules } from "../api/names.ts";
import { type Kind, KINDS, objectId, objectKey } from "../core/configured.ts";
import { certainlyGone, resourceKey } from "../core/discovery.ts";
import {
  installedOf,
  isBehind,
  isNews,
  keptApiService,
  keptDefinition,
  keptNamespace,
  keptObject,
  labelsOf,
} from "../core/watched-objects.ts";
import type { ClusterState } from "../core/wanted.ts";
import { type ServedNow, startDiscovery } from "./served-resources.ts";

export const RESOURCES: Readonly<Record<Kind, Resource>> = {
  GitRepoConfig: gitRepoConfigs,
  GitDestination: gitDestinations,
  WatchRule: watchRules,
  ClusterWatchRule: clusterWatchRules,
};

const ofCluster = (group: string, plural: string, kind: string): Resource => ({
  group,
  version: "v1",
  plural,
  kind,
  namespaced: false,
  statusSubresource: true,
});

const NAMESPACES = ofCluster("", "namespaces", "Namespace");
const DEFINITIONS = ofCluster("apiextensions.k8s.io", "customresourcedefinitions", "CustomResourceDefinition");
const API_SERVICES = ofCluster("apiregistration.k8s.io", "apiservices", "APIService");

export interface WatchingOptions {
  readonly log: Log;
  readonly watchdog: Watchdog;
  /** The namespaces whose objects count, with the ClusterWatchRules that refer to them. Default: all. */
  readonly namespaces?: readonly string[];
  /** The pause between two discoveries, in ms. */
  readonly discoveryRefresh: number;
  readonly onDiscoveryError: () => void;
  /** Called when something else may follow from the configuration than before. */
  readonly onNews: () => void;
  /** Told of each object of the four kinds that was seen, maybe with nothing new but its status. */
  readonly onSeen: (id: string) => void;
}

export interface WatchedConfiguration {
  /** The state; undefined until all was listed, and the API server has said what it serves. */
  readonly state: () => ClusterState | undefined;
  /** Returns an object as it was last seen. */
  readonly object: (kind: Kind, key: string) => KubeObject | undefined;
  readonly stop: () => Promise<void>;
}

/** Whether a ClusterWatchRule refers to one of these namespaces. */
const refersTo =
  (namespaces: readonly string[]) =>
  ({ spec }: KubeObject): boolean => {
    const { destinationRef, gitRepoConfigRef } = Object(spec) as Record<
      string,
      { readonly namespace?: string } | undefined
    >;
    return namespaces.includes((destinationRef ?? gitRepoConfigRef)?.namespace ?? "");
  };

export const watchConfiguration = (
  api: Api,
  { log, watchdog, namespaces, discoveryRefresh, onDiscoveryError, onNews, onSeen }: WatchingOptions,
): WatchedConfiguration => {
  const aborted = new AbortController();
  const isMeant = namespaces === undefined ? () => true : refersTo(namespaces);
  let served: ServedNow | undefined;
  /** Names of definitions that were there, and are served until discovery says otherwise. */
  const removed = new Set<string>();

  const watch = (
    resource: Resource,
    keep: (object: KubeObject) => KubeObject,
    onChange: (object: KubeObject, change: "news" | "same" | "deleted") => void,
  ) => {
    const seen = new Map<string, KubeObject>();
    const progress = { isSynced: false };
    const reflected: ReflectedStore = reflectNamespaces(
      api,
      { resource, ...(namespaces === undefined ? {} : { namespaces }) },
      {
        signal: aborted.signal,
        keep,
        watchdog,
        loop: `watch of ${resource.plural}`,
        onError: reportWatchFailure(log, `${resource.kind}s`, resource),
        onEvent: (event) => {
          if (event.type === "synced") return;
          const { object } = event;
          const key = objectKey(object);
          const before = seen.get(key);
          if (event.type === "deleted") seen.delete(key);
          else seen.set(key, object);
          onChange(object, event.type === "deleted" ? "deleted" : isNews(before, object) ? "news" : "same");
        },
      },
    );
    const finish = async (): Promise<void> => {
      await reflected.synced;
      progress.isSynced = true;
      onNews();
    };
    void finish();
    return { store: seen, isSynced: () => progress.isSynced };
  };

  const kinds = Object.fromEntries(
    KINDS.map((kind) => [
      kind,
      watch(RESOURCES[kind], keptObject, (object, change) => {
        if (change !== "same") onNews();
        if (change !== "deleted") onSeen(objectId(kind, objectKey(object)));
      }),
    ]),
  ) as Record<Kind, ReturnType<typeof watch>>;
  const names = watch(NAMESPACES, keptNamespace, (_, change) => {
    if (change !== "same") onNews();
  });
  const definitions = watch(DEFINITIONS, keptDefinition, ({ metadata: { name = "" } }, change) => {
    if (change === "deleted") removed.add(name);
    else removed.delete(name);
    if (change !== "same") changed();
  });
  // The status of an APIService says whether its own server answers.
  const apiServices = watch(API_SERVICES, keptApiService, () => changed());

  const discovery = startDiscovery(api, {
    refresh: discoveryRefresh,
    log,
    onRead: (now) => {
      if (aborted.signal.aborted) return;
      served = now;
      const keys = new Set(now.served.map(resourceKey));
      for (const name of removed) if (!keys.has(name)) removed.delete(name);
      onNews();
    },
    onError: (what, why) => {
      if (aborted.signal.aborted) return;
      onDiscoveryError();
      log("warn", "what the API server serves cannot be read in full; trying again", { path: what, error: why });
    },
    isBehind: (now) => isBehind(now.served, definitions.store, removed),
  });

  function changed(): void {
    onNews();
    // The first list of definitions is no news to the first discovery.
    if (definitions.isSynced() && apiServices.isSynced()) discovery.soon();
  }

  const objectsOf = (kind: Kind): readonly KubeObject[] =>
    [...kinds[kind].store.values()].filter((object) => kind !== "ClusterWatchRule" || isMeant(object));

  return {
    state: () => {
      if (served === undefined || !KINDS.every((kind) => kinds[kind].isSynced()) || !names.isSynced()) return undefined;
      const isInstalledKnown = definitions.isSynced() && apiServices.isSynced();
      return {
        watched: namespaces,
        objects: {
          GitRepoConfig: objectsOf("GitRepoConfig"),
          GitDestination: objectsOf("GitDestination"),
          WatchRule: objectsOf("WatchRule"),
          ClusterWatchRule: objectsOf("ClusterWatchRule"),
        },
        namespaceLabels: labelsOf(names.store),
        served: served.served,
        gone: certainlyGone(
          served.groups,
          isInstalledKnown ? installedOf(definitions.store, apiServices.store) : undefined,
        ),
      };
    },
    object: (kind, key) => kinds[kind].store.get(key),
    stop: async () => {
      aborted.abort();
      await discovery.stop();
    },
  };
};
