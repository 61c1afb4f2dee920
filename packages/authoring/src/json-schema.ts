// The JSON Schema of a Transaction, for editors.
import { API_VERSION, KIND, transactionCrd, VERSION } from "@janus/api";
import { asObject, type Json, type JsonObject } from "@janus/types";

/** Keywords of Kubernetes, and the formats of OpenAPI (`int64`), which validators of JSON Schema refuse as unknown. */
const isExtension = (key: string): boolean => key.startsWith("x-kubernetes-") || key === "format";

/** The schema as a JSON Schema: without the extensions of Kubernetes, and with no other properties than those declared. */
const strict = (schema: Json): Json => {
  if (Array.isArray(schema)) return schema.map(strict);
  if (typeof schema !== "object" || schema === null) return schema;
  const object = asObject(schema);
  const isOpen = object["x-kubernetes-preserve-unknown-fields"] === true || object["properties"] === undefined;
  const properties = Object.entries(asObject(object["properties"])).map(([name, one]) => [name, strict(one)] as const);
  const rest = Object.entries(object)
    .filter(([key]) => !isExtension(key) && key !== "properties")
    .map(([key, value]) => [key, key === "items" || key === "additionalProperties" ? strict(value) : value] as const);
  return {
    ...Object.fromEntries(rest),
    ...(properties.length === 0 ? {} : { properties: Object.fromEntries(properties) }),
    ...(isOpen ? {} : { additionalProperties: false }),
  };
};

const served = (): JsonObject => {
  const { versions } = asObject(transactionCrd["spec"]);
  const all = Array.isArray(versions) ? versions.map(asObject) : [];
  return asObject(asObject(all.find(({ name }) => name === VERSION)?.["schema"])["openAPIV3Schema"]);
};

/**
 * The schema of a Transaction for editors (yaml-language-server, IDEs). Rules that compare fields are left to
 * `parse` and the API server.
 */
export const transactionJsonSchema = (): JsonObject => {
  const schema = asObject(strict(served()));
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: KIND,
    ...schema,
    required: ["apiVersion", "kind", "metadata", "spec"],
    properties: {
      apiVersion: { const: API_VERSION },
      kind: { const: KIND },
      ...asObject(schema["properties"]),
      metadata: { type: "object" },
    },
  };
};
