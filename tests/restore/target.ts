import { type ResolvedChange, fieldManager } from "@janus/api";
import type { Api, ApiError, KubeObject, ManagedFieldsEntry } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { withServerMutations } from "../../packages/controller/src/core/merge/server-mutations.ts";
import { takeOver, takeOverBody } from "../../packages/controller/src/core/merge/take-over.ts";
import { changeBody, managerOf, recreateBody } from "../../packages/controller/src/core/merge/write-body.ts";
import { showPath } from "../../packages/controller/src/core/merge/show-path.ts";
import { isMarked } from "../../packages/controller/src/core/merge/marks.ts";
import { recreatedOwnership } from "../../packages/controller/src/core/merge/recreated-ownership.ts";
import { restoration } from "../../packages/controller/src/core/merge/restore-update.ts";
import { connection, type Manifest, resourceOf } from "../fixtures/administrator.ts";
import { controlPlane } from "../fixtures/cluster.ts";

const api = connection(controlPlane.kubeconfig);

/** The Transaction whose writes these are. */
const author = { name: "deploy-v2", uid: "6f1f0c0e-7d7e-4d0e-9a59-7d3c5f3c6c11" };
const manager = fieldManager(author);

const must = (answer: E.Either<ApiError, KubeObject>): KubeObject => {
  if (E.isLeft(answer)) throw new Error(answer.left.message);
  return answer.right;
};

export type Fields = Readonly<Record<string, unknown>>;
type Request = Parameters<Api["send"]>[0];

const send = async (request: Request): Promise<KubeObject> => must(await api.send(request));

export interface Restored {
  readonly object: KubeObject;
  readonly puts: number;
  readonly conflicts: readonly string[];
  /** Whether anything of ours is left. */
  readonly isOurs: boolean;
}

/** One object at the API server, everybody who writes it, and a change of ours that is made and taken back. */
export const target = async (manifest: Manifest) => {
  const { apiVersion, kind, metadata } = manifest;
  const { name, namespace } = metadata;
  const resource = await resourceOf(manifest);
  const within = { resource, ...(namespace === undefined ? {} : { namespace }) };
  const place = { ...within, name };
  const identity = { apiVersion, kind };
  const whole = (fields: Fields): Fields => ({
    ...fields,
    ...identity,
    metadata: {
      ...(fields["metadata"] as Fields | undefined),
      ...(namespace === undefined ? {} : { namespace }),
      name,
    },
  });

  const read = () => send({ verb: "get", ...place });

  /** A write from what is there now; if a controller has just moved it, from what is there then. */
  const insist = async (write: (object: KubeObject) => Request) => {
    for (;;) {
      const from = await read();
      const answer = await api.send(write(from));
      if (!(E.isLeft(answer) && answer.left.type === "refused" && answer.left.code === 409))
        return { from, made: must(answer) };
    }
  };

  const update = (body: object) => ({ verb: "update" as const, ...place, body, fieldManager: manager });

  /** PUT after PUT, until there is nothing more to do. */
  const restore = async (wish: ResolvedChange, before: KubeObject): Promise<Restored> => {
    let goal = before;
    for (let puts = 0; ; puts += 1) {
      const object = await read();
      const { put, conflicts } = restoration(wish, place, goal, object, author);
      if (put === undefined || puts > 5)
        return { object, puts, conflicts: conflicts.map(showPath), isOurs: isMarked(object, author.uid) };
      const bodyFor = (live: KubeObject) => restoration(wish, place, goal, live, author).put ?? live;
      const { from, made } = await insist((live) => update(bodyFor(live)));
      goal = withServerMutations(goal, bodyFor(from), made, place);
    }
  };

  const change = async (type: "Patch" | "Update" | "Apply", content: Fields) => {
    const target = { ...identity, name };
    const wish = (
      type === "Apply" ? { type: "Patch", isApply: true, content, target } : { type, content, target }
    ) as ResolvedChange;
    const { from: before, made: changed } = await insist((live) => {
      const over = takeOver(wish, place, live);
      if (over !== undefined)
        return { ...update(takeOverBody(wish, place, live, author, over)), fieldManager: managerOf(wish, author) };
      const body = changeBody(wish, place, live, author);
      return type === "Update"
        ? update(body)
        : { verb: "apply", ...place, body, fieldManager: managerOf(wish, author), force: true };
    });
    return { before, changed, restore: () => restore(wish, before) };
  };

  return {
    read,
    change,
    isOurs: (object: KubeObject) => isMarked(object, author.uid),
    create: (by: string, fields: Fields = manifest) =>
      send({ verb: "create", ...within, body: whole(fields), fieldManager: by }),
    /** What a GitOps tool does; a conflict ends the test unless forced. */
    apply: (by: string, fields: Fields, force = false) =>
      send({ verb: "apply", ...place, body: whole(fields), fieldManager: by, force }),
    /** What `kubectl edit` and controllers do. */
    edit: (by: string, fields: object, subresource?: "status" | "scale") =>
      send({
        verb: "mergePatch",
        ...place,
        body: fields,
        fieldManager: by,
        ...(subresource === undefined ? {} : { subresource }),
      }),
    /** Deleted by us, and created again with all that belongs to it. */
    recreate: async () => {
      const before = await read();
      await send({ verb: "delete", ...place, propagationPolicy: "Background" });
      const body = recreateBody(before, place, author, []);
      const made = await send({ verb: "create", ...within, body, fieldManager: manager });
      const { made: object } = await insist((live) =>
        update({
          ...live,
          metadata: { ...live.metadata, managedFields: recreatedOwnership(before, live, author.uid) },
        }),
      );
      return { before, wasMarked: isMarked(made, author.uid), isOurs: isMarked(object, author.uid), object };
    },
  };
};

/** The order of entries means nothing, and the API server changes it. */
const ordered = (entries: readonly ManagedFieldsEntry[] = []): readonly ManagedFieldsEntry[] =>
  entries.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

/** All of an object but what every write changes. */
export const lasting = ({ metadata, ...rest }: KubeObject) => {
  const { resourceVersion: _, generation: __, uid: ___, creationTimestamp: ____, managedFields, ...kept } = metadata;
  return { ...rest, metadata: { ...kept, managedFields: ordered(managedFields) } };
};

/** Who owns what, without those that write the status. */
export const owners = ({ metadata }: KubeObject): readonly ManagedFieldsEntry[] =>
  ordered((metadata.managedFields ?? []).filter(({ subresource }) => subresource !== "status"));
