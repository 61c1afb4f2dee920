// References of blueprints and ActionSets to objects: Kanister's ObjectReference.
import { described, excerpt, optional, string, type TypeOf } from "@janus/api/codec";

/** kanctl writes all fields, empty ones as "". For custom resources `apiVersion` is only the version. */
export const ObjectReference = excerpt({
  apiVersion: optional(described("The version, such as v1: without the group.", string())),
  group: optional(described("The API group, such as apps; empty for that of Pods.", string())),
  resource: optional(described("The plural of the kind, such as deployments.", string())),
  kind: optional(
    described("The kind, such as statefulset, deployment, pvc or namespace, in place of the first three.", string()),
  ),
  name: optional(described("Its name.", string())),
  namespace: optional(described("Its namespace, if it has one.", string())),
});
export type ObjectReference = TypeOf<typeof ObjectReference>;

/** Tells that a field has a value: Kanister writes those that nobody gave as empty. */
export const isGiven = (text: string | undefined): text is string => text !== undefined && text !== "";
