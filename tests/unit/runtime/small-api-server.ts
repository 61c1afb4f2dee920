// An API server of a few objects, for the tests of the runtime: gets, lists, watches, creations, merge patches of metadata.
import type { Api, ApiError, KubeObject, ObjectMeta, Request, WatchEvent } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";

export const refused = (code: number, reason: string): ApiError => ({
  type: "refused",
  code,
  reason,
  message: `${code} ${reason}`,
  causes: [],
  ...(code === 404 ? { notFound: "object" } : {}),
});

export interface SmallApiServer {
  readonly api: Api;
  readonly sent: readonly Request[];
  /** Stores it as it is, and tells those that watch. */
  readonly put: (object: KubeObject) => void;
  readonly remove: (object: KubeObject) => void;
  /** Tells those that watch that it is gone, as it does when a label is removed that they select; it can still be read. */
  readonly deselect: (object: KubeObject) => void;
  readonly read: (kind: string, name: string) => KubeObject | undefined;
}

interface Place {
  readonly kind: string;
  /** Undefined: all. */
  readonly namespace: string | undefined;
}

const isIn = ({ kind, namespace }: Place, object: KubeObject): boolean =>
  object.kind === kind && (namespace === undefined || object.metadata.namespace === namespace);

const keyOf = ({ kind, metadata }: KubeObject): string => `${kind}/${metadata.name}`;

/** @param fails which requests are answered with an error */
export const smallApiServer = (fails: (request: Request) => ApiError | undefined = () => undefined): SmallApiServer => {
  const objects = new Map<string, KubeObject>();
  const sent: Request[] = [];
  const watching = new Set<{ readonly place: Place; readonly tell: (event: WatchEvent) => void }>();
  let version = 0;
  const tell = (type: "ADDED" | "MODIFIED" | "DELETED", object: KubeObject): void => {
    for (const one of watching) if (isIn(one.place, object)) one.tell({ type, object });
  };
  const put = (object: KubeObject): KubeObject => {
    version += 1;
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: `${version}` } };
    const type = objects.has(keyOf(object)) ? "MODIFIED" : "ADDED";
    objects.set(keyOf(object), stored);
    tell(type, stored);
    return stored;
  };
  const deselect = (object: KubeObject): void => {
    version += 1;
    tell("DELETED", { ...object, metadata: { ...object.metadata, resourceVersion: `${version}` } });
  };
  const answer = (request: Request): E.Either<ApiError, KubeObject> => {
    if (request.verb === "raw") return E.left(refused(404, "NotFound"));
    const { kind } = request.resource;
    if (request.verb === "list") {
      const items = [...objects.values()].filter((object) => isIn({ kind, namespace: request.namespace }, object));
      return E.right({ apiVersion: "v1", kind: "List", metadata: { resourceVersion: `${version}` }, items });
    }
    if (request.verb === "create") return E.right(put(request.body as KubeObject));
    const former = objects.get(`${kind}/${request.name}`);
    if (former === undefined) return E.left(refused(404, "NotFound"));
    if (request.verb !== "mergePatch") return E.right(former);
    const { labels } = (request.body as { readonly metadata?: ObjectMeta }).metadata ?? {};
    return E.right(put({ ...former, metadata: { ...former.metadata, ...(labels && { labels }) } }));
  };
  return {
    sent,
    put,
    remove: (object) => {
      objects.delete(keyOf(object));
      deselect(object);
    },
    deselect,
    read: (kind, name) => objects.get(`${kind}/${name}`),
    api: {
      send: (request) => {
        sent.push(request);
        const error = fails(request);
        return Promise.resolve(error === undefined ? answer(request) : E.left(error));
      },
      watch: async function* ({ resource: { kind }, namespace }, signal) {
        const events: WatchEvent[] = [];
        let next = Promise.withResolvers<void>();
        const watch = {
          place: { kind, namespace },
          tell: (event: WatchEvent) => {
            events.push(event);
            next.resolve();
          },
        };
        watching.add(watch);
        signal.addEventListener("abort", () => next.resolve());
        while (!signal.aborted) {
          for (const event of events.splice(0)) yield E.right(event);
          if (events.length === 0) await next.promise;
          next = Promise.withResolvers();
        }
        watching.delete(watch);
      },
    },
  };
};
