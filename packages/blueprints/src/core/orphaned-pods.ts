// Finds and deletes the Pods of an ActionSet whose journal is lost: only their labels say that they are its own.
import { asObject, isAbsent, type JsonObject, type KubeObject, messageOf, pods } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import type { ActionSet } from "../api/action-set.ts";
import { ACTION_SET_UID, MADE_BY } from "../api/names.ts";
import type { Effect } from "./effect.ts";
import type { Memory } from "./memory.ts";
import { inquiry, remove } from "./requests.ts";

/** The namespaces in which functions run Pods, as far as known without a journal: its own, and those of its objects. */
const namespacesOf = ({ metadata: { namespace }, spec }: ActionSet): readonly string[] => [
  ...new Set([namespace, ...(spec?.actions ?? []).map(({ object }) => object?.namespace || namespace)]),
];

const found = (list: KubeObject, uid: string): readonly JsonObject[] =>
  ((list["items"] ?? []) as readonly JsonObject[])
    .map(({ metadata }) => asObject(metadata))
    .filter(({ annotations }) => ((asObject(annotations)[MADE_BY] ?? "") as string).startsWith(`${uid}/`));

/** The requests that are left, and the Pods that may run on. */
export interface Orphans {
  readonly effects: readonly Effect[];
  readonly problems: readonly string[];
}

/**
 * Deletes the Pods of an ActionSet without a journal, as the ServiceAccount.
 *
 * Guarantees: with no effects left, each Pod that could be found is deleted, or has a problem.
 */
export const orphanedPods = (memory: Memory, actionSet: ActionSet, as: string): Orphans => {
  const { uid } = actionSet.metadata;
  const { ask, missing } = inquiry(memory);
  const problems = namespacesOf(actionSet).flatMap((namespace) => {
    const listed = ask({
      purpose: "list-pods",
      fact: `orphans/${namespace}`,
      as,
      request: { verb: "list", resource: pods, namespace, labelSelector: `${ACTION_SET_UID}=${uid}` },
    });
    if (listed === undefined) return [];
    if (E.isLeft(listed))
      return [
        `its Pods in namespace ${namespace}, of label ${ACTION_SET_UID}=${uid}, cannot be listed: ${messageOf(listed.left)}`,
      ];
    return found(listed.right, uid).flatMap(({ name, uid: pod }) => {
      const ref = { resource: pods, namespace, name: name as string };
      const removed = ask(remove("delete-pod", `orphans/${pod as string}/removed`, ref, pod as string, as));
      return removed === undefined || E.isRight(removed) || isAbsent(removed.left)
        ? []
        : [`its Pod ${namespace}/${name as string} cannot be deleted: ${messageOf(removed.left)}`];
    });
  });
  return { effects: missing, problems };
};
