// Finds where CSI snapshots are served, and waits until one is ready: for the functions that make or delete them.
import { asObject, isAbsent, type Json, type KubeObject, messageOf } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { nameOf, placeOf } from "../made-object.ts";
import { resourceNamed } from "../object-lookup.ts";
import { type Access, inquiryOf, type PhaseContext, type PhaseStep, WATCHED } from "../phase-context.ts";
import { get, type Inquiry, type ObjectRef } from "../requests.ts";

export const SNAPSHOT_GROUP = "snapshot.storage.k8s.io";
export const SNAPSHOT_VERSION = `${SNAPSHOT_GROUP}/v1`;

type Plural = "volumesnapshots" | "volumesnapshotcontents" | "volumesnapshotclasses";

/** Returns a reference to an object of snapshots. Left: the cluster has no snapshots. Undefined: it is still to be asked. */
export const snapshotRef = (
  inquiry: Inquiry,
  resource: Plural,
  namespace: string,
  name: string,
): E.Either<string, ObjectRef> | undefined => {
  const found = resourceNamed(inquiry, { group: SNAPSHOT_GROUP, apiVersion: "v1", resource });
  return found && E.map((one: ObjectRef["resource"]) => placeOf(one, namespace, name))(found);
};

export const snapshotAccess = (resource: Plural, namespace: string, verbs: readonly string[]): readonly Access[] =>
  verbs.map((verb) => ({ verb, group: SNAPSHOT_GROUP, resource, namespace }));

const textAt = (fields: Json | undefined, name: string): string | undefined => {
  const value = asObject(fields)[name];
  return typeof value === "string" ? value : undefined;
};

/** The snapshotter tries again at once. */
const PASSING = "the object has been modified; please apply your changes to the latest version and try again";

type Snapshot = Readonly<Record<"restoreSize" | "snapshotContent", string>>;

/** Returns a snapshot that is ready. Left: why it never will be. Undefined: not yet. */
const ready = ({ status }: KubeObject): E.Either<string, Snapshot> | undefined => {
  const state = asObject(status);
  const problem = textAt(state["error"], "message");
  if (state["error"] !== undefined && problem?.includes(PASSING) !== true) return E.left(problem ?? "it has failed");
  if (state["readyToUse"] !== true || textAt(state, "creationTime") === undefined) return undefined;
  return E.right({
    restoreSize: textAt(state, "restoreSize") ?? "0",
    snapshotContent: textAt(state, "boundVolumeSnapshotContentName") ?? "",
  });
};

/** Waits until it is ready, and ends with what Kanister tells of it. */
export const untilReady = (
  context: PhaseContext,
  ref: ObjectRef,
  output: Readonly<Record<string, string>>,
): PhaseStep => {
  const { ask, missing } = inquiryOf(context);
  const answer = ask(get("read-snapshot", WATCHED, ref, context.serviceAccount));
  if (answer === undefined) return { type: "run", effects: missing };
  if (E.isLeft(answer))
    return {
      type: "fail",
      message: isAbsent(answer.left)
        ? `${nameOf(ref)} was deleted before it was ready`
        : `${nameOf(ref)} cannot be read: ${messageOf(answer.left)}`,
    };
  const state = ready(answer.right);
  if (state === undefined)
    return {
      type: "wait",
      until: Number.POSITIVE_INFINITY,
      because: `${nameOf(ref)} is not ready to use yet`,
      watched: [{ ref, resourceVersion: answer.right.metadata.resourceVersion }],
    };
  return E.isLeft(state)
    ? { type: "fail", message: `${nameOf(ref)}: ${state.left}` }
    : { type: "end", output: { ...output, ...state.right } };
};
