// CreateCSISnapshot: takes a snapshot of a PersistentVolumeClaim, and waits until it is ready.
import { isAbsent, type KubeObject, messageOf } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import type { Args, ArgTable } from "../args.ts";
import { madeObject, nameOf } from "../made-object.ts";
import { shortHash } from "../names.ts";
import { inquiryOf, type KanisterFunction, madeBy, type PhaseContext, type PhaseStep } from "../phase-context.ts";
import { claims, get } from "../requests.ts";
import { SNAPSHOT_VERSION, snapshotAccess, snapshotRef, untilReady } from "./csi-snapshots.ts";

const args = {
  pvc: { type: "text", isRequired: true, about: "The PersistentVolumeClaim." },
  namespace: { type: "text", isRequired: true, about: "Of the claim, and of the snapshot." },
  snapshotClass: { type: "text", isRequired: true, about: "The VolumeSnapshotClass." },
  name: { type: "text", about: "Of the snapshot. Default: <pvc>-snapshot-<hash>." },
  labels: { type: "map", about: "Labels of the snapshot." },
} as const satisfies ArgTable;

const fail = (message: string): PhaseStep => ({ type: "fail", message });

const take = (read: Args<typeof args>, context: PhaseContext): PhaseStep => {
  const { pvc, namespace, snapshotClass, labels } = read;
  const name =
    read.name === undefined || read.name === "" ? `${pvc}-snapshot-${shortHash(madeBy(context))}` : read.name;
  const inquiry = inquiryOf(context);
  const run: PhaseStep = { type: "run", effects: inquiry.missing };
  const claim = { resource: claims, namespace, name: pvc };
  const found = inquiry.ask(get("read-claim", "claim", claim, context.serviceAccount));
  const ref = snapshotRef(inquiry, "volumesnapshots", namespace, name);
  if (found === undefined || ref === undefined) return run;
  if (E.isLeft(ref)) return fail(ref.left);
  if (E.isLeft(found))
    return fail(
      isAbsent(found.left) ? `${nameOf(claim)} not found` : `${nameOf(claim)} cannot be read: ${messageOf(found.left)}`,
    );
  const body: KubeObject = {
    apiVersion: SNAPSHOT_VERSION,
    kind: "VolumeSnapshot",
    metadata: labels === undefined ? {} : { labels },
    spec: { volumeSnapshotClassName: snapshotClass, source: { persistentVolumeClaimName: pvc } },
  };
  const made = madeObject(inquiry, context, "snapshot", ref.right, body);
  if (made === undefined) return run;
  return E.isLeft(made) ? fail(made.left) : untilReady(context, ref.right, { name, pvc, namespace });
};

export const createCsiSnapshot: KanisterFunction<typeof args> = {
  about: "Takes a snapshot of a PersistentVolumeClaim, and waits until it is ready to use.",
  args,
  outputs: "name, pvc, namespace, restoreSize and snapshotContent (the VolumeSnapshotContent).",
  access: ({ namespace }) =>
    namespace === undefined
      ? []
      : [
          { verb: "get", group: "", resource: "persistentvolumeclaims", namespace },
          ...snapshotAccess("volumesnapshots", namespace, ["create", "get"]),
        ],
  step: take,
};
