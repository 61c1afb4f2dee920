// Finds an order of the changes in which the irreversible ones come last.
import { groupOf, type Transaction } from "@janus/api";
import type { ChangePreview } from "@janus/controller";
import { asObject, equal, type Json } from "@janus/types";
import type { Previewed } from "./run-preview.ts";

type Change = Transaction["spec"]["changes"][number];

const WORKLOADS: readonly string[] = [
  "Pod",
  "ReplicationController",
  "ReplicaSet",
  "Deployment",
  "StatefulSet",
  "DaemonSet",
  "Job",
  "CronJob",
];

/** Whether a field of it that refers to an object by its name, such as `secretName`, has this value. */
const names = (content: Json | undefined, name: string): boolean => {
  if (Array.isArray(content)) return content.some((item: Json) => names(item, name));
  return Object.entries(asObject(content)).some(
    ([field, value]) => (/name$/iu.test(field) && value === name) || names(value, name),
  );
};

const CONTENTS: readonly string[] = ["data", "binaryData", "stringData", "type"];

const readsContents = ({ before, after, place }: ChangePreview, { content }: { readonly content?: Json }): boolean =>
  names(content, place.name) && !CONTENTS.every((field) => equal(before?.[field] ?? null, after?.[field] ?? null));

/**
 * Tells, by the kind of an object whose change cannot be undone, whether another change may rely on it. Nobody waits for a claim
 * that is larger, or gone.
 */
const reliesOn: Readonly<Record<string, (preview: ChangePreview, other: Change) => boolean>> = {
  ConfigMap: (preview, other) => other.type !== "Delete" && readsContents(preview, other),
  Secret: (preview, other) => other.type !== "Delete" && readsContents(preview, other),
  // Its own objects, and its controller.
  CustomResourceDefinition: ({ after, before }, { target }) =>
    groupOf(target.apiVersion) === asObject((after ?? before)?.["spec"])["group"] || WORKLOADS.includes(target.kind),
};

/** A change that cannot be undone, and a later one that may rely on it. */
export interface Needed {
  readonly index: number;
  readonly by: number;
}

export type Reordered =
  /** The indexes of the changes in an order in which what cannot be undone comes last. */
  | { readonly type: "order"; readonly order: readonly number[] }
  /** There is none in one Transaction. */
  | { readonly type: "needed"; readonly needed: readonly [Needed, ...Needed[]] };

/**
 * The order in which the changes of a Transaction that was composed can be executed: what cannot be undone comes last, and all
 * else stays as it is. Undefined: it is in such an order.
 */
export const irreversibleLast = ({ txn, changes }: Previewed): Reordered | undefined => {
  const early = changes.filter(({ tooEarly }) => tooEarly !== undefined);
  if (early.length === 0) return undefined;
  const moved = new Set(early.map(({ index }) => index));
  const [first, ...more] = early.flatMap((preview): readonly Needed[] => {
    const relies = reliesOn[preview.place.resource.kind] ?? (() => false);
    const by = txn.spec.changes.findIndex(
      (other, at) => at > preview.index && !moved.has(at) && relies(preview, other),
    );
    return by < 0 ? [] : [{ index: preview.index, by }];
  });
  if (first !== undefined) return { type: "needed", needed: [first, ...more] };
  const kept = [...txn.spec.changes.keys()].filter((index) => !moved.has(index));
  return { type: "order", order: [...kept, ...moved] };
};
