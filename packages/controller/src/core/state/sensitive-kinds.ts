// Decides which kinds are sensitive, and removes their values from errors.
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

/** The same error, without values of a Secret or a sensitive kind. What Janus itself keeps in ConfigMaps is not secret. */
export const withoutSecrets = (fault: ApiError, { as, call: { place } }: ApiCall, settings: Sensitive): ApiError =>
  isSecret(place.resource) || (as !== "controller" && isSensitive(place, settings)) ? withoutFreeText(fault) : fault;
