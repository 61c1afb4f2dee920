import type { ApiError } from "@janus/types";
import type { ObjectRef } from "../kubernetes/kube-object.ts";
import { redactSecret, redactSensitive, withoutReason } from "../kubernetes/redact-secret.ts";
import type { ApiCall } from "./effect.ts";
import { changeIn, type Observations } from "./observations.ts";
import type { Settings } from "./reconcile-context.ts";

const isSecret = ({ resource: { group, kind } }: ObjectRef): boolean => group === "" && kind === "Secret";

/** Whether nothing of its values may be shown. */
export const isSensitive = (ref: ObjectRef, { sensitiveKinds = [] }: Pick<Settings, "sensitiveKinds">): boolean => {
  const { group, kind } = ref.resource;
  return isSecret(ref) || sensitiveKinds.includes(group === "" ? kind : `${kind}.${group}`);
};

/**
 * States of the object that the API server, or an admission check, may quote: what was sent, and what was there. `undefined`: what
 * was there is not in memory.
 */
const quotable = ({ call, item }: ApiCall, known: Observations): readonly object[] | undefined => {
  const { before, target } = item === undefined ? {} : changeIn(known, item);
  if (target?.type === "outline" && before === undefined) return undefined;
  return ["body" in call ? call.body : undefined, before, target?.object].filter((state) => state !== undefined);
};

/**
 * The same error, without values of a Secret or a sensitive kind. What Janus itself keeps in ConfigMaps is not secret.
 *
 * @param known when the request was sent
 */
export const withoutSecrets = (
  fault: ApiError,
  effect: ApiCall,
  known: Observations,
  settings: Pick<Settings, "sensitiveKinds">,
): ApiError => {
  const { place } = effect.call;
  if (!isSecret(place) && (effect.as === "controller" || !isSensitive(place, settings))) return fault;
  const states = quotable(effect, known);
  if (states === undefined) return withoutReason(fault, "the reason is not shown: it may quote values of the object");
  return isSecret(place) ? redactSecret(fault, ...states) : redactSensitive(fault, ...states);
};
