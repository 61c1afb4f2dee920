// Reads AdmissionReviews, and answers them: allowed, whatever they say.
import { asObject, isObject, type JsonObject, parseJson } from "@janus/types";

/** The request of a review; undefined: it is none. */
export const requestOf = (text: string): JsonObject | undefined => {
  const { request } = asObject(parseJson(text));
  return isObject(request) ? request : undefined;
};

/** So much of a review contains the uid of its request, in characters. */
export const HEAD = 1024;

/** The uid of the request, of a review of which only the beginning is known; empty: it cannot be read. */
export const uidIn = (head: string): string => /"uid"\s*:\s*"([A-Za-z0-9-]{1,64})"/u.exec(head)?.[1] ?? "";

/** https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#response */
export const allowed = (uid: string): string =>
  JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response: { uid, allowed: true } });
