// The codec of a Blueprint: actions, their phases and their artifacts. Accepts all that Kanister's CRD accepts.
import { described, excerpt, list, openObject, optional, string, strings, type TypeOf } from "@janus/api/codec";
import { mapOf } from "./map-of.ts";
import { ObjectReference } from "./object-reference.ts";

const texts = list(string(), { atomic: true });

export const Artifact = excerpt({ keyValue: optional(strings), kopiaSnapshot: optional(string()) });
export type Artifact = TypeOf<typeof Artifact>;

export const BlueprintPhase = excerpt({
  func: optional(described("The function, such as KubeTask.", string())),
  name: optional(string()),
  objects: optional(
    described("Secrets and ConfigMaps that the phase reads, for .Phases.<name>.Secrets.", mapOf(ObjectReference)),
  ),
  args: optional(described("The arguments of the function. Each string is a template.", openObject({}))),
});
export type BlueprintPhase = TypeOf<typeof BlueprintPhase>;

export const BlueprintAction = excerpt({
  name: optional(string()),
  kind: optional(described("The kind of the object that the action is for, such as StatefulSet.", string())),
  configMapNames: optional(described("ConfigMaps that an ActionSet must name.", texts)),
  secretNames: optional(described("Secrets that an ActionSet must name.", texts)),
  inputArtifactNames: optional(described("Artifacts that an ActionSet must give.", texts)),
  outputArtifacts: optional(described("Templates of what the action produces.", mapOf(Artifact))),
  phases: optional(described("Executed in order.", list(BlueprintPhase, { atomic: true }))),
  deferPhase: optional(described("Executed in the end, whether the phases have succeeded or not.", BlueprintPhase)),
});
export type BlueprintAction = TypeOf<typeof BlueprintAction>;

/** A Blueprint has no spec. */
export const Blueprint = excerpt({ actions: optional(mapOf(BlueprintAction)) });
export type Blueprint = TypeOf<typeof Blueprint>;
