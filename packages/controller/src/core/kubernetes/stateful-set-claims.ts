// Finds the PersistentVolumeClaims that a StatefulSet deletes by its retention policy.
import { deletes, type ResolvedChange } from "@janus/api";
import { asObject, isObject, type KubeObject } from "@janus/types";

/** The claims that a StatefulSet has, one of each template for each ordinal, and whether they go with its Pods, or with itself. */
interface Claims {
  readonly templates: readonly string[];
  readonly from: number;
  readonly to: number;
  readonly whenScaled: unknown;
  readonly whenDeleted: unknown;
}

const integer = (value: unknown, otherwise: number): number =>
  Number.isSafeInteger(value) ? Number(value) : otherwise;

const templateNames = (templates: unknown): readonly string[] =>
  Array.isArray(templates)
    ? templates.flatMap((template) => {
        const { name } = asObject(asObject(template)["metadata"]);
        return typeof name === "string" ? [name] : [];
      })
    : [];

type Fields = Readonly<Record<string, unknown>>;

const claimsOf = ({
  replicas,
  ordinals,
  persistentVolumeClaimRetentionPolicy,
  volumeClaimTemplates,
}: Fields): Claims => {
  const from = integer(asObject(ordinals)["start"], 0);
  const { whenScaled, whenDeleted } = asObject(persistentVolumeClaimRetentionPolicy);
  return {
    templates: templateNames(volumeClaimTemplates),
    from,
    to: from + integer(replicas, 1),
    whenScaled,
    whenDeleted,
  };
};

/** The spec after the change. Fields that a Patch does not name stay. The templates cannot be changed. */
const resulting = (change: ResolvedChange, before: Fields): Fields => {
  if (change.type === "Delete" || change.type === "Replace") return before;
  const spec: Fields = asObject(change.content["spec"]);
  const { volumeClaimTemplates } = before;
  if (change.type !== "Patch") return { ...spec, volumeClaimTemplates };
  const nested = ["ordinals", "persistentVolumeClaimRetentionPolicy"].flatMap((name) =>
    isObject(spec[name]) ? [[name, { ...asObject(before[name]), ...spec[name] }] as const] : [],
  );
  return { ...before, ...spec, ...Object.fromEntries(nested), volumeClaimTemplates };
};

const MOST_NAMED = 5;

const isStatefulSet = ({ apiVersion, kind }: KubeObject): boolean =>
  apiVersion.split("/")[0] === "apps" && kind === "StatefulSet";

/** The part of its spec that {@link claimsOfStatefulSet} looks at. */
export const statefulSetSpec = (object: KubeObject): Fields | undefined => {
  if (!isStatefulSet(object)) return undefined;
  const { replicas, ordinals, persistentVolumeClaimRetentionPolicy, volumeClaimTemplates } = asObject(object["spec"]);
  return {
    replicas,
    ordinals,
    persistentVolumeClaimRetentionPolicy,
    volumeClaimTemplates: templateNames(volumeClaimTemplates).map((name) => ({ metadata: { name } })),
  };
};

/** Claims of volumes that go with a change of a StatefulSet, or with a Pod. */
export interface DeletedClaims {
  readonly count: number;
  /** The first ones, and how many more, for messages. */
  readonly names: string;
  readonly includes: (name: string) => boolean;
}

export const deletedClaims = (
  all: readonly string[],
  count: number,
  includes: DeletedClaims["includes"],
): DeletedClaims => {
  const names = all.slice(0, MOST_NAMED);
  const more = count > names.length ? ` and ${count - names.length} more` : "";
  return { count, names: `PersistentVolumeClaim ${names.join(", ")}${more}`, includes };
};

/**
 * The claims of volumes that the StatefulSet controller deletes after a change, by the retention policy: with the StatefulSet
 * (`whenDeleted`), or with the replicas that it has no more (`whenScaled`).
 * https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#persistentvolumeclaim-retention
 */
export const claimsOfStatefulSet = (change: ResolvedChange, before: KubeObject): DeletedClaims | undefined => {
  if (!isStatefulSet(before)) return undefined;
  const spec = asObject(before["spec"]);
  const was = claimsOf(spec);
  const is = claimsOf(resulting(change, spec));
  const isKept = (deletes(change) ? was.whenDeleted : is.whenScaled) !== "Delete";
  if (isKept) return undefined;
  const lost = deletes(change)
    ? [[was.from, was.to] as const]
    : [[was.from, Math.min(was.to, is.from)] as const, [Math.max(was.from, is.to), was.to] as const];
  const ordinals = lost.reduce((sum, [from, to]) => sum + Math.max(0, to - from), 0);
  const count = ordinals * was.templates.length;
  if (count === 0) return undefined;
  const names = lost
    .flatMap(([from, to]) => Array.from({ length: Math.min(MOST_NAMED, Math.max(0, to - from)) }, (_, n) => from + n))
    .flatMap((ordinal) =>
      was.templates.slice(0, MOST_NAMED).map((name) => `${name}-${before.metadata.name}-${ordinal}`),
    );
  return deletedClaims(names, count, (name) =>
    was.templates.some((template) => {
      const prefix = `${template}-${before.metadata.name}-`;
      const ordinal = name.startsWith(prefix) ? name.slice(prefix.length) : "";
      return /^\d+$/u.test(ordinal) && lost.some(([from, to]) => Number(ordinal) >= from && Number(ordinal) < to);
    }),
  );
};
