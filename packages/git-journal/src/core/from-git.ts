// Compares what files of a commit say with the live objects, and makes the changes that bring the cluster there.
import { isInEveryNamespace, isIrreplaceable } from "@janus/api";
import { asObject, equal, isObject, type Json, type JsonObject, type KubeObject, member } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import * as O from "fp-ts/lib/Option.js";
import type { Filed, FilesOfCommit } from "./files-of-commit.ts";
import { objectName, statedFields } from "./object-file.ts";
import { patchContent } from "./patch-content.ts";

/** An object as it is wanted, and as it is. */
export interface Compared {
  /** The object that is wanted; undefined: there is to be none. */
  readonly wanted: KubeObject | undefined;
  readonly live: KubeObject | undefined;
}

/** A change of a Transaction. */
export interface ObjectChange {
  readonly target: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly name: string;
    readonly namespace?: string;
  };
  readonly type: "Create" | "Update" | "Patch" | "Delete";
  readonly content?: JsonObject;
}

const targetOf = ({ apiVersion, kind, metadata: { name = "", namespace } }: KubeObject): ObjectChange["target"] => ({
  apiVersion,
  kind,
  name,
  ...(namespace === undefined ? {} : { namespace }),
});

/** Whether both say the same in the fields that a file has, or both are absent. */
export const saysSame = (one: KubeObject | undefined, other: KubeObject | undefined): boolean =>
  one === undefined || other === undefined ? one === other : equal(statedFields(one), statedFields(other));

/** Lays the wanted value over the live one: what is not compared, such as an address of a Service, stays. */
const overlaid = (live: Json | undefined, is: Json | undefined, wanted: Json): Json => {
  if (!isObject(live) || !isObject(wanted)) return wanted;
  const compared = isObject(is) ? is : {};
  return {
    ...Object.fromEntries(Object.entries(live).filter(([name]) => !Object.hasOwn(compared, name))),
    ...Object.fromEntries(
      Object.entries(wanted).map(([name, value]) => [
        name,
        overlaid(member(live, name), member(compared, name), value),
      ]),
    ),
  };
};

const part = (of: Json | undefined, name: string): Json | undefined => member(asObject(of), name);

/** The content of an Update, which keeps labels, annotations, owners and finalizers that it does not name. */
const updateContent = (live: KubeObject, is: JsonObject, wanted: JsonObject): JsonObject => {
  const { apiVersion: _, kind: __, status: ___, metadata, ...fields } = live as unknown as JsonObject;
  const { metadata: was, ...isFields } = is;
  const { metadata: to, ...wantedFields } = wanted;
  const named = ["labels", "annotations"]
    .filter((name) => !equal(part(was, name), part(to, name)))
    .map((name) => [name, overlaid(part(metadata, name), part(was, name), part(to, name) ?? {})]);
  const content = asObject(overlaid(fields, isFields, wantedFields));
  return { ...content, ...(named.length === 0 ? {} : { metadata: Object.fromEntries(named) as JsonObject }) };
};

/** Says why an object that Git does not have is left all the same. */
const reasonToLeave = (live: KubeObject): string | undefined => {
  const owner = live.metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (live.metadata.deletionTimestamp !== undefined) return "it is being deleted";
  if (owner !== undefined) return `it belongs to ${owner.kind} ${owner.name}, which would create it again`;
  if (isIrreplaceable(live)) return "its deletion cannot be undone: delete it yourself, if it is to go";
  return isInEveryNamespace(live) ? "every namespace has it" : undefined;
};

/** The change that creates an object. A Create of an object that Kubernetes makes in every namespace would fail. */
const creation = (wanted: KubeObject): E.Either<string, O.Option<ObjectChange>> => {
  const content = statedFields(wanted);
  if (!isInEveryNamespace(wanted)) return E.right(O.some({ target: targetOf(wanted), type: "Create", content }));
  return Object.keys(content).length === 0
    ? E.right(O.none)
    : E.left(
        `${objectName(wanted)}: Kubernetes makes it itself, with its namespace: once that is there, plan again to have what Git says of it`,
      );
};

/** Whether an object has the certificates of the cluster: Kubernetes puts back what others write there. */
const isOfThisCluster = (object: KubeObject): boolean => object.kind === "ConfigMap" && isInEveryNamespace(object);

/**
 * Makes the change that brings an object to what is wanted; none if it is so. On the left: why it is left as it is.
 *
 * Guarantees: after the change, its file says what is wanted; what no file has, such as owners, finalizers and annotations of controllers,
 *             stays. A Patch where nothing has to go, else an Update; nothing is deleted that cannot be created again as it was.
 */
export const changeTo = ({ wanted, live }: Compared): E.Either<string, O.Option<ObjectChange>> => {
  if (wanted === undefined) {
    if (live === undefined) return E.right(O.none);
    const why = reasonToLeave(live);
    return why === undefined
      ? E.right(O.some({ target: targetOf(live), type: "Delete" }))
      : E.left(`${objectName(live)}: ${why}`);
  }
  if (isOfThisCluster(wanted)) return E.right(O.none);
  if (live === undefined) return creation(wanted);
  const target = targetOf(wanted);
  const to = statedFields(wanted);
  const is = statedFields(live);
  if (equal(is, to)) return E.right(O.none);
  const patch = patchContent(live, is, to);
  return E.right(
    O.some(
      O.isSome(patch)
        ? { target, type: "Patch", content: patch.value }
        : { target, type: "Update", content: updateContent(live, is, to) },
    ),
  );
};

/** The state that one object is to have. */
export interface Goal {
  readonly path: string;
  /** An object that has its kind, namespace and name. */
  readonly object: KubeObject;
  /** The object as it is to be; undefined: there is to be none. */
  readonly wanted: KubeObject | undefined;
}

/**
 * Makes the goals that bring the cluster to a commit. Objects go whose files the tip has, and the commit has not. Objects that
 * have a file in neither are left alone.
 */
export const goalsOf = (at: FilesOfCommit, tip: FilesOfCommit): readonly Goal[] => [
  ...[...at.objects.values()].flatMap(({ path, object, isWhole }) =>
    isWhole ? [{ path, object, wanted: object }] : [],
  ),
  ...[...tip.objects].flatMap(([key, { path, object }]) =>
    at.objects.has(key) ? [] : [{ path, object, wanted: undefined }],
  ),
];

export interface RevertedGoal extends Goal {
  /** The object as the commit has made it; undefined: there was none after it. */
  readonly wrote: Filed | undefined;
}

/** Makes the goals that take a commit back, by its files and those that its parent has in their place. */
export const goalsOfRevert = (commit: FilesOfCommit, parent: FilesOfCommit): readonly RevertedGoal[] =>
  [...new Map([...commit.objects, ...parent.objects])]
    .toSorted(([, { path: one }], [, { path: other }]) => (one < other ? -1 : 1))
    .flatMap(([key, { path, object }]) => {
      const former = parent.objects.get(key);
      return former?.isWhole === false
        ? []
        : [{ path, object, wanted: former?.object, wrote: commit.objects.get(key) }];
    });

/** Leaves out the data of a Secret, for comparing it with a file that does not have them. */
const withoutData = (secret: KubeObject): KubeObject => ({ ...secret, data: {}, stringData: {}, sops: {} });

/** The object as the commit has made it, and the live one, as far as both are known. */
const comparable = (
  { wrote }: RevertedGoal,
  live: KubeObject | undefined,
): readonly [wrote: KubeObject | undefined, live: KubeObject | undefined] =>
  wrote?.isWhole === false
    ? [withoutData(wrote.object), live === undefined ? undefined : withoutData(live)]
    : [wrote?.object, live];

/** Whether the live object is neither as the commit has made it, nor as before: another change would be lost, too. */
export const isConflict = (goal: RevertedGoal, live: KubeObject | undefined): boolean => {
  const [wrote, is] = comparable(goal, live);
  return !saysSame(live, goal.wanted) && !saysSame(is, wrote);
};

/** Both as they are compared, for people: the object as the commit has made it, and the live one. */
export const conflicting = (
  goal: RevertedGoal,
  live: KubeObject | undefined,
): readonly [wrote: KubeObject | undefined, live: KubeObject | undefined] => {
  const { apiVersion, kind, metadata } = goal.object;
  const { name = "", namespace } = metadata;
  const place = { name, ...(namespace === undefined ? {} : { namespace }) };
  const [wrote, is] = comparable(goal, live).map((object) => {
    if (object === undefined) return undefined;
    const { metadata: stated, ...fields } = statedFields(object);
    return { ...fields, apiVersion, kind, metadata: { ...asObject(stated), ...place } };
  });
  return [wrote, is];
};
