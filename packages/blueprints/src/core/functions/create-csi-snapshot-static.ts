// CreateCSISnapshotStatic: makes a VolumeSnapshot of a snapshot that the storage has, and waits until it is ready.
import { isAbsent, type KubeObject, messageOf } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import type { Args, ArgTable } from "../args.ts";
import { madeObject, nameOf } from "../made-object.ts";
import { shortHash } from "../names.ts";
import { inquiryOf, type KanisterFunction, madeBy, type PhaseContext, type PhaseStep } from "../phase-context.ts";
import { get } from "../requests.ts";
import { SNAPSHOT_VERSION, snapshotAccess, snapshotRef, untilReady } from "./csi-snapshots.ts";

const args = {
  name: { type: "text", isRequired: true, about: "Of the VolumeSnapshot." },
  namespace: { type: "text", isRequired: true, about: "Of the VolumeSnapshot." },
  driver: { type: "text", isRequired: true, about: "The CSI driver." },
  snapshotHandle: { type: "text", isRequired: true, about: "The snapshot, as the storage names it." },
  snapshotClass: {
    type: "text",
    isRequired: true,
    about: "The VolumeSnapshotClass; its deletionPolicy is taken over.",
  },
} as const satisfies ArgTable;

const fail = (message: string): PhaseStep => ({ type: "fail", message });

const make = (read: Args<typeof args>, context: PhaseContext): PhaseStep => {
  const { name, namespace, driver, snapshotHandle, snapshotClass } = read;
  const inquiry = inquiryOf(context);
  const run: PhaseStep = { type: "run", effects: inquiry.missing };
  const contentName = `${name}-content-${shortHash(madeBy(context))}`;
  const classRef = snapshotRef(inquiry, "volumesnapshotclasses", "", snapshotClass);
  if (classRef === undefined) return run;
  const contentRef = snapshotRef(inquiry, "volumesnapshotcontents", "", contentName);
  const ref = snapshotRef(inquiry, "volumesnapshots", namespace, name);
  if (contentRef === undefined || ref === undefined) return run;
  if (E.isLeft(classRef)) return fail(classRef.left);
  if (E.isLeft(contentRef)) return fail(contentRef.left);
  if (E.isLeft(ref)) return fail(ref.left);
  const found = inquiry.ask(get("read-snapshot-class", "class", classRef.right, context.serviceAccount));
  if (found === undefined) return run;
  if (E.isLeft(found)) {
    const shown = nameOf(classRef.right);
    return fail(isAbsent(found.left) ? `${shown} not found` : `${shown} cannot be read: ${messageOf(found.left)}`);
  }
  const content: KubeObject = {
    apiVersion: SNAPSHOT_VERSION,
    kind: "VolumeSnapshotContent",
    metadata: {},
    spec: {
      driver,
      source: { snapshotHandle },
      volumeSnapshotClassName: snapshotClass,
      deletionPolicy: found.right["deletionPolicy"],
      volumeSnapshotRef: { apiVersion: SNAPSHOT_VERSION, kind: "VolumeSnapshot", namespace, name },
    },
  };
  const stored = madeObject(inquiry, context, "content", contentRef.right, content);
  if (stored === undefined) return run;
  if (E.isLeft(stored)) return fail(stored.left);
  const snapshot: KubeObject = {
    apiVersion: SNAPSHOT_VERSION,
    kind: "VolumeSnapshot",
    metadata: {},
    spec: { volumeSnapshotClassName: snapshotClass, source: { volumeSnapshotContentName: contentName } },
  };
  const made = madeObject(inquiry, context, "snapshot", ref.right, snapshot);
  if (made === undefined) return run;
  return E.isLeft(made) ? fail(made.left) : untilReady(context, ref.right, { name, namespace });
};

export const createCsiSnapshotStatic: KanisterFunction<typeof args> = {
  about: "Makes a VolumeSnapshot of a snapshot that the storage has already, and waits until it is ready to use.",
  args,
  outputs: "name, namespace, restoreSize and snapshotContent (the VolumeSnapshotContent).",
  access: ({ namespace }) => [
    ...snapshotAccess("volumesnapshotclasses", "", ["get"]),
    ...snapshotAccess("volumesnapshotcontents", "", ["create", "get"]),
    ...(namespace === undefined ? [] : snapshotAccess("volumesnapshots", namespace, ["create", "get"])),
  ],
  step: make,
};
