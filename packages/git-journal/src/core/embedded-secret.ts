// Finds data of Secrets, and passwords of repositories, in objects of other kinds, which would be in their files in plain.
import { asObject, isObject, type Json, type JsonObject, member } from "@janus/types";
import { API_VERSION } from "../api/names.ts";
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
  // The content of a change in a Transaction need not repeat its apiVersion and kind.
  (isOfSecret(member(object, "target")) && hasData(member(object, "content")));

/**
 * Tells whether a value has the manifest of a Secret in it, with data, such as a Transaction, or a kind by which objects are
 * handed on to other clusters.
 *
 * Assumes: it is not nested deeper than the stack.
 */
export const embedsSecret = (value: Json): boolean => {
  if (Array.isArray(value)) return value.some(embedsSecret);
  return isObject(value) && (isSecretWithData(value) || Object.values(value).some(embedsSecret));
};

const isRepository = (value: Json | undefined): boolean =>
  isObject(value) && member(value, "apiVersion") === API_VERSION && member(value, "kind") === "GitRepoConfig";

const USERINFO = /^https?:\/\/[^/]*@/iu;

const hasPassword = (value: Json | undefined): boolean => {
  const url = member(asObject(member(asObject(value), "spec")), "repoUrl");
  return typeof url === "string" && USERINFO.test(url);
};

/**
 * Tells whether a value is, or has in it, a GitRepoConfig with a name and a password in its repoUrl.
 *
 * Assumes: it is not nested deeper than the stack.
 */
export const embedsPassword = (value: Json): boolean => {
  if (Array.isArray(value)) return value.some(embedsPassword);
  if (!isObject(value)) return false;
  const isChange = isRepository(member(value, "target")) && hasPassword(member(value, "content"));
  return isChange || (isRepository(value) && hasPassword(value)) || Object.values(value).some(embedsPassword);
};
