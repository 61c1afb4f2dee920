// Finds fields that exist in another version of a kind and that a write would lose.
import { groupOf } from "@janus/api";
import { asObject, equal, isObject, type KubeObject, member } from "@janus/types";
import type { ObjectRef } from "../kubernetes/kube-object.ts";
import { fieldsOf, filter, isWhole } from "./field-set.ts";
import { fieldValue } from "./field-value.ts";
import { entriesOf } from "./marks.ts";
import { type DifferingField, differingFields } from "./server-mutations.ts";
import { writable } from "./write-body.ts";

/** The other versions of the kind in which a client has written the object, with the entries of managedFields. */
const otherVersions = (object: KubeObject) =>
  Map.groupBy(
    entriesOf(object).filter(
      ({ apiVersion = object.apiVersion }) =>
        apiVersion !== object.apiVersion && groupOf(apiVersion) === groupOf(object.apiVersion),
    ),
    ({ apiVersion = "" }) => apiVersion,
  );

/**
 * The other versions of its kind in which an object may have more than in the one that it was read in: those in which a client has
 * set what has no value in this one. The API server clears managedFields where it cannot convert the fields of a version: then all
 * in which it was written before.
 *
 * @param before the same object at an earlier time
 */
export const richerVersions = (object: KubeObject, before: KubeObject | undefined): readonly string[] => {
  if (before !== undefined && entriesOf(object).length === 0) return [...otherVersions(before).keys()];
  return [...otherVersions(object)].flatMap(([apiVersion, entries]) => {
    const missing = filter(fieldsOf(entries), (path) => fieldValue(object, path) === undefined);
    return isWhole(missing) ? [] : [apiVersion];
  });
};

const isPart = (part: unknown, whole: unknown): boolean => {
  if (isObject(part) && isObject(whole))
    return Object.keys(part).every((name) => isPart(member(part, name), member(whole, name)));
  if (!Array.isArray(part) || !Array.isArray(whole)) return equal(part, whole);
  return part.length === whole.length && part.every((item, at) => isPart(item, whole[at]));
};

/**
 * The fields that an object has in another version of its kind, and not in the one that it was read `here`.
 *
 * Guarantees: nothing of one that has here what it has not there: a conversion keeps the same in other fields then, or in an
 *             annotation.
 */
export const onlyThere = (
  here: KubeObject,
  there: KubeObject,
  place: ObjectRef,
  written?: KubeObject,
): readonly DifferingField[] => {
  const [part, whole] = [here, there].map((object) => writable(object, place));
  return isPart(part, whole) ? differingFields(whole, part, written) : [];
};

/** The object in another version of its kind after it is written as it is here. */
export const writtenFromHere = (here: KubeObject, there: KubeObject, place: ObjectRef): object => {
  const body = writable(here, place);
  const { namespace, name, uid, resourceVersion } = there.metadata;
  return {
    ...body,
    apiVersion: there.apiVersion,
    kind: there.kind,
    metadata: {
      ...asObject(body["metadata"]),
      ...(namespace === undefined ? {} : { namespace }),
      name,
      uid,
      resourceVersion,
    },
  };
};

/** The fields among those that have another value once it is `written` there, or none; what has its default is not lost. */
export const lostThere = (
  here: KubeObject,
  there: KubeObject,
  place: ObjectRef,
  written: KubeObject,
): readonly DifferingField[] => onlyThere(here, there, place, written).filter(({ a, other }) => !equal(other, a));
