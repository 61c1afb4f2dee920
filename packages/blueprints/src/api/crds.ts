// The CustomResourceDefinitions of Kanister's kinds, with the fields of Kanister's own and those of Janus.
import type { JsonObject } from "@janus/types";
import type { Schema } from "@janus/api/codec";
import { ActionSetSpec, ActionSetStatus } from "./action-set.ts";
import { Blueprint } from "./blueprint.ts";
import { actionSets, blueprints, GROUP, profiles, VERSION } from "./names.ts";
import { Profile } from "./profile.ts";

const column = (name: string, jsonPath: string, type = "string", priority?: number): JsonObject => ({
  name,
  type,
  jsonPath,
  ...(priority === undefined ? {} : { priority }),
});

/** The printer columns of Kanister, then the age. */
const columns: readonly JsonObject[] = [
  column("Progress", ".status.progress.percentCompleted"),
  column("SizeDownloadedB", ".status.progress.sizeDownloadedB", "integer", 1),
  column("SizeUploadedB", ".status.progress.sizeUploadedB", "integer", 1),
  column("EstimatedDownloadSizeB", ".status.progress.estimatedDownloadSizeB", "integer", 1),
  column("EstimatedUploadSizeB", ".status.progress.estimatedUploadSizeB", "integer", 1),
  column("Running Phase", ".status.progress.runningPhase"),
  column("Last Transition Time", ".status.progress.lastTransitionTime", "date"),
  column("State", ".status.state"),
  column("Age", ".metadata.creationTimestamp", "date"),
];

const definition = (
  { kind, plural }: { readonly kind: string; readonly plural: string },
  schema: JsonObject,
  more: JsonObject = {},
): JsonObject => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${plural}.${GROUP}` },
  spec: {
    group: GROUP,
    scope: "Namespaced",
    names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() },
    versions: [{ name: VERSION, served: true, storage: true, ...more, schema: { openAPIV3Schema: schema } }],
  },
});

const withMeta = ({ properties = {} }: Schema): JsonObject => ({
  type: "object",
  properties: {
    apiVersion: { type: "string" },
    kind: { type: "string" },
    metadata: { type: "object" },
    ...(properties as JsonObject),
  },
});

/**
 * CRDs that accept all that Kanister's accept. Like these, they have no status subresource: an ActionSet that is restored from a
 * backup with its status does not run again.
 */
export const kanisterCrds: readonly JsonObject[] = [
  definition(blueprints, withMeta(Blueprint.schema)),
  definition(
    actionSets,
    {
      type: "object",
      properties: {
        apiVersion: { type: "string" },
        kind: { type: "string" },
        metadata: { type: "object" },
        spec: ActionSetSpec.schema,
        status: ActionSetStatus.schema,
      },
    },
    { additionalPrinterColumns: columns },
  ),
  definition(profiles, withMeta(Profile.schema)),
];
