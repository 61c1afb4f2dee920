// Reads AdmissionReviews, and answers them: allowed, whatever they say.
import { asObject, isObject, type JsonObject, parseJson } from "@janus/types";

/** The request of a review; undefined: it is none. */
export const requestOf = (text: string): JsonObject | undefined => {
  const { request } = asObject(parseJson(text));
  return isObject(request) ? request : undefined;
};

/** The characters of a review that are enough for the uid of its request. */
export const HEAD = 1024;

/** Finds the uid of the request in the beginning of a review; empty: it cannot be read. */
export const uidIn = (head: string): string => /"uid"\s*:\s*"([A-Za-z0-9-]{1,64})"/u.exec(head)?.[1] ?? "";

/** The answer: https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#response */
export const allowed = (uid: string): string =>
  JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response: { uid, allowed: true } });
