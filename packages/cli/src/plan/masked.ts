// Masks values in two versions of an object, and still shows whether they differ.
import type { KubeObject } from "@janus/kube";
import { asObject, isObject, type Json, LAST_APPLIED, member } from "@janus/types";

const FIELDS: readonly string[] = ["data", "stringData"];

const lastApplied = ({ metadata }: KubeObject): string | undefined => metadata.annotations?.[LAST_APPLIED];

const maskedMetadata = (object: KubeObject, other: KubeObject | undefined, changed: string): KubeObject["metadata"] => {
  const value = lastApplied(object);
  if (value === undefined) return object.metadata;
  const there = other === undefined ? undefined : lastApplied(other);
  const shown = there !== undefined && there !== value ? changed : "***";
  return { ...object.metadata, annotations: { ...object.metadata.annotations, [LAST_APPLIED]: shown } };
};

const masked = (object: KubeObject, other: KubeObject | undefined, changed: string): KubeObject => ({
  ...object,
  metadata: maskedMetadata(object, other, changed),
  ...Object.fromEntries(
    FIELDS.filter((field) => object[field] !== undefined).map((field) => {
      const there = asObject(other?.[field]);
      const values = Object.entries(asObject(object[field])).map(([key, value]) => [
        key,
        other !== undefined && key in there && there[key] !== value ? changed : "***",
      ]);
      return [field, Object.fromEntries(values) as unknown];
    }),
  ),
});

const isSecret = ({ apiVersion, kind }: KubeObject): boolean => apiVersion === "v1" && kind === "Secret";

/** Every value, of whatever field; fields that are named like this stay. */
const allMasked = (value: Json | undefined, other: Json | undefined, changed: string): Json => {
  if (Array.isArray(value)) {
    const items: readonly Json[] = Array.isArray(other) ? other : [];
    return value.map((item: Json, at) => allMasked(item, items[at], changed));
  }
  if (isObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([name, field]) => [name, allMasked(field, member(asObject(other), name), changed)]),
    );
  return other !== undefined && value !== other ? changed : "***";
};

/** All but which object it is. */
const wholeMasked = (object: KubeObject, other: KubeObject | undefined, changed: string): KubeObject => {
  const { apiVersion, kind, metadata } = object;
  const hidden = asObject(allMasked(object as unknown as Json, other as unknown as Json | undefined, changed));
  const { name, namespace } = metadata;
  const which = { ...(name === undefined ? {} : { name }), ...(namespace === undefined ? {} : { namespace }) };
  return { ...hidden, apiVersion, kind, metadata: { ...asObject(hidden["metadata"]), ...which } };
};

/**
 * Both, with the values of Secrets masked as `kubectl diff` masks them: it shows whether they differ, and nothing else.
 *
 * @param isConcealed whether all of its values are. Default: only those of a Secret
 */
export const maskedPair = (
  before: KubeObject | undefined,
  after: KubeObject | undefined,
  isConcealed = false,
): readonly [KubeObject | undefined, KubeObject | undefined] => {
  const one = (object: KubeObject | undefined, other: KubeObject | undefined, changed: string) => {
    if (object === undefined) return undefined;
    if (isConcealed) return wholeMasked(object, other, changed);
    return isSecret(object) ? masked(object, other, changed) : object;
  };
  return [one(before, after, "*** (before)"), one(after, before, "*** (after)")];
};
