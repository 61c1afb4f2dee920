// Masks the values of Secrets in two versions of an object, and still shows whether they differ.
import type { KubeObject } from "@janus/kube";
import { asObject, LAST_APPLIED } from "@janus/types";

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

const isSecret = (object: KubeObject | undefined): object is KubeObject =>
  object?.apiVersion === "v1" && object.kind === "Secret";

/** Both, with the values of Secrets masked as `kubectl diff` masks them: it shows whether they differ, and nothing else. */
export const maskedPair = (
  before: KubeObject | undefined,
  after: KubeObject | undefined,
): readonly [KubeObject | undefined, KubeObject | undefined] => {
  return [
    isSecret(before) ? masked(before, after, "*** (before)") : before,
    isSecret(after) ? masked(after, before, "*** (after)") : after,
  ];
};
