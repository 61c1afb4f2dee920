// The codec of what the controller reads of objects of its kinds, and of their metadata.
import { type Codec, excerpt, integer, optional, string, type TypeOf } from "@janus/api/codec";

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

/** The codec of objects of the kind with this spec and status. */
export const objectsWith = <S, T>(spec: Codec<S>, status: Codec<T>) =>
  excerpt({ metadata: Metadata, spec, status: optional(status) });
