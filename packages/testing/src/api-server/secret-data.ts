// Moves stringData of a Secret into data.
import { asObject, type JsonObject } from "@janus/types";
import { toBase64 } from "@janus/controller/core/kubernetes/base64";

/** The body with the `stringData` of a Secret in its `data`, as the API server stores it. */
export const withSecretData = (body: object): object => {
  const { stringData, ...rest } = body as JsonObject;
  if (rest["kind"] !== "Secret" || rest["apiVersion"] !== "v1" || stringData === undefined) return body;
  const encoded = Object.entries(asObject(stringData)).flatMap(([key, text]) =>
    typeof text === "string" ? [[key, toBase64(text)] as const] : [],
  );
  return { ...rest, data: { ...asObject(rest["data"]), ...Object.fromEntries(encoded) } };
};
