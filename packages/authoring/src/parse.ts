// Checks a Transaction as the API server does, and reports every mistake with its path.
import { API_VERSION, isLater, KIND, type Mistake, mistakes, Spec } from "@janus/api";
import { asObject, isDnsSubdomain, isObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import type { TransactionManifest } from "./manifest.ts";

/** The value, or everything that is wrong with it. */
export type Parsed<A> =
  | { readonly ok: true; readonly value: A }
  | { readonly ok: false; readonly errors: readonly Mistake[] };

const isName = (value: unknown): boolean => typeof value === "string" && isDnsSubdomain(value);

const ofObject = (value: Readonly<Record<string, unknown>>): readonly Mistake[] => {
  const metadata = asObject(value["metadata"]);
  const { name, namespace = "default" } = metadata;
  return [
    ...(value["apiVersion"] === API_VERSION ? [] : [{ path: "apiVersion", message: `must be ${API_VERSION}` }]),
    ...(value["kind"] === KIND ? [] : [{ path: "kind", message: `must be ${KIND}` }]),
    ...(isName(name) ? [] : [{ path: "metadata.name", message: "must be a lowercase DNS subdomain" }]),
    ...(isName(namespace) ? [] : [{ path: "metadata.namespace", message: "must be the name of a namespace" }]),
  ];
};

/** Tells an author that the field is misspelt. Where a controller finds an unknown field, the CRD is newer than itself. */
const UNKNOWN = "is not a field of a Transaction in this version: correct its name";

const ofSpec = (spec: unknown): readonly Mistake[] => {
  const decoded = Spec.decode(spec);
  if (E.isRight(decoded)) return [];
  return mistakes(decoded.left.map((error) => (isLater(error) ? { ...error, message: UNKNOWN } : error)));
};

/**
 * Checks a Transaction as the API server does when it is created: every mistake with its path, such as
 * `spec.changes[3].target.name: must not be empty`. What the cluster knows (kinds, objects, permissions) is not
 * checked.
 */
export const parse = (manifest: unknown): Parsed<TransactionManifest> => {
  if (!isObject(manifest)) return { ok: false, errors: [{ path: "", message: "must be an object" }] };
  const errors = [
    ...ofObject(manifest),
    ...ofSpec(manifest["spec"]).map(({ path, message }) => ({ path: path === "" ? "spec" : `spec.${path}`, message })),
  ];
  // It is exactly of this shape: the codec describes the same fields.
  return errors.length === 0 ? { ok: true, value: manifest as unknown as TransactionManifest } : { ok: false, errors };
};
