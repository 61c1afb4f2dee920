import * as E from "fp-ts/lib/Either.js";
import { as, type Codec, described, oneOf, optional, satisfying, string, type TypeOf } from "./codec.ts";
import type { JsonObject } from "./json.ts";
import type { Rule } from "./rule.ts";
import { object, openObject } from "./structure.ts";
import { Target } from "./target.ts";

/** A change to one object. What a Delete could do with content is not a question that can be asked. */
export type Change =
  | {
      readonly type: "Create" | "Update" | "Patch";
      readonly target: Target;
      readonly content: JsonObject;
      readonly resourceVersion?: string;
    }
  | { readonly type: "Delete"; readonly target: Target; readonly resourceVersion?: string };

// Declared so that CEL sees them; everything else in the content is kept as it is.
const Content = openObject({
  apiVersion: optional(string({ maxLength: 317 })),
  kind: optional(string({ maxLength: 63 })),
  metadata: optional(
    openObject({
      name: optional(string({ maxLength: 253 })),
      namespace: optional(string({ maxLength: 63 })),
      generateName: optional(string({ maxLength: 253 })),
    }),
  ),
});

const Wire = object({
  target: described("The object to change. Each object appears at most once in a Transaction.", Target),
  type: described(
    "What to do with the target. Create makes it and fails if it exists. Update replaces it as a whole with the content. " +
      "Patch sets the fields of the content and leaves all others (server-side apply). Delete removes it. " +
      "Update, Patch and Delete fail if the target does not exist.",
    oneOf("Create", "Update", "Patch", "Delete"),
  ),
  content: optional(
    described(
      "The manifest for a Create or an Update, or the fields to set for a Patch. Not allowed for a Delete. " +
        "apiVersion, kind, name and namespace may be left out, they come from the target; where given, they must say the same.",
      Content,
    ),
  ),
  resourceVersion: optional(
    described(
      "Makes the change only if the target still has this metadata.resourceVersion; otherwise the Transaction fails. Not for a Create.",
      string({ minLength: 1, maxLength: 253 }),
    ),
  ),
});
type Wire = TypeOf<typeof Wire>;

/** Where the content has the field, it must be what the target says. */
const agrees = (
  path: string,
  field: keyof Target,
  of: (content: JsonObject & TypeOf<typeof Content>) => string | undefined,
): Rule<Wire> => {
  const parents = path.split(".").map((_, depth, all) => `has(self.content.${all.slice(0, depth + 1).join(".")})`);
  const known = field === "namespace" ? " || !has(self.target.namespace)" : "";
  return {
    cel: `!has(self.content) || !(${parents.join(" && ")})${known} || self.content.${path} == self.target.${field}`,
    message: `content.${path} contradicts target.${field}: make them the same, or leave content.${path} out`,
    holds: ({ content, target }) => {
      const said = content === undefined ? undefined : of(content);
      return said === undefined || (field === "namespace" && target.namespace === undefined) || said === target[field];
    },
  };
};

const rules: readonly Rule<Wire>[] = [
  {
    cel: "self.type == 'Delete' || has(self.content)",
    message: "content is missing: a Create or Update needs the manifest, a Patch the fields to set",
    holds: ({ type, content }) => type === "Delete" || content !== undefined,
  },
  {
    cel: "self.type != 'Delete' || !has(self.content)",
    message: "content is not used by a Delete: remove it, or change the type",
    holds: ({ type, content }) => type !== "Delete" || content === undefined,
  },
  {
    cel: "self.type != 'Create' || !has(self.resourceVersion)",
    message: "resourceVersion is of an object that exists: remove it from a Create, or change the type",
    holds: ({ type, resourceVersion }) => type !== "Create" || resourceVersion === undefined,
  },
  agrees("apiVersion", "apiVersion", (content) => content.apiVersion),
  agrees("kind", "kind", (content) => content.kind),
  agrees("metadata.name", "name", (content) => content.metadata?.name),
  agrees("metadata.namespace", "namespace", (content) => content.metadata?.namespace),
  {
    cel: "!has(self.content) || !has(self.content.metadata) || !has(self.content.metadata.generateName)",
    message: "content.metadata.generateName cannot be used: a change needs the exact name of its target; remove it",
    holds: ({ content }) => content?.metadata?.generateName === undefined,
  },
];

export const Change: Codec<Change> = as(
  satisfying(Wire, ...rules),
  ({ type, target, content, resourceVersion }): E.Either<string, Change> => {
    const version = resourceVersion === undefined ? {} : { resourceVersion };
    if (type === "Delete") return E.right({ type, target, ...version });
    return content === undefined ? E.left("content is missing") : E.right({ type, target, content, ...version });
  },
  (change) => change as Wire,
);
