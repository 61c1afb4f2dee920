// The codec of one entry of spec.changes, with the CEL rules of a single change.
import * as E from "fp-ts/lib/Either.js";
import { ContentSource } from "./content-source.ts";
import { duration } from "./duration.ts";
import { Gates } from "./gates.ts";
import { as, type Codec, described, oneOf, optional, satisfying, string, type TypeOf } from "./codec.ts";
import type { JsonObject } from "@janus/types";
import type { Rule } from "./rule.ts";
import { type Mistake, mistakes } from "./report.ts";
import { object, openObject } from "./structure.ts";
import { Target } from "./target.ts";

interface Waiting {
  /** Absent: that of `spec.waitFor`. */
  readonly waitFor?: readonly string[];
  /** Milliseconds; absent: the rest of `spec.timeout`. */
  readonly waitTimeout?: number;
}

interface Write<Type> extends Waiting {
  readonly type: Type;
  readonly target: Target;
  /** Empty as long as it is elsewhere, and was not read. */
  readonly content: JsonObject;
  readonly contentFrom?: ContentSource;
  readonly resourceVersion?: string;
}
interface Deletion extends Waiting {
  readonly type: "Delete";
  readonly target: Target;
  readonly resourceVersion?: string;
}

/**
 * One operation on one object: all that is applied and rolled back is one of these. A Delete has no content by type. `isApply`:
 * its author wrote an Apply.
 */
export type ResolvedChange =
  | (Write<"Create" | "Patch"> & { readonly isApply?: true })
  | Write<"Update" | "Replace">
  | Deletion;

/**
 * A change as its author writes it. Whether an Apply is a Create or a Patch, and a Replace a Create, is decided by its target, before
 * any change is made.
 */
export type Change = ResolvedChange | Write<"Apply">;

/** Whether the change deletes the object that is there before it. */
export const deletes = ({ type }: Pick<Change, "type">): boolean => type === "Delete" || type === "Replace";

/** Whether the change may make an object. */
export const mayCreate = ({ type }: Pick<Change, "type">): boolean =>
  type === "Create" || type === "Apply" || type === "Replace";

// Declared so that CEL can read them; all other fields of the content are preserved.
const Content = openObject({
  apiVersion: optional(described("May be omitted; if set, it must match the target.", string({ maxLength: 317 }))),
  kind: optional(described("May be omitted; if set, it must match the target.", string({ maxLength: 63 }))),
  metadata: optional(
    described(
      "Labels, annotations and so on, as in any manifest.",
      openObject({
        name: optional(described("May be omitted; if set, it must match the target.", string({ maxLength: 253 }))),
        namespace: optional(described("May be omitted; if set, it must match the target.", string({ maxLength: 63 }))),
        generateName: optional(
          described("Not allowed: the name of the target must be known.", string({ maxLength: 253 })),
        ),
      }),
    ),
  ),
});

const Wire = object({
  target: described("The object to change. Each object appears at most once in a Transaction.", Target),
  type: described(
    "What to do with the target. Create creates it and fails if it exists. Update replaces the whole object with the content. " +
      "Patch sets the fields of the content, removes those that are null, and leaves all others (server-side apply). Delete deletes it. " +
      "Update, Patch and Delete fail if the target does not exist. " +
      "Apply is a Patch if the target exists when the Transaction is prepared, and a Create if it does not; " +
      "it removes what an earlier Apply has set and the content leaves out. " +
      "Replace deletes the target, waits until it is gone, and creates it from the content: for what cannot be edited, such as the template of a Job. If the target does not exist, it is a Create.",
    oneOf("Create", "Update", "Patch", "Apply", "Replace", "Delete"),
  ),
  content: optional(
    described(
      "The manifest for a Create, an Update, an Apply or a Replace, or the fields to set for a Patch. Not allowed for a Delete. " +
        "apiVersion, kind, name and namespace may be omitted; if set, they must match the target.",
      Content,
    ),
  ),
  contentFrom: optional(
    described(
      "Where the content is, instead of content: for what is large, or must not be read by all who may read Transactions. The ConfigMap or Secret must be immutable, and exist before the Transaction begins; it is read as the ServiceAccount.",
      ContentSource,
    ),
  ),
  resourceVersion: optional(
    described(
      "Applies the change only if the target still has this metadata.resourceVersion; otherwise the Transaction fails. Not allowed for a Create, an Apply or a Replace.",
      satisfying(string({ maxLength: 253 }), {
        cel: "self != ''",
        message:
          "resourceVersion must be a metadata.resourceVersion of the target; to change whatever version there is, leave it out",
        holds: (version) => version !== "",
      }),
    ),
  ),
  waitFor: optional(
    described(
      "Gates that the target must meet before the next change is applied, in the syntax of kubectl wait --for: ready (its rollout is complete, by the rules of kstatus), condition=NAME[=VALUE], jsonpath={PATH}[=VALUE], cel=EXPRESSION over self, create or delete. All must hold. If one can no longer be reached, or not in time, the Transaction is rolled back. Default: spec.waitFor; an empty list: wait for nothing.",
      Gates,
    ),
  ),
  waitTimeout: optional(
    described(
      "How long to wait for waitFor, such as 10m; at least 1s. Default: what is left of spec.timeout.",
      duration,
    ),
  ),
});
type Wire = TypeOf<typeof Wire>;

/** If the content names an object, it must be the target. */
const agrees = (
  field: keyof Target,
  path: string,
  cel: string,
  said: (content: TypeOf<typeof Content>) => string | undefined,
): Rule<Wire> => ({
  cel: `!has(self.content) || ${cel}`,
  message: `content.${path} contradicts target.${field}: make them the same, or leave content.${path} out`,
  holds: ({ content, target }) => {
    const name = content === undefined ? undefined : said(content);
    return name === undefined || target[field] === undefined || name === target[field];
  },
});

/**
 * The API server evaluates them for every change, at every write of a Transaction, also one of its status: each begins with what most
 * changes meet. None is inside of the content: to look into that costs the API server more than all of these.
 */
const rules: readonly Rule<Wire>[] = [
  {
    cel: "has(self.content) || has(self.contentFrom) || self.type == 'Delete'",
    message: "content is missing: a Create, Update, Apply or Replace needs the manifest, a Patch the fields to set",
    holds: ({ type, content, contentFrom }) => type === "Delete" || content !== undefined || contentFrom !== undefined,
  },
  {
    cel: "!has(self.contentFrom) || !has(self.content)",
    message: "content and contentFrom exclude each other: leave one of them out",
    holds: ({ content, contentFrom }) => content === undefined || contentFrom === undefined,
  },
  {
    cel: "self.type != 'Delete' || (!has(self.content) && !has(self.contentFrom))",
    message: "content is not used by a Delete: remove it, or change the type",
    holds: ({ type, content, contentFrom }) =>
      type !== "Delete" || (content === undefined && contentFrom === undefined),
  },
  {
    cel: "!has(self.resourceVersion) || !(self.type in ['Create', 'Apply', 'Replace'])",
    message:
      "resourceVersion is of an object that exists: remove it from a Create, an Apply or a Replace, or change the type",
    holds: ({ type, resourceVersion }) =>
      !["Create", "Apply", "Replace"].includes(type) || resourceVersion === undefined,
  },
  agrees(
    "apiVersion",
    "apiVersion",
    "!has(self.content.apiVersion) || self.content.apiVersion == self.target.apiVersion",
    (content) => content.apiVersion,
  ),
  agrees("kind", "kind", "!has(self.content.kind) || self.content.kind == self.target.kind", (content) => content.kind),
  agrees(
    "name",
    "metadata.name",
    "!has(self.content.metadata) || !has(self.content.metadata.name) || self.content.metadata.name == self.target.name",
    (content) => content.metadata?.name,
  ),
  // `__namespace__` is the CEL name of a field that is called like a keyword. CEL cannot resolve the default of an omitted
  // namespace: the controller compares that one.
  agrees(
    "namespace",
    "metadata.namespace",
    "!has(self.content.metadata) || !has(self.content.metadata.__namespace__) || !has(self.target.__namespace__)" +
      " || self.content.metadata.__namespace__ == self.target.__namespace__",
    (content) => content.metadata?.namespace,
  ),
  {
    cel: "!has(self.content) || !has(self.content.metadata) || !has(self.content.metadata.generateName)",
    message: "content.metadata.generateName cannot be used: a change needs the exact name of its target; remove it",
    holds: ({ content }) => content?.metadata?.generateName === undefined,
  },
];

/** The change as it is written: its content is in the spec, or elsewhere. */
export const asWritten = (change: Change): Change | Omit<Write<Change["type"]>, "content"> => {
  if (change.type === "Delete" || change.contentFrom === undefined) return change;
  const { content: _, ...rest } = change;
  return rest;
};

const Checked = satisfying(Wire, ...rules);

export const Change: Codec<Change> = as(
  Checked,
  ({ type, content, contentFrom, ...rest }): E.Either<string, Change> => {
    if (type === "Delete") return E.right({ type, ...rest });
    if (contentFrom !== undefined) return E.right({ type, content: {}, contentFrom, ...rest });
    return content === undefined ? E.left("content is missing") : E.right({ type, content, ...rest });
  },
  (change) => asWritten(change) as Wire,
);

/** The mistakes that the API server would reject if this content of a change was in the spec. */
export const contentMistakes = ({ target, type }: Change, content: JsonObject): readonly Mistake[] => {
  const checked = Checked.decode({ target, type, content });
  return E.isRight(checked) ? [] : mistakes(checked.left);
};
