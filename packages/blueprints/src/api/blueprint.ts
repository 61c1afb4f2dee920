// The codec of a Blueprint: actions, their phases and their artifacts. Accepts all that Kanister's CRD accepts.
import {
  boolean,
  described,
  excerpt,
  integer,
  list,
  openObject,
  optional,
  string,
  strings,
  type TypeOf,
} from "@janus/api/codec";
import { mapOf } from "./map-of.ts";
import { ObjectReference } from "./object-reference.ts";

const texts = list(string(), { atomic: true });

export const Artifact = excerpt({
  keyValue: optional(described("Texts by their names.", strings)),
  kopiaSnapshot: optional(described("A snapshot of kopia: a text for templates.", string())),
});
export type Artifact = TypeOf<typeof Artifact>;

const Retry = excerpt({
  limit: optional(described("How often it is executed again after a failure, at most 100.", integer)),
  backoff: optional(
    described("The pause before the first of them, as a duration of Go; doubled each time. Default: 10s.", string()),
  ),
  maxBackoff: optional(described("The longest pause, as a duration of Go. Default: 5m.", string())),
});

export const BlueprintPhase = excerpt({
  func: optional(described("The function, such as KubeTask.", string())),
  name: optional(described("Its name, in templates and in the status.", string())),
  objects: optional(
    described("Secrets and ConfigMaps that the phase reads, for .Phases.<name>.Secrets.", mapOf(ObjectReference)),
  ),
  args: optional(described("The arguments of the function. Each string is a template.", openObject({}))),
  timeout: optional(described("How long one attempt may take, as a duration of Go. Default: no bound.", string())),
  retry: optional(described("Executes it again when it has failed. Default: not.", Retry)),
  onInterrupted: optional(
    described(
      "Fail or Rerun: what happens when nobody can tell whether the phase has done its work, since the controller ended while its command ran, or its Pod was deleted. Default: Fail; of a deferPhase: Rerun.",
      string(),
    ),
  ),
});
export type BlueprintPhase = TypeOf<typeof BlueprintPhase>;

export const BlueprintAction = excerpt({
  name: optional(described("It has no effect: the name is that in actions.", string())),
  kind: optional(described("The kind of the object that the action is for, such as StatefulSet.", string())),
  configMapNames: optional(described("ConfigMaps that an ActionSet must name.", texts)),
  secretNames: optional(described("Secrets that an ActionSet must name.", texts)),
  inputArtifactNames: optional(described("Artifacts that an ActionSet must give.", texts)),
  outputArtifacts: optional(described("Templates of what the action produces.", mapOf(Artifact))),
  phases: optional(described("Executed in order.", list(BlueprintPhase, { atomic: true }))),
  deferPhase: optional(described("Executed in the end, whether the phases have succeeded or not.", BlueprintPhase)),
  atomic: optional(
    described(
      "Whether what its phases KubeOps and ScaleWorkload have changed is rolled back when the ActionSet fails: each of them is a Transaction, which needs the controller of Transactions. Default: false.",
      boolean,
    ),
  ),
});
export type BlueprintAction = TypeOf<typeof BlueprintAction>;

/** A Blueprint has no spec. */
export const Blueprint = excerpt({
  actions: optional(described("The actions by their names, such as backup.", mapOf(BlueprintAction))),
});
export type Blueprint = TypeOf<typeof Blueprint>;

/** Tells whether a phase is rolled back when the ActionSet fails, as far as its function can be. A deferPhase never is. */
export const isAtomic = ({ atomic, deferPhase }: BlueprintAction, phase: BlueprintPhase): boolean =>
  atomic === true && phase !== deferPhase;

/** The phases in their order, the deferPhase last. */
export const phasesOf = ({ phases = [], deferPhase }: BlueprintAction): readonly BlueprintPhase[] =>
  deferPhase === undefined ? phases : [...phases, deferPhase];
