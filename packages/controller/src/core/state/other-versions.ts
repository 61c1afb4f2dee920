// Reads targets in other versions of their kind, to find fields that a write would lose.
import { fieldManager, type Transaction } from "@janus/api";
import type { KubeObject } from "@janus/types";
import { formatRef, type ObjectRef } from "../kubernetes/kube-object.ts";
import { richerVersions, writtenFromHere } from "../merge/version-loss.ts";
import type { ApiCall } from "./effect.ts";
import { type Observations, preflightIn } from "./observations.ts";
import type { OtherVersion } from "./preflight-observations.ts";
import type { ResolvedItem } from "./resolved-changes.ts";

type Versions = ReadonlyMap<string, OtherVersion>;

/** The versions that are known of this version of the object. */
export const otherVersionsOf = (
  known: Observations,
  index: number,
  { metadata: { resourceVersion } }: KubeObject,
): Versions => {
  const { otherVersions } = preflightIn(known, index);
  return otherVersions !== undefined && otherVersions.resourceVersion === resourceVersion
    ? otherVersions.versions
    : new Map();
};

const inVersion = ({ resource, ...place }: ObjectRef, apiVersion: string): ObjectRef => ({
  ...place,
  resource: { ...resource, version: apiVersion.split("/").at(-1) ?? apiVersion },
});

/** Reads it in that version. */
const read = (item: ResolvedItem, object: KubeObject, apiVersion: string): ApiCall => ({
  purpose: "read-target",
  item: item.index,
  as: "serviceAccount",
  mayBeUnserved: true,
  call: { verb: "get", place: inVersion(item.place, apiVersion) },
  folds: [{ type: "other-version-read", object, apiVersion }],
});

/** Tries which fields a write in the version of the change keeps: fields with a default are set again. */
const tryOut = (
  txn: Transaction,
  item: ResolvedItem,
  object: KubeObject,
  apiVersion: string,
  { there }: Extract<OtherVersion, { type: "differs" }>,
): ApiCall => ({
  purpose: "dry-run",
  item: item.index,
  as: "serviceAccount",
  dryRun: true,
  call: {
    verb: "update",
    place: inVersion(item.place, apiVersion),
    body: writtenFromHere(object, there, item.place),
    manager: fieldManager(txn.metadata),
  },
  folds: [{ type: "other-version-tried", object, apiVersion, there }],
});

/**
 * The requests that show what a target would lose with a write in the version that its change names, as far as that is not known of
 * this version of the object: the versions of a custom resource may have different fields, although no webhook converts
 * between them. A write in a version without a field removes that field.
 *
 * @param before the same object at an earlier time
 */
export const readOtherVersions = (
  txn: Transaction,
  item: ResolvedItem,
  known: Observations,
  object: KubeObject,
  before?: KubeObject,
): readonly ApiCall[] => {
  const versions = otherVersionsOf(known, item.index, object);
  return richerVersions(object, before).flatMap((apiVersion) => {
    const is = versions.get(apiVersion);
    if (is === undefined) return [read(item, object, apiVersion)];
    return is.type === "differs" ? [tryOut(txn, item, object, apiVersion, is)] : [];
  });
};

/** The loss, or possible loss, of a target by a write in the version that the change names. */
export interface VersionLoss {
  /** The loss in words. */
  readonly message: string;
  /** The version in which it has that; absent if it is unknown whether there is anything. */
  readonly apiVersion?: string;
}

/**
 * Whether that could not be found out, since the ServiceAccount may not update it: without that, a change is refused, unless an earlier one
 * may bring the permission.
 */
export const isLossUnknown = (item: ResolvedItem, known: Observations, object: KubeObject): boolean =>
  [...otherVersionsOf(known, item.index, object).values()].some(({ type }) => type === "denied");

/**
 * Guarantees: what is known of an earlier state of the object does not count: other clients may have removed it since.
 * Assumes: no request is left to be sent ({@link readOtherVersions}).
 */
export const lossOf = (item: ResolvedItem, known: Observations, object: KubeObject): VersionLoss | undefined => {
  const { place } = item;
  for (const [apiVersion, is] of otherVersionsOf(known, item.index, object)) {
    if (is.type === "unreadable")
      return {
        message: `${formatRef(place)} cannot be read in ${apiVersion}, so it is unknown what a write in ${place.resource.version} loses: ${is.why}`,
      };
    if (is.type === "richer")
      return {
        message: `${formatRef(place)} has ${is.fields} in ${apiVersion}, which a write in ${place.resource.version} loses`,
        apiVersion,
      };
  }
  return undefined;
};
