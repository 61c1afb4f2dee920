// Turns a manifest into a change: its target, and its content without what the API server sets.
import { type JsonObject, without } from "@janus/types";
import type { ChangeManifest, Manifest, TargetManifest } from "./manifest.ts";

/** The object that a manifest describes. */
export const targetOf = ({ apiVersion, kind, metadata: { name, namespace } }: Manifest): TargetManifest => ({
  apiVersion,
  kind,
  name,
  ...(namespace === undefined ? {} : { namespace }),
});

const OF_TARGET = ["apiVersion", "kind"];
/** Written by controllers only, like the metadata below; `kubectl get -o yaml` prints them. */
const OF_SERVER = ["status"];
const METADATA_OF_TARGET = ["name", "namespace"];
const METADATA_OF_SERVER = [
  "creationTimestamp",
  "generation",
  "managedFields",
  "resourceVersion",
  "selfLink",
  "uid",
  "deletionTimestamp",
];

/** The content of a change: all but what the target says, and what only the API server and controllers set. */
const contentOf = (manifest: Manifest): JsonObject => {
  const metadata = without(manifest.metadata, [...METADATA_OF_TARGET, ...METADATA_OF_SERVER]);
  const fields = without(manifest, [...OF_TARGET, ...OF_SERVER, "metadata"]);
  return { ...(Object.keys(metadata).length === 0 ? {} : { metadata }), ...fields };
};

/** A change that brings a manifest about. Default: Apply, which creates or patches the object. */
export const changeOf = (
  manifest: Manifest,
  type: Exclude<ChangeManifest["type"], "Delete"> = "Apply",
): ChangeManifest => ({ target: targetOf(manifest), type, content: contentOf(manifest) });
