// Makes objects of the Git journal, and what a construct has in common with the name of an object.
import { API_VERSION, specProblems } from "@janus/git-journal/authoring";
import { ApiObject, type ApiObjectMetadata } from "cdk8s";
import type { Construct } from "constructs";

/** The name of an object of the journal, or the construct of it. */
export interface JournalObjectName {
  readonly name: string;
  /** @default - that of the object which refers to it; required of a ClusterWatchRule */
  readonly namespace?: string | undefined;
}

/** Labels of objects or of namespaces: all of it must hold. */
export interface JournalSelector {
  /** @default - any */
  readonly matchLabels?: Readonly<Record<string, string>>;
  /** @default - none */
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
    readonly values?: readonly string[];
  }[];
}

/** As it is printed: of a construct nothing but where it is. */
export const referenceTo = ({ name, namespace }: JournalObjectName): object => ({
  name,
  ...(namespace === undefined ? {} : { namespace }),
});

/** The object in its chart. What the API server or the controller would refuse of it is an error of the synthesis. */
export const journalObject = (
  scope: Construct,
  kind: Parameters<typeof specProblems>[0],
  spec: object,
  metadata: ApiObjectMetadata | undefined,
): ApiObject => {
  const object = new ApiObject(scope, "Resource", {
    apiVersion: API_VERSION,
    kind,
    ...(metadata === undefined ? {} : { metadata }),
    spec,
  });
  scope.node.addValidation({
    validate: () => [...specProblems(kind, (object.toJson() as { readonly spec: unknown }).spec)],
  });
  return object;
};
