// Finds data of Secrets in objects of other kinds, which would be in their files in plain.
import { isObject, type Json, type JsonObject, member } from "@janus/types";
import { ENCRYPTED_FIELDS } from "./secret-file.ts";

const hasData = (value: Json | undefined): boolean =>
  isObject(value) &&
  ENCRYPTED_FIELDS.some((field) => {
    const data = member(value, field);
    return isObject(data) && Object.keys(data).length > 0;
  });

const isOfSecret = (value: Json | undefined): boolean =>
  isObject(value) && member(value, "apiVersion") === "v1" && member(value, "kind") === "Secret";

const isSecretWithData = (object: JsonObject): boolean =>
  (isOfSecret(object) && hasData(object)) ||
  // A change of a Transaction need not repeat in its content what it is of.
  (isOfSecret(member(object, "target")) && hasData(member(object, "content")));

/**
 * Whether there is the manifest of a Secret in it, with data: in a Transaction, and in kinds by which objects are handed on to
 * other clusters.
 *
 * Assumes: it is not nested deeper than the stack.
 */
export const embedsSecret = (value: Json): boolean => {
  if (Array.isArray(value)) return value.some(embedsSecret);
  return isObject(value) && (isSecretWithData(value) || Object.values(value).some(embedsSecret));
};
