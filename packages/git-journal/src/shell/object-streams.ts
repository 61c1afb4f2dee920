/**
 * Watches the objects of all resources that are selected: one stream for each resource and version, whatever number of branches it
 * serves.
 *
 * An object is in memory only while its file is made; what is kept of it is in the states of the branches.
 */
import type { Api, ApiError, KubeObject, Resource } from "@janus/kube";
import { keyOf, type ReflectedBy, type Reflector, startReflector, type Watchdog } from "@janus/runtime/parts";
import { messageOf } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import type { ObjectFormat } from "../core/blob-id.ts";
import type { BranchEvent, SeenFile } from "../core/branch-event.ts";
import type { SeenChange } from "../core/correlation.ts";
import { resourceKey } from "../core/discovery.ts";
import { fingerprint } from "../core/file-content.ts";
import { type By, UNKNOWN } from "../core/history.ts";
import type { Wanted } from "../core/journaled-branch.ts";
import { identityOf, ingested, type SecretFiles, seenChange } from "../core/kept-object.ts";
import type { Labels } from "../core/label-selector.ts";
import { type FilePath, objectPath } from "../core/path.ts";
import { isTooDeep, sanitised } from "../core/sanitise.ts";
import type { SelectedResource } from "../core/selection.ts";
import { type Marks, movedMarks } from "../core/transactions.ts";
import type { FileTexts } from "./file-texts.ts";
import { inOrder } from "./in-order.ts";

/** A destination that has selected the resource. */
interface Subscriber {
  readonly branch: string;
  readonly destination: string;
  readonly resource: SelectedResource;
  readonly folder: Parameters<typeof objectPath>[0];
  readonly secrets: SecretFiles;
}

export interface StreamsContext {
  readonly api: Api;
  readonly watchdog: Watchdog;
  readonly texts: FileTexts;
  readonly secretFilesOf: (branch: string, destination: string) => SecretFiles;
  readonly formatOf: (branch: string) => ObjectFormat;
  readonly tell: (branch: string, event: BranchEvent) => void;
  /** Finds the author of a change that a watch has shown; another replica may have to tell the request first. */
  readonly authorOf: (change: SeenChange) => By | Promise<By>;
  readonly onScanned: () => void;
  /** Told what was thrown where nothing should have been. */
  readonly onDefect: (error: unknown) => void;
}

export interface ObjectStreams {
  readonly want: (wanted: Wanted) => void;
  /** Reads an object of a destination live; left: it could not be read. */
  readonly read: (
    branch: string,
    at: { readonly destination: string; readonly resource: string; readonly namespace?: string; readonly name: string },
  ) => Promise<E.Either<string, SeenFile | undefined>>;
  /** Finds the objects of files. */
  readonly find: (
    branch: string,
    paths: ReadonlySet<FilePath>,
  ) => ReadonlyMap<
    FilePath,
    { readonly destination: string; readonly resource: string; readonly namespace?: string; readonly name: string }
  >;
  readonly stop: () => void;
}

/** The part of an object that a stream keeps. */
interface Stub extends KubeObject {
  readonly content: string | undefined;
  readonly marks: Marks;
}

const NO_MARKS: Marks = new Map();

const contentOf = (stub: KubeObject | undefined) => {
  const { content, metadata } = (stub ?? { metadata: {} }) as Partial<Stub>;
  const { uid = "", resourceVersion = "" } = metadata ?? {};
  return content === undefined ? undefined : { content, uid, resourceVersion };
};

const marksOf = (stub: KubeObject | undefined): Marks => (stub as Stub | undefined)?.marks ?? NO_MARKS;

/** The content of an object that is no longer selected, but was: its labels may have changed. */
const unselected = (
  object: KubeObject,
  wasSelected: boolean,
): { readonly content: string; readonly uid: string } | undefined =>
  !wasSelected || object.metadata.deletionTimestamp !== undefined || isTooDeep(object)
    ? undefined
    : { content: fingerprint(sanitised(object)), uid: object.metadata.uid ?? "" };

/** Removes nulls from the metadata, which servers of aggregated APIs may write for absent fields. */
const withoutNulls = (object: KubeObject): KubeObject => {
  const fields = Object.entries(object.metadata);
  return fields.every(([, value]) => value !== null)
    ? object
    : { ...object, metadata: Object.fromEntries(fields.filter(([, value]) => value !== null)) };
};

/** The error as `kubectl` names it, with the code of the answer. */
export const because = (error: ApiError): string =>
  error.type === "refused" ? `${error.code} ${messageOf(error)}` : messageOf(error);

const whyNotListed = (error: ApiError): string =>
  error.type === "refused" && error.code === 403
    ? `${because(error)}: give the controller the permission (gitJournal.resources), or take it out of the rule`
    : because(error);

interface Seen {
  readonly before: KubeObject | undefined;
  readonly files: readonly (readonly [branch: string, file: SeenFile])[];
  readonly change: SeenChange | undefined;
}

interface Stream {
  readonly subscribers: readonly Subscriber[];
  readonly reflector: Reflector;
  readonly resource: Resource;
  /** The namespaces of the objects that an unfinished list has brought. */
  readonly listedNamespaces: ReadonlySet<string>;
  readonly abort: () => void;
}

const isSameSubscriber = (a: Subscriber, b: Subscriber): boolean =>
  a.branch === b.branch &&
  a.destination === b.destination &&
  a.folder === b.folder &&
  a.resource.rules.length === b.resource.rules.length &&
  a.resource.rules.every((rule, n) => rule === b.resource.rules[n]) &&
  JSON.stringify(a.secrets.recipients) === JSON.stringify(b.secrets.recipients);

/** Whether changed labels of namespaces select or deselect objects that were seen. */
const isMoved = (
  { subscribers, reflector, listedNamespaces }: Stream,
  before: ReadonlyMap<string, Labels>,
  after: ReadonlyMap<string, Labels>,
): boolean => {
  const rules = subscribers.flatMap(({ resource }) => resource.rules);
  if (rules.every(({ selectsNamespace }) => selectsNamespace === undefined)) return false;
  const moved = [...after].flatMap(([namespace, labels]) => {
    const former = before.get(namespace);
    const isOther = rules.some(
      ({ selectsNamespace }) =>
        selectsNamespace !== undefined &&
        (former !== undefined && selectsNamespace(former)) !== selectsNamespace(labels),
    );
    return former !== labels && isOther ? [namespace] : [];
  });
  const spaces = new Set(moved);
  if (spaces.size === 0) return false;
  if (moved.some((namespace) => listedNamespaces.has(namespace))) return true;
  for (const { metadata } of reflector.store.values()) if (spaces.has(metadata.namespace ?? "")) return true;
  return false;
};

const streamKey = (resource: SelectedResource): string => `${resourceKey(resource)}/${resource.version}`;

export const objectStreams = (context: StreamsContext): ObjectStreams => {
  const { api, watchdog, texts, secretFilesOf, formatOf, tell, authorOf, onScanned, onDefect } = context;
  const streams = new Map<string, Stream>();
  let labels: ReadonlyMap<string, Labels> = new Map();

  const ingest = (subscriber: Subscriber, object: KubeObject): SeenFile => {
    const { resource, folder, secrets, branch, destination } = subscriber;
    const namespaceLabels = labels.get(object.metadata.namespace ?? "");
    const result = ingested(object, { resource, folder, namespaceLabels, secrets, format: formatOf(branch) });
    if (result.type === "kept") texts.put(result.object.fingerprint, result.file);
    const path = objectPath(folder, identityOf(resource, object));
    return {
      destination,
      resource: resourceKey(resource),
      path,
      ingested: result.type === "kept" ? { type: "kept", object: result.object } : result,
    };
  };

  const start = (key: string, subscribers: readonly Subscriber[]): Stream | undefined => {
    const [first] = subscribers;
    if (first === undefined) return undefined;
    const { group, version, plural, kind, namespaced } = first.resource;
    const resource: Resource = { group, version, plural, kind, namespaced, statusSubresource: false };
    const name = resourceKey(resource);
    const abort = new AbortController();
    const loop = watchdog.loop(`watch of ${name}`);
    /** The results of objects that are not told yet. */
    const made = new WeakMap<KubeObject, Seen>();
    let isListed = false;
    const listedNamespaces = new Set<string>();
    const listed: (readonly [branch: string, file: SeenFile])[] = [];
    const current = (): readonly Subscriber[] => streams.get(key)?.subscribers ?? subscribers;
    const branches = (): ReadonlySet<string> => new Set(current().map(({ branch }) => branch));
    const ordered = inOrder();
    const tellAll = (event: BranchEvent): void =>
      ordered(undefined, () => {
        for (const branch of abort.signal.aborted ? [] : branches()) tell(branch, event);
      });
    const tellSeen = (files: Seen["files"], change: SeenChange | undefined): void =>
      ordered(change === undefined ? UNKNOWN : authorOf(change), (by) => {
        for (const [branch, file] of abort.signal.aborted ? [] : files) tell(branch, { type: "seen", file, by });
      });

    /** Spares the files of an object whose processing threw: no object may end the stream. */
    const spared = (object: KubeObject): KubeObject => {
      const { apiVersion, kind, metadata } = object;
      const { namespace, name: own = "", uid = "", resourceVersion = "" } = metadata;
      const place = `${kind} ${namespace === undefined ? "" : `${namespace}/`}${own}`;
      const because = `${place} is left as it is: internal error, see the log`;
      const files = absent(object).map(
        ([branch, file]) => [branch, { ...file, ingested: { type: "spared", path: file.path, because } }] as const,
      );
      const kept = { ...(namespace === undefined ? {} : { namespace }), name: own, uid, resourceVersion };
      const stub: Stub = { apiVersion, kind, metadata: kept, content: undefined, marks: NO_MARKS };
      made.set(stub, { before: undefined, files, change: undefined });
      return stub;
    };

    const keepSafely = (raw: KubeObject, by: ReflectedBy): KubeObject => {
      const object = withoutNulls(raw);
      if (by === "list") listedNamespaces.add(object.metadata.namespace ?? "");
      onScanned();
      try {
        return keep(object, by);
      } catch (error) {
        onDefect(error);
        return spared(object);
      }
    };

    const keep = (object: KubeObject, by: ReflectedBy): KubeObject => {
      const before = by === "watch" ? reflector.store.get(keyOf(object)) : undefined;
      const files = current().map((one) => [one.branch, ingest(one, object)] as const);
      const kept = files.flatMap(([, { ingested: result }]) => (result.type === "kept" ? [result.object] : []))[0];
      const live = kept ?? unselected(object, contentOf(before) !== undefined);
      const { namespace, name: own = "", uid = "", resourceVersion = "" } = object.metadata;
      const stub: Stub = {
        apiVersion: object.apiVersion,
        kind: object.kind,
        metadata: { ...(namespace === undefined ? {} : { namespace }), name: own, uid, resourceVersion },
        content: live?.content,
        marks: kept?.marks ?? NO_MARKS,
      };
      const place = identityOf(first.resource, object);
      const isMarked = kept !== undefined && movedMarks(marksOf(before), kept.marks).length > 0;
      const change =
        by === "list" || isMarked ? undefined : seenChange(place, contentOf(before), live && { kept: live, object });
      made.set(stub, { before, files, change });
      return stub;
    };

    const absent = (stub: KubeObject): Seen["files"] =>
      current().map(({ branch, destination, folder, resource: selected }) => [
        branch,
        {
          destination,
          resource: name,
          path: objectPath(folder, identityOf(selected, stub)),
          ingested: { type: "unselected" },
        },
      ]);

    const reflector = startReflector(
      api,
      { resource },
      {
        signal: abort.signal,
        keep: keepSafely,
        onTurn: loop.heartbeat,
        onError: (error, by) => {
          if (abort.signal.aborted) return;
          if (by === "list") tellAll({ type: "listFailed", resource: name, because: whyNotListed(error) });
          else if (isListed) tellAll({ type: "listing", resource: name, version });
        },
        onEvent: (event) => {
          if (abort.signal.aborted) return;
          if (event.type === "synced") {
            listedNamespaces.clear();
            if (isListed) return tellAll({ type: "complete", resource: name });
            isListed = true;
            const all = listed.splice(0);
            for (const branch of branches())
              tell(branch, {
                type: "listed",
                resource: name,
                version,
                files: all.flatMap(([to, file]) => (to === branch ? [file] : [])),
              });
            return;
          }
          const seen = made.get(event.object);
          made.delete(event.object);
          if (event.type === "deleted") {
            // A watch has brought the object, kept as it was before; a list has not, and nobody knows who deleted it.
            const change =
              seen && seenChange(identityOf(first.resource, event.object), contentOf(seen.before), undefined);
            return tellSeen(absent(event.object), change);
          }
          if (!isListed) {
            listed.push(
              ...(seen?.files.filter(
                ([
                  ,
                  {
                    ingested: { type },
                  },
                ]) => type !== "unselected",
              ) ?? []),
            );
            return;
          }
          tellSeen(seen?.files ?? [], seen?.change);
        },
      },
    );
    void reflector.done.finally(loop.rest);
    tellAll({ type: "listing", resource: name, version });
    return { subscribers, reflector, resource, listedNamespaces, abort: () => abort.abort() };
  };

  const subscriberOf = (
    branch: string,
    at: { readonly destination: string; readonly resource: string },
  ): { readonly subscriber: Subscriber; readonly stream: Stream } | undefined => {
    for (const stream of streams.values()) {
      const subscriber = stream.subscribers.find(
        (one) =>
          one.branch === branch && one.destination === at.destination && resourceKey(one.resource) === at.resource,
      );
      if (subscriber !== undefined) return { subscriber, stream };
    }
    return undefined;
  };

  return {
    want: (wanted) => {
      const subscriptions = new Map<string, Subscriber[]>();
      for (const { key: branch, destinations } of wanted.branches.values())
        for (const { destination, selected, isBlocked } of destinations)
          for (const resource of isBlocked ? [] : selected) {
            const own = subscriptions.get(streamKey(resource)) ?? [];
            const secrets = secretFilesOf(branch, destination.name);
            own.push({ branch, destination: destination.name, resource, folder: destination.folder, secrets });
            subscriptions.set(streamKey(resource), own);
          }
      const before = labels;
      labels = wanted.namespaceLabels;
      for (const [key, stream] of streams)
        if (!subscriptions.has(key)) {
          stream.abort();
          streams.delete(key);
        }
      for (const [key, subscribers] of subscriptions) {
        const stream = streams.get(key);
        const isServed =
          stream !== undefined &&
          subscribers.every((one) => stream.subscribers.some((other) => isSameSubscriber(one, other)));
        if (isServed && !isMoved(stream, before, labels)) {
          streams.set(key, { ...stream, subscribers });
          continue;
        }
        stream?.abort();
        streams.delete(key);
        const started = start(key, subscribers);
        if (started !== undefined) streams.set(key, started);
      }
    },
    read: async (branch, at) => {
      const found = subscriberOf(branch, at);
      if (found === undefined) return E.right(undefined);
      const { subscriber, stream } = found;
      const { name, namespace } = at;
      const answer = await api.send({
        verb: "get",
        resource: stream.resource,
        name,
        ...(namespace === undefined ? {} : { namespace }),
        purpose: "read-object",
      });
      if (E.isRight(answer)) return E.right(ingest(subscriber, answer.right));
      const { left: error } = answer;
      if (error.type !== "refused" || error.notFound !== "object") return E.left(because(error));
      const { group, version, plural } = subscriber.resource;
      const path = objectPath(subscriber.folder, {
        group,
        version,
        resource: plural,
        ...(namespace === undefined ? {} : { namespace }),
        name,
      });
      const { destination, resource } = at;
      return E.right({ destination, resource, path, ingested: { type: "unselected" } });
    },
    find: (branch, paths) => {
      const found = new Map<
        FilePath,
        { readonly destination: string; readonly resource: string; readonly namespace?: string; readonly name: string }
      >();
      for (const { subscribers, reflector } of streams.values())
        for (const { branch: own, destination, folder, resource } of subscribers)
          for (const stub of own === branch ? reflector.store.values() : []) {
            const path = objectPath(folder, identityOf(resource, stub));
            const { namespace, name = "" } = stub.metadata;
            if (paths.has(path))
              found.set(path, {
                destination,
                resource: resourceKey(resource),
                ...(namespace === undefined ? {} : { namespace }),
                name,
              });
          }
      return found;
    },
    stop: () => {
      for (const { abort } of streams.values()) abort();
      streams.clear();
    },
  };
};
