// References of blueprints and ActionSets to objects: Kanister's ObjectReference.
import { excerpt, optional, string, type TypeOf } from "@janus/api/codec";

/** kanctl writes all fields, empty ones as "". For custom resources `apiVersion` is only the version. */
export const ObjectReference = excerpt({
  apiVersion: optional(string()),
  group: optional(string()),
  resource: optional(string()),
  kind: optional(string()),
  name: optional(string()),
  namespace: optional(string()),
});
export type ObjectReference = TypeOf<typeof ObjectReference>;

/** Whether a field has a value: Kanister writes those that nobody gave as empty. */
export const isGiven = (text: string | undefined): text is string => text !== undefined && text !== "";
