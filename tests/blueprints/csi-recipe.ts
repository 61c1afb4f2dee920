// A recipe for the suites of crashes and wrong answers: snapshots of a claim are taken, imported, restored and deleted.
import type { Subject } from "../crash/any-controller.ts";
import { administrator } from "../fixtures/administrator.ts";
import { within } from "../fixtures/manifests.ts";
import { contentsOf, serveSnapshots, snapshotsIn, snapshotterTurn } from "../fixtures/snapshot-kinds.ts";
import { type ActionSetObject, actionOn, actionSet, actionSetRef, blueprint } from "./objects.ts";
import { controllerOf, isOver, prepared } from "./world.ts";

await serveSnapshots();

const claim = { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: "claim" } };

const recipe = (namespace: string) =>
  blueprint("csi", {
    backup: {
      outputArtifacts: { snapshot: { keyValue: { size: "{{ .Phases.take.Output.restoreSize }}" } } },
      phases: [
        { func: "CreateCSISnapshot", name: "take", args: { pvc: "claim", namespace, snapshotClass: "csi" } },
        {
          func: "RestoreCSISnapshot",
          name: "restore",
          args: {
            name: "{{ .Phases.take.Output.name }}",
            pvc: "restored",
            namespace,
            storageClass: "none",
            restoreSize: "{{ .Phases.take.Output.restoreSize }}",
          },
        },
        {
          func: "CreateCSISnapshotStatic",
          name: "import",
          args: {
            name: "imported",
            namespace,
            driver: "csi.example.com",
            snapshotHandle: "handle",
            snapshotClass: "csi",
          },
        },
        { func: "DeleteCSISnapshot", name: "drop", args: { name: "{{ .Phases.take.Output.name }}", namespace } },
        {
          func: "DeleteCSISnapshotContent",
          name: "dropContent",
          args: { name: "{{ .Phases.take.Output.snapshotContent }}" },
        },
      ],
    },
  });

/** How many different snapshots there have been, by namespace. */
const taken = new Map<string, Set<unknown>>();

const UID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const OF_ATTEMPT = /-[a-z2-7]{10}(?=")/g;

/** The recipe; what is left of it, and how many snapshots were ever taken. */
export const csi: Subject<object> = {
  start: controllerOf,
  prepare: async () => {
    const namespace = await prepared();
    const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
    await administrator.create(within(namespace, { ...claim, spec: { ...spec, storageClassName: "none" } }));
    await administrator.create(within(namespace, recipe(namespace)));
    await administrator.create(within(namespace, actionSet("run", actionOn("backup", "csi"))));
    return namespace;
  },
  ended: async (namespace) => {
    await snapshotterTurn(namespace);
    const snapshots = await snapshotsIn(namespace);
    const ever = taken.get(namespace) ?? new Set();
    taken.set(namespace, ever);
    for (const { metadata } of snapshots) ever.add(metadata["uid"]);
    const found = (await administrator.read(within(namespace, actionSetRef("run")))) as ActionSetObject | undefined;
    if (found === undefined || !isOver(found)) return undefined;
    if ((await administrator.list({ apiVersion: "v1", kind: "Secret" }, namespace)).length > 0) return undefined;
    const contents = await contentsOf(namespace);
    const restored = await administrator.read(within(namespace, { ...claim, metadata: { name: "restored" } }));
    const { state, error, actions } = found.status;
    const left = [...snapshots, ...contents].map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    const text = JSON.stringify(
      { state, error, actions, left, taken: ever.size, restored: restored?.["spec"] },
      (key, value: unknown) => (key === "lastTransitionTime" ? undefined : value),
    );
    return JSON.parse(
      text.replaceAll(namespace, "here").replaceAll(UID, "uid").replaceAll(OF_ATTEMPT, "-hash"),
    ) as object;
  },
};
