// Finds fields that a change adds to a CustomResourceDefinition and that a rollback would remove.
import type { Transaction } from "@janus/api";
import { asObject, isObject, type JsonObject, type KubeObject } from "@janus/types";
import { formatRef } from "../kubernetes/kube-object.ts";
import type { Path } from "../merge/field-set.ts";
import { showPaths } from "../merge/show-path.ts";
import { type Observations, trialIn } from "../state/observations.ts";
import type { Trial } from "../state/preflight-observations.ts";
import { itemsOf, type ResolvedItem } from "../state/resolved-changes.ts";

const PRESERVES = "x-kubernetes-preserve-unknown-fields";

/** Whether it has any key. */
const isMap = ({ additionalProperties }: JsonObject): boolean =>
  additionalProperties !== undefined && additionalProperties !== false;

function* addedIn(was: JsonObject, is: JsonObject, path: Path): Generator<Path> {
  if (was[PRESERVES] === true) return;
  if (is[PRESERVES] === true || (isMap(is) && !isMap(was))) yield path;
  const [former, properties] = [asObject(was["properties"]), asObject(is["properties"])];
  for (const name of Object.keys(properties)) {
    const inside = [...path, `f:${name}`];
    if (Object.hasOwn(former, name)) yield* addedIn(asObject(former[name]), asObject(properties[name]), inside);
    else if (!isMap(was)) yield inside;
  }
  // The items of a list, and the values of a map.
  for (const name of ["items", "additionalProperties"]) {
    const [one, other] = [was[name], is[name]];
    if (isObject(one) && isObject(other)) yield* addedIn(one, other, path);
  }
}

/** The schemas of a definition by the names of its versions. */
const schemasOf = ({ spec }: KubeObject): ReadonlyMap<unknown, JsonObject> => {
  const { versions } = asObject(spec);
  const all: readonly unknown[] = Array.isArray(versions) ? versions : [];
  return new Map(
    all.map(asObject).map(({ name, schema }) => [name, asObject(asObject(schema)["openAPIV3Schema"])] as const),
  );
};

/** The most fields that are found: more than a message names. */
const MOST = 30;

/**
 * The fields that a CustomResourceDefinition gives to its objects, and that it did not give to them before, in the same version.
 * Of many, the first. Without them in the schema, the API server drops them from every object that it reads or writes.
 */
const addedFields = (was: KubeObject, is: KubeObject): readonly Path[] => {
  const former = schemasOf(was);
  const found: Path[] = [];
  for (const [name, schema] of schemasOf(is))
    for (const path of addedIn(former.get(name) ?? schema, schema, [])) if (found.push(path) === MOST) return found;
  return found;
};

/** The change of the schema of a CustomResourceDefinition that the dry run of a change shows. */
export const schemaChange = (
  { change: { type }, place: { resource } }: ResolvedItem,
  was: KubeObject | undefined,
  is: KubeObject,
): Pick<Trial, "addedFields"> => {
  const isDefinition = resource.group === "apiextensions.k8s.io" && resource.kind === "CustomResourceDefinition";
  const added = isDefinition && was !== undefined && type !== "Delete" ? addedFields(was, is) : [];
  return added.length === 0 ? {} : { addedFields: added };
};

/** Warns of fields that a change adds to a kind: its rollback removes them from objects that are no targets. */
export const schemaWarnings = (txn: Transaction, known: Observations): readonly string[] =>
  itemsOf(txn, known).flatMap(({ index, change, place }) => {
    const { addedFields = [] } = trialIn(known, index) ?? {};
    return addedFields.length === 0
      ? []
      : [
          `changes[${index}]: the ${change.type} of ${formatRef(place)} adds ${showPaths(addedFields)}: a rollback removes what has been set there by then from all of its objects`,
        ];
  });
