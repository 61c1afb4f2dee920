// The codec of the metadata that the controller reads of objects of its kinds.
import { excerpt, integer, optional, string, type TypeOf } from "@janus/api/codec";

export const Metadata = excerpt({
  name: string(),
  namespace: optional(string()),
  uid: string(),
  resourceVersion: string(),
  creationTimestamp: string(),
  generation: optional(integer),
  deletionTimestamp: optional(string()),
});
export type Metadata = TypeOf<typeof Metadata>;
