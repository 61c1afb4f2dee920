// Builds the bodies of the writes that apply a change or restore its target, with our mark.
import { applyManager, fieldManager, GROUP, groupOf, isBuiltIn, type ResolvedChange } from "@janus/api";
import { toBase64 } from "../kubernetes/base64.ts";
import { controlledFields } from "../kubernetes/controlled-fields.ts";
import { withoutGenerated } from "./job-selector.ts";
import { withoutNulls } from "./nulls.ts";
import {
  fromTimestamp,
  toTimestamp,
  asObject,
  isObject,
  type Json,
  type JsonObject,
  type KubeObject,
  type ManagedFieldsEntry,
  type ObjectMeta,
  type OwnerReference,
  without,
} from "@janus/types";
import type { ObjectRef } from "../kubernetes/kube-object.ts";

export interface TransactionRef {
  readonly name: string;
  readonly uid: string;
  /** The time by the clock of the API server, to the second. */
  readonly creationTimestamp?: string | undefined;
}

export const markOf = (...names: readonly string[]): JsonObject => ({
  "f:metadata": { "f:annotations": Object.fromEntries(names.map((name) => [`f:${GROUP}/${name}`, {}])) },
});

export const MARK = markOf("created-by");

const isOfApply = (change: ResolvedChange): boolean =>
  (change.type === "Create" || change.type === "Patch") && change.isApply === true;

/** The field manager of the write of this change. */
export const managerOf = (change: ResolvedChange, author: TransactionRef): string =>
  isOfApply(change) ? applyManager(author) : fieldManager(author);

/**
 * The mark of a PUT of a rollback that knew, by the Apply entry which it replaces, what the change had set: so what has no
 * manager after it, and another value than before, was set by admission.
 */
export const RESTORED_MARK = markOf("created-by", "restored-by");

/** The mark of what a rollback has created again: what has replaced it has the other one. */
export const RECREATED_MARK = markOf("created-by", "recreated-by");

/** Marks a write that has no field in common with the object. */
export const APPLIED_MARK = markOf("applied-by");

export const ALL_MARKS = markOf("created-by", "restored-by", "recreated-by", "applied-by");

/**
 * A managedFields entry that marks our write. The API server creates none if a create sets no fields or an
 * update only removes some. It keeps this one, although the annotation does not exist, and later edits preserve
 * it (docs/internals.md, "Measured facts of the API server").
 */
const mark = (manager: string, apiVersion: string, fieldsV1: JsonObject): ManagedFieldsEntry => ({
  manager,
  operation: "Update",
  apiVersion,
  fieldsType: "FieldsV1",
  fieldsV1,
});

/**
 * Gives the entry the latest time: if there are more than ten updaters, the API server merges the oldest under another name (see
 * `ancient-changes.ts`).
 */
const latest = (entry: ManagedFieldsEntry, entries: readonly ManagedFieldsEntry[]): ManagedFieldsEntry => {
  const times = entries.flatMap(({ time }) => fromTimestamp(time) ?? []);
  return times.length === 0 ? entry : { ...entry, time: toTimestamp(Math.max(...times) + 1000) };
};

/** The entries with that of this manager, which shows that the write was made. */
export const marked = (
  entries: readonly ManagedFieldsEntry[],
  manager: string,
  apiVersion: string,
  fields = MARK,
): readonly ManagedFieldsEntry[] => [...entries, latest(mark(manager, apiVersion, fields), entries)];

const KEPT_METADATA = ["labels", "annotations", "finalizers", "ownerReferences"] as const;

const keptMetadata = (metadata: ObjectMeta | JsonObject): JsonObject => {
  const all = metadata as JsonObject;
  return Object.fromEntries(KEPT_METADATA.flatMap((name) => (all[name] === undefined ? [] : [[name, all[name]]])));
};

/**
 * The part of an object that a write can change: no status if it is a subresource, and only the metadata that
 * users set.
 */
export const writable = (object: KubeObject | JsonObject, place: ObjectRef): JsonObject => {
  const { apiVersion: _, kind: __, metadata, status, ...rest } = object as JsonObject;
  const kept = place.resource.statusSubresource || status === undefined ? rest : { ...rest, status };
  return withMetadata(kept, keptMetadata(asObject(metadata)));
};

const withMetadata = (fields: JsonObject, metadata: JsonObject): JsonObject =>
  Object.keys(metadata).length === 0 ? fields : { ...fields, metadata };

export const identity = (place: ObjectRef): JsonObject => ({
  name: place.name,
  ...(place.namespace === undefined ? {} : { namespace: place.namespace }),
});

const writtenContent = (change: ResolvedChange): JsonObject => {
  if (change.type === "Delete") return {};
  const { apiVersion, kind } = change.target;
  if (kind !== "Secret" || apiVersion !== "v1") return change.content;
  const { data, ...rest } = change.content;
  // Charts render an empty `data:`, which is null, and sets nothing; in a Patch it removes all of it.
  const setsNothing = data === null && (change.type !== "Patch" || isOfApply(change));
  return withoutStringData(setsNothing ? rest : change.content);
};

/**
 * The content that a change sets, without nulls: a Patch removes what is null, and an Apply does not set it. In a Create or an Update
 * of a built-in kind, the API server would take null for "", 0 or nothing, by the type of the field; of a custom resource, it may be
 * a value.
 */
export const contentOf = (change: ResolvedChange): JsonObject => {
  const isValue = change.type !== "Patch" && !isOfApply(change) && !isBuiltIn(groupOf(change.target.apiVersion));
  return isValue ? writtenContent(change) : withoutNulls(writtenContent(change));
};

/**
 * A Secret's content with `stringData` moved to `data`. Fields that are written through `stringData` get no
 * field manager.
 * https://kubernetes.io/docs/concepts/configuration/secret/#restriction-names-data
 */
const withoutStringData = (content: JsonObject): JsonObject => {
  const { stringData, ...rest } = content;
  const { data = {} } = rest;
  // Invalid content is for the API server to reject.
  if (!isObject(data) || !isTexts(stringData)) return content;
  const encoded = Object.entries(stringData).map(
    ([key, text]) => [key, text === null ? null : toBase64(text)] as const,
  );
  return { ...rest, data: { ...data, ...Object.fromEntries(encoded) } };
};

const isTexts = (value: unknown): value is Readonly<Record<string, string | null>> =>
  isObject(value) && Object.values(value).every((text) => text === null || typeof text === "string");

export const createBody = (change: ResolvedChange, place: ObjectRef, author: TransactionRef): object => {
  const content = contentOf(change);
  return {
    ...content,
    apiVersion: change.target.apiVersion,
    kind: change.target.kind,
    metadata: {
      ...keptMetadata(asObject(content["metadata"])),
      ...identity(place),
      managedFields: [mark(managerOf(change, author), change.target.apiVersion, MARK)],
    },
  };
};

/** Adds the live value, for an Update, or none, for a Patch, of what a controller sets: else it would be gone for a moment. */
const withControlled = (
  change: ResolvedChange,
  content: JsonObject,
  place: ObjectRef,
  before: KubeObject,
): JsonObject => {
  const rest = change.type === "Patch" && change.isApply !== true ? before : undefined;
  const names = controlledFields(place.resource, change.type === "Delete" ? content : change.content, rest);
  if (names.length === 0) return content;
  const kept = change.type === "Update" ? names.filter((name) => before[name] !== undefined) : [];
  return { ...without(content, names), ...Object.fromEntries(kept.map((name) => [name, before[name] as Json])) };
};

/** The content with null where a Patch removes a field. */
export const nulledContent = (change: ResolvedChange, place: ObjectRef, before: KubeObject): JsonObject =>
  withControlled(change, writable(writtenContent(change), place), place, before);

/**
 * The result of an Update or Patch, without identity, preconditions or marks. An Update replaces everything. But
 * labels, annotations, finalizers and owner references that its content does not name stay as they are, as does
 * a `.status` that is not a subresource.
 */
export const desiredState = (change: ResolvedChange, place: ObjectRef, before: KubeObject): JsonObject => {
  const content = withControlled(change, writable(contentOf(change), place), place, before);
  if (change.type !== "Update") return content;
  const was = writable(before, place);
  const fields = { ...(was["status"] === undefined ? {} : { status: was["status"] }), ...content };
  return withMetadata(fields, { ...asObject(was["metadata"]), ...asObject(content["metadata"]) });
};

/** The body of a write, with the version that it was decided on as precondition. */
const versionedBody = (
  { target }: ResolvedChange,
  place: ObjectRef,
  before: KubeObject,
  body: JsonObject,
  more: Pick<ObjectMeta, "managedFields"> = {},
): object => ({
  ...body,
  apiVersion: target.apiVersion,
  kind: target.kind,
  metadata: {
    ...asObject(body["metadata"]),
    ...identity(place),
    uid: before.metadata.uid ?? "",
    resourceVersion: before.metadata.resourceVersion ?? "",
    ...more,
  },
});

/**
 * The body of a PUT, with its managedFields. It includes a status that is a subresource: the API server ignores it, but its manager in
 * another version of the kind would lose it if it were missing.
 */
export const putBody = (
  change: ResolvedChange,
  place: ObjectRef,
  before: KubeObject,
  body: JsonObject,
  managedFields: readonly ManagedFieldsEntry[],
): object =>
  versionedBody(
    change,
    place,
    before,
    { ...(before["status"] === undefined ? {} : { status: before["status"] as Json }), ...body },
    { managedFields },
  );

/** The body of an Update or Patch. */
export const changeBody = (
  change: ResolvedChange,
  place: ObjectRef,
  before: KubeObject,
  author: TransactionRef,
): object => {
  const body = desiredState(change, place, before);
  const entries = before.metadata.managedFields ?? [];
  const isUpdate = change.type === "Update";
  return isUpdate
    ? putBody(change, place, before, body, marked(entries, fieldManager(author), change.target.apiVersion))
    : versionedBody(change, place, before, body);
};

/** The body to create a deleted object again. `owners`: its former owners that exist now. */
export const recreateBody = (
  before: KubeObject,
  place: ObjectRef,
  author: TransactionRef,
  owners: readonly OwnerReference[],
): object => {
  const body = writable(withoutGenerated(before), place);
  const { ownerReferences: _, ...metadata } = asObject(body["metadata"]);
  const { generateName } = before.metadata;
  return {
    ...body,
    apiVersion: before.apiVersion,
    kind: before.kind,
    metadata: {
      ...metadata,
      ...(generateName === undefined ? {} : { generateName }),
      ...(owners.length === 0 ? {} : { ownerReferences: owners }),
      ...identity(place),
      managedFields: [mark(fieldManager(author), before.apiVersion, RECREATED_MARK)],
    },
  };
};
