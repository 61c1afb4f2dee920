import type { Transaction } from "@janus/api";
import { type ChangeManifest, changeOf, type Manifest } from "@janus/authoring";
import type { KubeObject, Resource } from "@janus/kube";
import { objectDiff } from "../plan/object-diff.ts";
import type { Former } from "./snapshots.ts";

/** What was there before a change, and what is there now. */
export interface Compared {
  readonly former: Former;
  /** `Deployment shop/web` */
  readonly name: string;
  readonly live: KubeObject | undefined;
  readonly resource: Resource;
}

/** As a whole: an Update keeps labels and annotations that its content does not name. */
const updateTo = (object: KubeObject): ChangeManifest => {
  const { labels = {}, annotations = {}, ...metadata } = object.metadata;
  return changeOf({ ...object, metadata: { ...metadata, labels, annotations } } as Manifest, "Update");
};

/** The changes that bring back what was there before: in the reverse order, and only where something differs. */
export const restoring = ({ spec, metadata }: Transaction, compared: readonly Compared[]): readonly ChangeManifest[] =>
  compared.toReversed().flatMap(({ former, name, live, resource }): readonly ChangeManifest[] => {
    const target = spec.changes[former.index]?.target;
    if (target === undefined || former.type === "lost") return [];
    const { namespace = metadata.namespace, ...rest } = target;
    const there = live?.metadata.namespace === undefined && former.type === "none" ? rest : { ...rest, namespace };
    if (former.type === "none") return live === undefined ? [] : [{ target: there, type: "Delete" }];
    if (live === undefined) return [changeOf(former.object as Manifest, "Create")];
    return objectDiff(name, live, former.object, resource) === "" ? [] : [updateTo(former.object)];
  });
