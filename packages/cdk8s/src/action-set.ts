// The construct of an ActionSet: runs actions of Blueprints on objects.
import { GROUP, objectNamed, VERSION } from "@janus/blueprints/authoring";
import { ApiObject, type ApiObjectMetadata, Lazy } from "cdk8s";
import { Construct, type IConstruct } from "constructs";
import { Blueprint } from "./blueprint.ts";
import { Profile } from "./profile.ts";

/** The name of an object; of a kind that Kanister does not know, with all that says where it is served. */
export interface ActionObject {
  readonly name: string;
  /** @default - that of the ActionSet */
  readonly namespace?: string;
  /** @default - by apiVersion and resource */
  readonly kind?: string;
  /** @default - by kind */
  readonly group?: string;
  /**
   * The version, such as `v1`.
   *
   * @default - by kind
   */
  readonly apiVersion?: string;
  /** @default - by kind */
  readonly resource?: string;
}

/** A Secret, ConfigMap or Profile. */
export interface NamedObject {
  readonly name: string;
  /** @default - that of the ActionSet */
  readonly namespace?: string;
}

export interface ActionProps {
  /** The action of the Blueprint. */
  readonly name: string;
  /** The Blueprint, or its name. It is in the namespace of the ActionSet. */
  readonly blueprint: Blueprint | string;
  /** The object that the action is for: one of the app that is a workload, a claim or a Namespace, or the name of any. */
  readonly object: IConstruct | ActionObject;
  /** @default - none */
  readonly profile?: Profile | NamedObject;
  /** @default - none */
  readonly artifacts?: Readonly<Record<string, { readonly keyValue: Readonly<Record<string, string>> }>>;
  /** @default - none */
  readonly secrets?: Readonly<Record<string, NamedObject>>;
  /** @default - none */
  readonly configMaps?: Readonly<Record<string, NamedObject>>;
  /** @default - none */
  readonly options?: Readonly<Record<string, string>>;
  /** @default - none */
  readonly podOverride?: object;
  /** @default - none */
  readonly podLabels?: Readonly<Record<string, string>>;
  /** @default - none */
  readonly podAnnotations?: Readonly<Record<string, string>>;
}

export interface ActionSetProps {
  /** Side by side. */
  readonly actions: readonly ActionProps[];
  /** @default - that of the controller's flag `--default-service-account` */
  readonly serviceAccount?: string;
  /** @default - it is kept */
  readonly ttlSecondsAfterFinished?: number;
  /** @default - a name from its path, namespace and labels of the chart */
  readonly metadata?: ApiObjectMetadata;
}

/** Undefined: it is of a kind that needs all that says where it is served. */
const referenceTo = (object: IConstruct | ActionObject): ActionObject | undefined => {
  if (!Construct.isConstruct(object)) return object;
  const { kind, name, metadata } = ApiObject.of(object);
  return objectNamed(kind, metadata.namespace ?? "", name);
};

const profileIn = (profile: Profile | NamedObject): NamedObject => {
  if (!(profile instanceof Profile)) return profile;
  const { namespace } = profile.apiObject.metadata;
  return { name: profile.name, ...(namespace === undefined ? {} : { namespace }) };
};

const specOf = ({ blueprint, object, profile, ...rest }: ActionProps) => {
  const reference = referenceTo(object);
  return {
    ...rest,
    blueprint: blueprint instanceof Blueprint ? blueprint.name : blueprint,
    ...(reference === undefined ? {} : { object: reference }),
    ...(profile === undefined ? {} : { profile: profileIn(profile) }),
  };
};

const problemsOf = (action: ActionProps): readonly string[] => {
  const { name, blueprint, object } = action;
  const unknown =
    Construct.isConstruct(object) && referenceTo(object) === undefined
      ? [`the object of action ${name} is a ${ApiObject.of(object).kind}: name it with apiVersion and resource`]
      : [];
  return blueprint instanceof Blueprint ? [...unknown, ...blueprint.problemsOf(specOf(action))] : unknown;
};

/**
 * Runs actions of Blueprints once. One that has run is not executed again: another run is another name.
 *
 * What the controller would refuse, as far as the app knows it, is an error of the synthesis, in the same words.
 */
export class ActionSet extends Construct {
  /** The object that is printed. */
  readonly apiObject: ApiObject;

  constructor(
    scope: Construct,
    id: string,
    { actions, serviceAccount, ttlSecondsAfterFinished, metadata }: ActionSetProps,
  ) {
    super(scope, id);
    this.apiObject = new ApiObject(this, "Resource", {
      apiVersion: `${GROUP}/${VERSION}`,
      kind: "ActionSet",
      ...(metadata === undefined ? {} : { metadata }),
      spec: Lazy.any({
        produce: () => ({
          ...(serviceAccount === undefined ? {} : { serviceAccountName: serviceAccount }),
          ...(ttlSecondsAfterFinished === undefined ? {} : { ttlSecondsAfterFinished }),
          actions: actions.map(specOf),
        }),
      }),
    });
    for (const { blueprint, object } of actions) {
      if (blueprint instanceof Blueprint) this.node.addDependency(blueprint);
      if (Construct.isConstruct(object)) this.node.addDependency(object);
    }
    this.node.addValidation({ validate: () => actions.flatMap(problemsOf) });
  }

  get name(): string {
    return this.apiObject.name;
  }
}
