// Decides of which targets no values may be shown, and removes them from errors.
import type { Change, Transaction } from "@janus/api";
import type { ApiError, Resource } from "@janus/types";
import { withoutFreeText } from "../kubernetes/without-free-text.ts";
import type { ApiCall } from "./effect.ts";
import type { Settings } from "./reconcile-context.ts";

/** The kinds that are sensitive, besides Secrets. */
export type Sensitive = Pick<Settings, "sensitiveKinds">;

type Kind = Pick<Resource, "group" | "kind">;

const isSecret = ({ group, kind }: Kind): boolean => group === "" && kind === "Secret";

const isSensitiveKind = (of: Kind, { sensitiveKinds = [] }: Sensitive): boolean =>
  isSecret(of) || sensitiveKinds.includes(of.group === "" ? of.kind : `${of.kind}.${of.group}`);

/** Whether its content is in a Secret: then none of it may be shown, whatever kind it is applied to. */
export const isFromSecret = (change: Change | undefined): boolean =>
  change !== undefined && change.type !== "Delete" && change.contentFrom?.kind === "Secret";

/**
 * Whether nothing of the values of a target may be shown, neither of those that are there nor of those that the change sets: it is
 * of a sensitive kind, or the content of its change is in a Secret.
 */
export const mustConceal = (target: Kind, change: Change | undefined, sensitive: Sensitive): boolean =>
  isSensitiveKind(target, sensitive) || isFromSecret(change);

/**
 * The same error, without values of targets that {@link mustConceal}, and of Secrets. What Janus itself keeps in ConfigMaps is not
 * secret.
 */
export const withoutSecrets = (
  fault: ApiError,
  { as, item, call: { place } }: ApiCall,
  { spec }: Transaction,
  sensitive: Sensitive,
): ApiError => {
  const change = item === undefined ? undefined : spec.changes[item];
  return isSecret(place.resource) || (as !== "controller" && mustConceal(place.resource, change, sensitive))
    ? withoutFreeText(fault)
    : fault;
};
