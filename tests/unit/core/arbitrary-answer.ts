import { fieldManager, holderIdentity } from "@janus/api";
import * as fc from "fast-check";
import type { ApiError, Json, KubeObject } from "@janus/types";
import { seldom, word } from "./arbitrary-transaction.ts";
import { UID } from "./transaction.ts";

/** Any object that a target, a lock or a store may turn out to be. */
export const arbitraryObject: fc.Arbitrary<KubeObject> = fc
  .record({
    uid: word,
    resourceVersion: word,
    marked: fc.boolean(),
    ours: fc.boolean(),
    going: fc.boolean(),
    data: fc.constantFrom<Json>({ a: "1" }, { a: "2", b: "1" }, {}, null),
    spec: fc.constantFrom<Json>(
      {},
      { holderIdentity: holderIdentity({ namespace: "shop", name: "deploy-v2", uid: UID }), leaseDurationSeconds: 300 },
      { holderIdentity: "shop/other/9f1c6f0e-2f6b-4c3e-9d3a-0d8a5b1c7e42", leaseDurationSeconds: 300 },
      { holderIdentity: "somebody", leaseDurationSeconds: 15 },
      { holderIdentity: "" },
      { clusterIP: "10.0.0.1", ports: [{ port: 80, nodePort: 30_000 }] },
    ),
    status: fc.constantFrom<Json>({ phase: "Committed" }, { phase: "Committing" }, { allowed: true }, {}),
    owned: seldom,
  })
  .map(({ uid, resourceVersion, marked, ours, going, data, spec, status, owned }) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      name: "x",
      namespace: "shop",
      uid,
      resourceVersion,
      ...(marked
        ? {
            managedFields: [
              {
                manager: fieldManager({ name: "deploy-v2", uid: UID }),
                operation: "Update" as const,
                fieldsV1: { "f:data": { "f:a": {} } },
              },
            ],
          }
        : {}),
      ...(ours ? { labels: { "janus.io/transaction-uid": UID } } : {}),
      ...(going ? { deletionTimestamp: "2026-01-01T12:00:00Z", finalizers: ["x/y"] } : {}),
      ...(owned ? { ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "x", uid: "2" }] } : {}),
    },
    data,
    spec,
    status,
  }));

const refused = (code: number, message: string): ApiError => ({
  type: "refused",
  code,
  reason: code === 409 ? "AlreadyExists" : "",
  message,
  causes: [],
});

export const arbitraryFault: fc.Arbitrary<ApiError> = fc.oneof(
  fc.constantFrom(403, 404, 409, 422, 400, 429, 500, 504).map((code) => refused(code, `refused with ${code}`)),
  fc.constantFrom("object" as const, "other" as const, "path" as const).map((notFound) => ({
    ...refused(404, "not found"),
    notFound,
  })),
  fc.constant(refused(422, "provided IP is already allocated")),
  fc.constant(refused(500, "etcdserver: request is too large")),
  fc
    .constantFrom("deadline" as const, "never-sent" as const)
    .map((cause) => ({ type: "unanswered" as const, cause, message: "no answer" })),
);
