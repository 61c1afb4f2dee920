// Decides which kinds are sensitive, and removes their values from errors.
import type { Change } from "@janus/api";
import type { ApiError, Resource } from "@janus/types";
import type { ObjectRef } from "../kubernetes/kube-object.ts";
import { withoutFreeText } from "../kubernetes/without-free-text.ts";
import type { ApiCall } from "./effect.ts";
import type { Settings } from "./reconcile-context.ts";

/** Which kinds are sensitive, besides Secrets. */
export type Sensitive = Pick<Settings, "sensitiveKinds">;

type Kind = Pick<Resource, "group" | "kind">;

const isSecret = ({ group, kind }: Kind): boolean => group === "" && kind === "Secret";

/** Whether nothing of the values of its objects may be shown. */
export const isSensitiveKind = (of: Kind, { sensitiveKinds = [] }: Sensitive): boolean =>
  isSecret(of) || sensitiveKinds.includes(of.group === "" ? of.kind : `${of.kind}.${of.group}`);

export const isSensitive = ({ resource }: ObjectRef, sensitive: Sensitive): boolean =>
  isSensitiveKind(resource, sensitive);

/** Whether its content is in a Secret: then none of it may be shown, whatever kind it is applied to. */
export const isFromSecret = (change: Change | undefined): boolean =>
  change !== undefined && change.type !== "Delete" && change.contentFrom?.kind === "Secret";

/**
 * The same error, without values of a Secret, of a sensitive kind, or of a content that is in a Secret. What Janus itself keeps in
 * ConfigMaps is not secret.
 */
export const withoutSecrets = (
  fault: ApiError,
  { as, call: { place } }: ApiCall,
  settings: Sensitive,
  change?: Change,
): ApiError =>
  isSecret(place.resource) || (as !== "controller" && (isSensitive(place, settings) || isFromSecret(change)))
    ? withoutFreeText(fault)
    : fault;
