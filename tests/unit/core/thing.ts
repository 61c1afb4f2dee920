import { type ResolvedChange, fieldManager } from "@janus/api";
import type { JsonObject, KubeObject } from "@janus/types";
import type { ObjectRef } from "../../../packages/controller/src/core/kubernetes/kube-object.ts";

/** The Transaction whose changes these are. */
export const author = { name: "deploy-v2", uid: "u-txn" };
export const manager = fieldManager(author);
/** Of the made-up kind that `thing-server.ts` knows. */
export const place: ObjectRef = {
  resource: { group: "", version: "v1", plural: "things", kind: "Thing", namespaced: true, statusSubresource: true },
  namespace: "shop",
  name: "thing",
};
/** Of one whose status is part of the object. */
export const plain: ObjectRef = { ...place, resource: { ...place.resource, statusSubresource: false } };

export const thing = (fields: JsonObject): KubeObject => ({
  ...fields,
  apiVersion: "v1",
  kind: "Thing",
  metadata: { ...(fields["metadata"] as object | undefined), name: "thing", uid: "o-1", resourceVersion: "1" },
});

export interface Edit {
  readonly type: "Patch" | "Update";
  readonly content: JsonObject;
}

export const wish = ({ type, content }: Edit): ResolvedChange => ({
  type,
  content,
  target: { apiVersion: "v1", kind: "Thing", name: "thing" },
});

export const patch = (content: JsonObject): Edit => ({ type: "Patch", content });
export const update = (content: JsonObject): Edit => ({ type: "Update", content });
