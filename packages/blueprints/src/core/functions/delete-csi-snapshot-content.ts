// DeleteCSISnapshotContent: deletes a VolumeSnapshotContent.
import * as E from "fp-ts/lib/Either.js";
import type { ArgTable } from "../args.ts";
import { deleteObject } from "../deleted-object.ts";
import { inquiryOf, type KanisterFunction } from "../phase-context.ts";
import { snapshotAccess, snapshotRef } from "./csi-snapshots.ts";

const args = {
  name: { type: "text", isRequired: true, about: "Of the VolumeSnapshotContent." },
} as const satisfies ArgTable;

export const deleteCsiSnapshotContent: KanisterFunction<typeof args> = {
  about: "Deletes a VolumeSnapshotContent. One that is not there is as good as deleted.",
  args,
  outputs: "None.",
  access: () => snapshotAccess("volumesnapshotcontents", "", ["get", "delete"]),
  step: ({ name }, context) => {
    const inquiry = inquiryOf(context);
    const ref = snapshotRef(inquiry, "volumesnapshotcontents", "", name);
    if (ref === undefined) return { type: "run", effects: inquiry.missing };
    return E.isLeft(ref)
      ? { type: "fail", message: ref.left }
      : deleteObject(context, ref.right, { absent: "end", waits: false, output: {} });
  },
};
