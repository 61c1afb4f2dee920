// The codec of a whole Transaction as the API server stores it.
import * as E from "fp-ts/lib/Either.js";
import { pipe } from "fp-ts/lib/function.js";
import { codec, type Codec, described, integer, optional, string, strings, type TypeOf, withDefault } from "./codec.ts";
import { isObject, type JsonObject } from "@janus/types";
import { API_VERSION, KIND } from "./names.ts";
import { report } from "./report.ts";
import { Spec } from "./spec.ts";
import { emptyStatus, Status } from "./status.ts";
import { excerpt, list, object } from "./structure.ts";

/** The metadata of an object that the API server has stored. https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/object-meta/ */
export const Metadata = excerpt({
  name: string({ minLength: 1 }),
  namespace: string({ minLength: 1 }),
  uid: string({ minLength: 1 }),
  resourceVersion: string({ minLength: 1 }),
  generation: integer,
  creationTimestamp: optional(string()),
  deletionTimestamp: optional(string()),
  finalizers: optional(list(string(), { atomic: true })),
  labels: optional(strings),
  annotations: optional(strings),
  ownerReferences: optional(
    list(excerpt({ apiVersion: string(), kind: string(), name: string(), uid: string() }), { atomic: true }),
  ),
});
export interface Metadata extends TypeOf<typeof Metadata> {}

const fields = object({
  metadata: Metadata,
  spec: described("The changes, and how to apply them. Immutable once it is Published.", Spec),
  status: withDefault(emptyStatus, described("The status of the Transaction; only the controller writes it.", Status)),
});
export interface Transaction extends TypeOf<typeof fields> {}

/** Selects the codec of an object, and is not part of a Transaction. */
const untyped = (stored: unknown): unknown => {
  if (!isObject(stored)) return stored;
  const { apiVersion: _, kind: __, ...rest } = stored;
  return rest;
};

/** A Transaction as the API server stores it. Encodes with its apiVersion and kind. */
export const Transaction: Codec<Transaction> = codec(
  {
    ...fields.schema,
    required: ["spec"],
    properties: { ...(fields.schema["properties"] as JsonObject), metadata: { type: "object" } },
    description:
      "A set of changes to Kubernetes objects that are applied atomically: all are applied, or all are rolled back.",
  },
  (stored, context) => fields.validate(untyped(stored), context),
  (transaction) => ({ apiVersion: API_VERSION, kind: KIND, ...(fields.encode(transaction) as JsonObject) }),
);

/** Left: every error with its path, such as `spec.changes[3].target.name: must not be empty`; never a value. */
export const decodeTransaction = (stored: unknown): E.Either<string, Transaction> =>
  pipe(Transaction.decode(stored), E.mapLeft(report));

/** The status as it is sent to the API server; errors of items are truncated to 256 bytes. */
export const encodeStatus = (status: Status): JsonObject => Status.encode(status) as JsonObject;
