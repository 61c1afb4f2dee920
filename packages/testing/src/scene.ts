// Builds the model and the Transaction of a simulation from its options.
import { API_VERSION, emptyStatus, encodeStatus, groupOf, KIND, SYSTEM_NAMESPACE, transactions } from "@janus/api";
import { isBuiltInGroup, resourceOf, type TransactionManifest } from "@janus/authoring";
import {
  decoded,
  MOST_CONTENTS,
  namespaces,
  noObservations,
  type ObjectRef,
  serviceAccounts,
  storedContent,
} from "@janus/controller/core";
import { toTimestamp, type JsonObject, type KubeObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { unknownType } from "./api-server/field-type.ts";
import { assumedKind, kindsOf, type ServedKind, servedKind } from "./api-server/served-kinds.ts";
import { nextUid, objectAt, placeKey, stored, versioned, type World } from "./api-server/world.ts";
import type { Scenario } from "./controller/scenario.ts";
import type { State } from "./controller/state.ts";
import { defaultStatus } from "./default-status.ts";
import { withLive } from "./live-objects.ts";
import { editsOf, refusalOf } from "./misfortunes.ts";
import type { ObjectName, SimulateOptions } from "./options.ts";
import type { SimulatedObject } from "./simulation.ts";

const START = Date.parse("2026-01-01T00:00:00Z");
const TRANSACTIONS: ServedKind = { resource: transactions, type: unknownType };
const EMPTY: World = { objects: new Map(), revision: 0 };

/** The content of a change; one that is elsewhere is among the live objects, or missing. */
const contentOf = (
  { content, contentFrom }: TransactionManifest["spec"]["changes"][number],
  live: readonly SimulatedObject[],
): JsonObject => {
  const [kind, ref] =
    contentFrom?.secretKeyRef === undefined
      ? ["ConfigMap", contentFrom?.configMapKeyRef]
      : ["Secret", contentFrom.secretKeyRef];
  const object = live.find((one) => one.kind === kind && one.metadata.name === ref?.name);
  if (object === undefined || ref === undefined) return content ?? {};
  const stored = storedContent(object, ref.key, MOST_CONTENTS).content;
  return E.isRight(stored) ? stored.right : {};
};

/** The kinds of CustomResourceDefinitions that the Transaction makes. */
const kindsMade = ({ spec }: TransactionManifest, live: readonly SimulatedObject[]): readonly ServedKind[] =>
  spec.changes.flatMap((change) =>
    change.target.kind === "CustomResourceDefinition" ? kindsOf(contentOf(change, live)) : [],
  );

/** Custom kinds that no CustomResourceDefinition among the objects or the changes describes. */
const assumedKinds = (
  made: readonly ServedKind[],
  named: readonly { readonly apiVersion: string; readonly kind: string }[],
): readonly ServedKind[] => {
  const defined = new Set(made.map(({ resource: { group, kind } }) => `${group} ${kind}`));
  return named
    .filter(({ apiVersion, kind }) => !isBuiltInGroup(apiVersion) && !defined.has(`${groupOf(apiVersion)} ${kind}`))
    .map(({ apiVersion, kind }) => {
      const { plural, namespaced } = resourceOf({ apiVersion, kind, name: "" }, []);
      return assumedKind(apiVersion, kind, plural, namespaced);
    });
};

/** Namespaces that are there though no object says so: all that are named, but those that a change creates or deletes. */
const assumedNamespaces = (
  { spec }: TransactionManifest,
  live: readonly SimulatedObject[],
  own: string,
): ReadonlySet<string> => {
  const targets = new Set(spec.changes.flatMap(({ target }) => (target.kind === "Namespace" ? [target.name] : [])));
  const named = [
    own,
    SYSTEM_NAMESPACE,
    ...spec.changes.flatMap(({ target }) => target.namespace ?? []),
    ...live.flatMap(({ metadata }) => metadata.namespace ?? []),
  ];
  return new Set(named.filter((name) => !targets.has(name)));
};

/** An object that is there unless it is among the live ones. */
const withBystander = (world: World, place: ObjectRef, kind: string): World => {
  if (objectAt(world, place) !== undefined) return world;
  const { name, namespace } = place;
  const metadata = { name, ...(namespace === undefined ? {} : { namespace }), uid: nextUid(world) };
  return stored(world, placeKey(place), versioned(world, { apiVersion: "v1", kind, metadata }));
};

const submitted = (world: World, { metadata, spec }: TransactionManifest, namespace: string, now: number): World => {
  const place = { resource: transactions, namespace, name: metadata.name };
  const object = {
    apiVersion: API_VERSION,
    kind: KIND,
    metadata: {
      ...metadata,
      namespace,
      uid: nextUid(world),
      generation: 1,
      creationTimestamp: toTimestamp(now),
    },
    spec,
    status: encodeStatus(emptyStatus),
  } as unknown as KubeObject;
  return stored(world, placeKey(place), versioned(world, object));
};

/** The surroundings of a Transaction that is about to begin. */
export interface Scene {
  readonly start: State;
  readonly scenario: Scenario;
  /** The live objects of the user, in their order. */
  readonly live: ReadonlyMap<string, KubeObject>;
}

/** They say how the others are merged. */
const isDefinition = ({ kind }: SimulatedObject): boolean => kind === "CustomResourceDefinition";

const nameOf = ({ apiVersion, kind, metadata: { name, namespace } }: SimulatedObject): ObjectName => ({
  apiVersion,
  kind,
  name,
  ...(namespace === undefined ? {} : { namespace }),
});

/** Whether the Transaction waits for the target of this change, made or restored. */
const isGated = ({ spec }: TransactionManifest, item: number): boolean =>
  [...(spec.changes[item]?.waitFor ?? spec.waitFor ?? []), ...(spec.rollbackWaitFor ?? [])].length > 0;

export const sceneOf = (
  manifest: TransactionManifest,
  live: readonly SimulatedObject[],
  { failAt, denied = [], edits = [], ready = () => undefined, notReady = [], now }: SimulateOptions,
): Scene => {
  const { name, namespace = "default" } = manifest.metadata;
  const at = now?.getTime() ?? START;
  const targets = manifest.spec.changes.map(({ target }) => target);
  const made = kindsMade(manifest, live);
  const assumed = assumedKinds(made, [...targets, ...live, ...edits.map(({ target }) => target)]);

  const kindIn = (world: World, { apiVersion, kind }: Pick<ObjectName, "apiVersion" | "kind">): ServedKind => {
    const found = servedKind(world, [...assumed, ...made], apiVersion, kind);
    if (found === undefined) throw new TypeError(`Kubernetes has no kind ${kind} in ${apiVersion}`);
    return found;
  };
  const placeIn = (world: World, target: ObjectName): ObjectRef => {
    const { resource } = kindIn(world, target);
    const within = resource.namespaced ? { namespace: target.namespace ?? namespace } : {};
    return { resource, name: target.name, ...within };
  };
  const initial = [...live.filter(isDefinition), ...live.filter((object) => !isDefinition(object))].reduce(
    (world, object) => withLive(world, object, kindIn(world, object), namespace, at),
    EMPTY,
  );

  const account: ObjectRef = { resource: serviceAccounts, namespace, name: manifest.spec.serviceAccountName };
  const ownNamespace: ObjectRef = { resource: namespaces, name: namespace };
  const bystanders = withBystander(withBystander(initial, account, "ServiceAccount"), ownNamespace, "Namespace");
  const world = submitted(bystanders, manifest, namespace, at);
  const transaction = objectAt(world, { resource: transactions, namespace, name });
  if (transaction === undefined) throw new TypeError(`there is no Transaction ${namespace}/${name}`);

  const never = new Set(notReady.map((target) => placeKey(placeIn(initial, target))));
  const placed = edits.map((edit) => ({
    edit,
    place: placeIn(initial, edit.target),
    kind: kindIn(initial, edit.target),
  }));
  return {
    live: new Map(
      live.flatMap((object) => {
        const key = placeKey(placeIn(initial, nameOf(object)));
        const stored = initial.objects.get(key);
        return stored === undefined ? [] : [[key, stored] as const];
      }),
    ),
    start: {
      world,
      txn: decoded(transaction).txn,
      known: noObservations(at),
      now: at,
      requests: [],
      events: [],
      failures: 0,
    },
    scenario: {
      server: { assumed: [...assumed, TRANSACTIONS], namespaces: assumedNamespaces(manifest, live, namespace) },
      serviceAccount: { name: `system:serviceaccount:${namespace}:${manifest.spec.serviceAccountName}`, denied },
      refusal: refusalOf(failAt),
      before: editsOf(placed, at),
      statusOf: (object, place, item) =>
        isGated(manifest, item) && !never.has(placeKey(place))
          ? (ready(object as unknown as SimulatedObject) ?? defaultStatus(object))
          : undefined,
    },
  };
};
