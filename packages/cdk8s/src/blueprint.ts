// The construct of a Blueprint: actions whose phases are typed functions.
import { blueprintFindings, GROUP, inputProblemsOf, VERSION } from "@janus/blueprints/authoring";
import { ApiObject, type ApiObjectMetadata } from "cdk8s";
import { Construct } from "constructs";
import type { Artifact } from "./artifact.ts";
import type { Phase } from "./phase.ts";

export interface BlueprintActionProps {
  /**
   * The kind of the object that it is for, such as `StatefulSet`.
   *
   * @default - any
   */
  readonly kind?: string;
  /** Executed in order. */
  readonly phases: readonly Phase[];
  /**
   * Executed in the end, whether the phases have succeeded or not.
   *
   * @default - none
   */
  readonly deferPhase?: Phase;
  /**
   * Whether what `KubeOps` and `ScaleWorkload` have changed is rolled back when the ActionSet fails. Needs the controller of Transactions.
   *
   * @default false
   */
  readonly atomic?: boolean;
  /** @default - none */
  readonly outputArtifacts?: readonly Artifact[];
  /**
   * Those that an ActionSet must give.
   *
   * @default - none
   */
  readonly inputArtifacts?: readonly Artifact[];
  /**
   * Secrets that an ActionSet must name, by the names that templates have for them.
   *
   * @default - none
   */
  readonly secretNames?: readonly string[];
  /**
   * ConfigMaps that an ActionSet must name.
   *
   * @default - none
   */
  readonly configMapNames?: readonly string[];
}

export interface BlueprintProps {
  readonly actions: Readonly<Record<string, BlueprintActionProps>>;
  /** @default - a name from its path, namespace and labels of the chart */
  readonly metadata?: ApiObjectMetadata;
}

/** As it is printed. */
const manifestOf = ({
  phases,
  deferPhase,
  outputArtifacts,
  inputArtifacts,
  ...rest
}: BlueprintActionProps): Readonly<Record<string, unknown>> => ({
  ...rest,
  ...(inputArtifacts === undefined ? {} : { inputArtifactNames: inputArtifacts.map(({ name }) => name) }),
  ...(outputArtifacts === undefined
    ? {}
    : { outputArtifacts: Object.fromEntries(outputArtifacts.map(({ name, keyValue }) => [name, { keyValue }])) }),
  phases: phases.map(({ manifest }) => manifest),
  ...(deferPhase === undefined ? {} : { deferPhase: deferPhase.manifest }),
});

/**
 * What can be done to an application, such as a backup: for each action, phases in their order.
 *
 * What the controller would refuse is an error of the synthesis, in the same words.
 */
export class Blueprint extends Construct {
  /** The object that is printed. */
  readonly apiObject: ApiObject;

  constructor(scope: Construct, id: string, { actions, metadata }: BlueprintProps) {
    super(scope, id);
    this.apiObject = new ApiObject(this, "Resource", {
      apiVersion: `${GROUP}/${VERSION}`,
      kind: "Blueprint",
      ...(metadata === undefined ? {} : { metadata }),
      actions: Object.fromEntries(Object.entries(actions).map(([name, action]) => [name, manifestOf(action)])),
    });
    this.node.addValidation({ validate: () => [...blueprintFindings(this.apiObject.toJson()).errors] });
  }

  /** What is wrong with an action of an ActionSet that is to run one of these. */
  problemsOf(action: object): readonly string[] {
    return inputProblemsOf(this.apiObject.toJson(), action);
  }

  get name(): string {
    return this.apiObject.name;
  }
}
