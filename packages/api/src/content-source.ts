// The codec of contentFrom: a key of an immutable ConfigMap or Secret that has the content of a change.
import * as E from "fp-ts/lib/Either.js";
import { DNS_SUBDOMAIN } from "@janus/types";
import { as, type Codec, described, optional, satisfying, string, type TypeOf } from "./codec.ts";
import { object } from "./structure.ts";

/** The place of content that is not in the spec: a key of an immutable ConfigMap or Secret in the Transaction's namespace. */
export interface ContentSource {
  readonly kind: "ConfigMap" | "Secret";
  readonly name: string;
  readonly key: string;
}

const name = satisfying(string({ maxLength: 253 }), {
  cel: `self.matches('^${DNS_SUBDOMAIN}$')`,
  message: "name must be the name of a ConfigMap or Secret in the Transaction's namespace",
  holds: (value) => new RegExp(`^${DNS_SUBDOMAIN}$`, "u").test(value),
});
const key = satisfying(string({ maxLength: 253 }), {
  cel: "self.matches('^[-._a-zA-Z0-9]+$')",
  message: "key must be a key of its data: letters, digits, -, _ and .",
  holds: (value) => /^[-._a-zA-Z0-9]+$/u.test(value),
});

const keyOf = (kind: ContentSource["kind"]) =>
  object({
    name: described(`Name of the ${kind}.`, name),
    key: described("Key of the content in its data: JSON, or JSON that is compressed with gzip.", key),
  });

const Wire = object({
  configMapKeyRef: optional(
    described(
      "A key in data or binaryData of an immutable ConfigMap in the Transaction's namespace.",
      keyOf("ConfigMap"),
    ),
  ),
  secretKeyRef: optional(
    described("A key in data of an immutable Secret in the Transaction's namespace.", keyOf("Secret")),
  ),
});
type Wire = TypeOf<typeof Wire>;

const exactlyOne = satisfying(Wire, {
  cel: "has(self.configMapKeyRef) != has(self.secretKeyRef)",
  message: "contentFrom has exactly one of configMapKeyRef and secretKeyRef",
  holds: ({ configMapKeyRef, secretKeyRef }) => (configMapKeyRef === undefined) !== (secretKeyRef === undefined),
});

export const ContentSource: Codec<ContentSource> = as(
  exactlyOne,
  ({ configMapKeyRef, secretKeyRef }): E.Either<string, ContentSource> => {
    if (configMapKeyRef !== undefined) return E.right({ kind: "ConfigMap", ...configMapKeyRef });
    return secretKeyRef === undefined ? E.left("is empty") : E.right({ kind: "Secret", ...secretKeyRef });
  },
  ({ kind, ...ref }): Wire => (kind === "ConfigMap" ? { configMapKeyRef: ref } : { secretKeyRef: ref }),
);
