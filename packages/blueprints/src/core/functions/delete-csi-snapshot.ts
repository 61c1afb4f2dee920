// DeleteCSISnapshot: deletes a VolumeSnapshot.
import * as E from "fp-ts/lib/Either.js";
import type { ArgTable } from "../args.ts";
import { deleteObject } from "../deleted-object.ts";
import { inquiryOf, type KanisterFunction } from "../phase-context.ts";
import { snapshotAccess, snapshotRef } from "./csi-snapshots.ts";

const args = {
  name: { type: "text", isRequired: true, about: "Of the VolumeSnapshot." },
  namespace: { type: "text", isRequired: true, about: "Of the VolumeSnapshot." },
} as const satisfies ArgTable;

export const deleteCsiSnapshot: KanisterFunction<typeof args> = {
  about: "Deletes a VolumeSnapshot. One that is not there is as good as deleted.",
  args,
  outputs: "None.",
  access: ({ namespace }) =>
    namespace === undefined ? [] : snapshotAccess("volumesnapshots", namespace, ["get", "delete"]),
  step: ({ name, namespace }, context) => {
    const inquiry = inquiryOf(context);
    const ref = snapshotRef(inquiry, "volumesnapshots", namespace, name);
    if (ref === undefined) return { type: "run", effects: inquiry.missing };
    return E.isLeft(ref)
      ? { type: "fail", message: ref.left }
      : deleteObject(context, ref.right, { absent: "end", waits: false, output: {} });
  },
};
