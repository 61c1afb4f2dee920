// RestoreCSISnapshot: makes a PersistentVolumeClaim from a snapshot.
import type { KubeObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import type { Args, ArgTable } from "../args.ts";
import { madeObject } from "../made-object.ts";
import { inquiryOf, type KanisterFunction, type PhaseContext, type PhaseStep } from "../phase-context.ts";
import { claims } from "../requests.ts";
import { SNAPSHOT_GROUP } from "./csi-snapshots.ts";

const args = {
  name: { type: "text", isRequired: true, about: "The VolumeSnapshot, in the namespace of the claim." },
  pvc: { type: "text", isRequired: true, about: "Of the new PersistentVolumeClaim." },
  namespace: { type: "text", isRequired: true, about: "Of the new claim." },
  storageClass: { type: "text", isRequired: true, about: "The StorageClass." },
  restoreSize: { type: "text", isRequired: true, about: "What the claim requests, such as 1Gi." },
  accessModes: { type: "texts", about: "Default: ReadWriteOnce." },
  volumeMode: { type: "text", about: "Filesystem or Block. Default: Filesystem." },
  labels: { type: "map", about: "Labels of the claim." },
} as const satisfies ArgTable;

const ACCESS_MODES = ["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"];
const VOLUME_MODES = ["Filesystem", "Block"];

const fail = (message: string): PhaseStep => ({ type: "fail", message });

const restore = (read: Args<typeof args>, context: PhaseContext): PhaseStep => {
  const { name, pvc, namespace, storageClass, restoreSize, labels } = read;
  const { accessModes = ["ReadWriteOnce"], volumeMode = "Filesystem" } = read;
  const unknown = accessModes.find((mode) => !ACCESS_MODES.includes(mode));
  if (unknown !== undefined) return fail(`args.accessModes must be of ${ACCESS_MODES.join(", ")}, not "${unknown}"`);
  if (!VOLUME_MODES.includes(volumeMode))
    return fail(`args.volumeMode must be ${VOLUME_MODES.join(" or ")}, not "${volumeMode}"`);
  const body: KubeObject = {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: labels === undefined ? {} : { labels },
    spec: {
      accessModes,
      volumeMode,
      storageClassName: storageClass,
      dataSource: { apiGroup: SNAPSHOT_GROUP, kind: "VolumeSnapshot", name },
      resources: { requests: { storage: restoreSize } },
    },
  };
  const inquiry = inquiryOf(context);
  const made = madeObject(inquiry, context, "claim", { resource: claims, namespace, name: pvc }, body);
  if (made === undefined) return { type: "run", effects: inquiry.missing };
  return E.isLeft(made) ? fail(made.left) : { type: "end", output: {} };
};

export const restoreCsiSnapshot: KanisterFunction<typeof args> = {
  about: "Makes a PersistentVolumeClaim from a snapshot.",
  args,
  outputs: "None.",
  access: ({ namespace }) =>
    namespace === undefined
      ? []
      : ["create", "get"].map((verb) => ({ verb, group: "", resource: "persistentvolumeclaims", namespace })),
  step: restore,
};
