// A change of a Transaction: what a phase asks for, as Transactions say it, and what that needs.
import { irreplaceableKind, verbsOf } from "@janus/api";
import { isObject, type Json, type JsonObject, without } from "@janus/types";
import type { ObjectRef } from "../requests.ts";

const versionOf = ({ group, version }: ObjectRef["resource"]): string =>
  group === "" ? version : `${group}/${version}`;

/** Fields that the manifest of a new object may have and a content may not, and those that the target says. */
const OF_TARGET = ["resourceVersion", "uid", "generateName", "name", "namespace"];

/** @param content the manifest, or the fields to be changed */
export const changeOf = (
  type: "Create" | "Patch" | "Delete",
  { resource, namespace, name }: ObjectRef,
  content?: JsonObject,
): JsonObject => {
  const { metadata, ...others } = content ?? {};
  return {
    type,
    target: {
      apiVersion: versionOf(resource),
      kind: resource.kind,
      name,
      ...(namespace === undefined ? {} : { namespace }),
    },
    ...(content === undefined
      ? {}
      : {
          content: {
            ...others,
            ...(metadata === undefined
              ? {}
              : { metadata: type === "Create" ? without(metadata, OF_TARGET) : metadata }),
          },
        }),
  };
};

/** The verbs on the target that the change and its rollback need. */
export const changeVerbs = (type: "Create" | "Patch" | "Delete"): readonly string[] => ["get", ...verbsOf(type)];

/** Says why the deletion of an object of this resource cannot be part of an atomic action. */
export const deletionProblems = (group: string, plural: string): readonly string[] => {
  const kind = irreplaceableKind(group, plural);
  return kind === undefined
    ? []
    : [`a ${kind} cannot be restored once it is deleted: delete it in an action that is not atomic`];
};

const DIRECTIVE = /^\$(?:patch$|retainKeys$|setElementOrder\/|deleteFromPrimitiveList\/)/u;

const directivesIn = (value: Json): readonly string[] => {
  if (Array.isArray(value)) return value.flatMap(directivesIn);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, one]) => [
    ...(DIRECTIVE.test(name) ? [name] : []),
    ...directivesIn(one),
  ]);
};

/** Names what of a patch only a strategic merge patch knows. */
export const patchProblems = (body: JsonObject): readonly string[] =>
  [...new Set(directivesIn(body))].map((name) => `args.spec: a Transaction does not know ${name}`);
