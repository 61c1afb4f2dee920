// Generates Secrets as the API server has them, with data of every kind.
import type { JsonObject, KubeObject } from "@janus/types";
import * as fc from "fast-check";
import { text } from "./arbitrary-object.ts";

const base64 = (content: string | Uint8Array): string => Buffer.from(content).toString("base64");

const value = fc.oneof(
  fc.constantFrom("", "\n", "p", "true", "123", "a\nb\n", "geheim\u00E4\u{1F600}", "x".repeat(100_000)).map(base64),
  fc.string({ unit: "grapheme", maxLength: 40 }).map(base64),
  fc.uint8Array({ maxLength: 64 }).map(base64),
);

/** Those of digits are in another order in objects of JavaScript than in a file. */
const key = fc.oneof(
  fc.constantFrom("password", "tls.crt", "data", "sops", "10", "9", "0", "__proto__", "constructor"),
  fc.stringMatching(/^[-._a-zA-Z0-9]{1,20}$/u),
);

/** Below a label `data`, SOPS encrypts as well. */
const label = fc.oneof(fc.constantFrom("app", "data", "stringData", "10", "9"), fc.stringMatching(/^[a-z]{1,9}$/u));

export const secret: fc.Arbitrary<KubeObject> = fc.record({
  apiVersion: fc.constant("v1"),
  kind: fc.constant("Secret"),
  metadata: fc
    .record(
      {
        name: fc.stringMatching(/^[a-z]{1,20}$/u),
        labels: fc.dictionary(label, fc.constantFrom("", "x", "true", "1.0"), { minKeys: 1, maxKeys: 3 }),
        annotations: fc.dictionary(label, text, { minKeys: 1, maxKeys: 3 }),
      },
      { requiredKeys: ["name"] },
    )
    .map((metadata) => ({ ...metadata, namespace: "shop", uid: "u", resourceVersion: "7" })),
  type: fc.constantFrom("Opaque", "kubernetes.io/tls"),
  immutable: fc.constantFrom(true, false),
  data: fc.dictionary(key, value, { maxKeys: 4 }),
});

export const dataOf = (object: KubeObject): JsonObject => object["data"] as JsonObject;
