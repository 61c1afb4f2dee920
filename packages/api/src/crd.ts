// The CustomResourceDefinition of Transaction: printer columns, subresource and schema.
import type { JsonObject } from "@janus/types";
import { GROUP, KIND, PLURAL, VERSION } from "./names.ts";
import { Transaction } from "./transaction.ts";

/** Columns without a priority fit 80 columns beside a name of 30 characters; `-o wide` has all, and the longest last. */
const columns: readonly JsonObject[] = [
  { name: "Phase", type: "string", jsonPath: ".status.phase" },
  {
    name: "Progress",
    type: "string",
    jsonPath: ".status.progress",
    description: "Number of applied changes whose gates are met, of all.",
  },
  {
    name: "Lifecycle",
    type: "string",
    jsonPath: ".spec.lifecycle",
    description: "Draft, Proposed or Published: only a published one is executed.",
  },
  { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  {
    name: "ServiceAccount",
    type: "string",
    jsonPath: ".spec.serviceAccountName",
    description: "ServiceAccount that applies the changes.",
    priority: 1,
  },
  {
    name: "ReversibleUntil",
    type: "string",
    jsonPath: ".status.reversibleUntil",
    description: "Until when it can be rolled back on request, of a Committed Transaction with a rollbackWindow.",
    priority: 1,
  },
  {
    name: "Message",
    type: "string",
    jsonPath: ".status.conditions[?(@.type=='Ready')].message",
    description: "Status message.",
    priority: 1,
  },
];

/** The name of the CustomResourceDefinition of Transaction. */
export const CRD_NAME = `${PLURAL}.${GROUP}`;

/** The CustomResourceDefinition of Transaction, as an object. */
export const transactionCrd: JsonObject = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: CRD_NAME },
  spec: {
    group: GROUP,
    scope: "Namespaced",
    names: { kind: KIND, listKind: `${KIND}List`, plural: PLURAL, singular: KIND.toLowerCase(), shortNames: ["txn"] },
    versions: [
      {
        name: VERSION,
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: columns,
        // https://kubernetes.io/docs/concepts/overview/working-with-objects/field-selectors/#list-of-supported-fields
        selectableFields: [{ jsonPath: ".status.phase" }, { jsonPath: ".spec.lifecycle" }],
        schema: { openAPIV3Schema: Transaction.schema },
      },
    ],
  },
};
