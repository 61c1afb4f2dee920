import { journalIn } from "../../../packages/controller/src/core/state/observations.ts";
import type { Change } from "@janus/api";
import { assert, describe, expect, it } from "vitest";
import { recordPrepared } from "../../../packages/controller/src/core/phases/record-prepared.ts";
import { change, examined, former, observing, seen, underway } from "./underway.ts";

const making = (type: "Update" | "Patch", kind: string, content: object): Change =>
  ({ ...change(type, "a", kind), content }) as Change;

const sized = (storage: string) => ({ spec: { resources: { requests: { storage } } } });
const versions = (...names: readonly string[]) => ({
  spec: { versions: names.map((name, at) => ({ name, storage: at === names.length - 1 })) },
});
const reclaiming = (persistentVolumeReclaimPolicy: string, phase: string) => ({
  spec: { persistentVolumeReclaimPolicy },
  status: { phase },
});
const claimed = (persistentVolumeReclaimPolicy: string, claimRef: object | undefined) => ({
  spec: { persistentVolumeReclaimPolicy, claimRef },
});
const token = (annotations: Readonly<Record<string, string>>) => ({
  type: "kubernetes.io/service-account-token",
  metadata: { name: "a", annotations },
});
const ordinary = change("Patch", "b");
const b = former("ConfigMap", "b");

it.each([
  ["Patch", "ConfigMap", { immutable: true }, {}, "makes it immutable"],
  ["Update", "Secret", { immutable: true, data: {} }, {}, "makes it immutable"],
  ["Patch", "PersistentVolumeClaim", sized("2Gi"), sized("1Gi"), "makes it larger"],
  ["Patch", "PersistentVolumeClaim", sized("1.1Gi"), sized("1126Mi"), "makes it larger"],
  ["Patch", "PersistentVolumeClaim", sized("large"), sized("1Gi"), "makes it larger"],
  [
    "Patch",
    "PersistentVolume",
    { spec: { persistentVolumeReclaimPolicy: "Delete" } },
    reclaiming("Retain", "Released"),
    "makes the cluster delete it, since its phase is Released",
  ],
  [
    "Patch",
    "PersistentVolume",
    { spec: { persistentVolumeReclaimPolicy: "Recycle" } },
    reclaiming("Retain", "Released"),
    "makes the cluster erase its data, since its phase is Released",
  ],
  [
    "Patch",
    "PersistentVolume",
    { spec: { claimRef: { name: "nobody", uid: "2" } } },
    claimed("Delete", { name: "data", namespace: "shop", uid: "1" }),
    "makes the cluster delete it if there is no such claim",
  ],
  [
    "Update",
    "PersistentVolume",
    claimed("Recycle", { name: "data", namespace: "shop", uid: "2" }),
    claimed("Retain", { name: "data", namespace: "shop", uid: "1" }),
    "makes the cluster erase its data if there is no such claim",
  ],
  [
    "Patch",
    "Secret",
    { metadata: { annotations: { "kubernetes.io/service-account.uid": "2" } } },
    token({ "kubernetes.io/service-account.name": "app", "kubernetes.io/service-account.uid": "1" }),
    "makes the cluster delete it if there is no such ServiceAccount",
  ],
  [
    "Update",
    "CustomResourceDefinition",
    versions("v1", "v2"),
    versions("v1"),
    "stores its objects in the new version v2",
  ],
] as const)("refuses a %s of a %s anywhere but at the end: %j", (type, kind, content, before, what) => {
  const step = examined([making(type, kind, content), ordinary], former(kind, "a", before), b);
  expect(step).toContain(
    `the ${type} of ${kind} shop/a ${what}, which cannot be undone: move it to the end of the list`,
  );
});

it.each([
  ["at the end", [ordinary, making("Patch", "ConfigMap", { immutable: true })], {}],
  [
    "at the end, with what nothing can undo either",
    [ordinary, making("Patch", "ConfigMap", { immutable: true }), change("Delete", "c", "PersistentVolumeClaim")],
    {},
  ],
  [
    "the deletion of a volume when its claim will be gone",
    [making("Patch", "PersistentVolume", { spec: { persistentVolumeReclaimPolicy: "Delete" } }), ordinary],
    reclaiming("Retain", "Bound"),
  ],
  [
    "given to another claim, if it is retained",
    [making("Patch", "PersistentVolume", { spec: { claimRef: { name: "nobody", uid: "2" } } }), ordinary],
    claimed("Retain", { name: "data", uid: "1" }),
  ],
  [
    "the claim that it has already",
    [making("Update", "PersistentVolume", claimed("Delete", { name: "data", uid: "1" })), ordinary],
    claimed("Delete", { name: "data", uid: "1" }),
  ],
  [
    "a claim without a uid, which is waited for",
    [making("Update", "PersistentVolume", claimed("Delete", { name: "data" })), ordinary],
    claimed("Delete", undefined),
  ],
  [
    "the token of the same ServiceAccount",
    [making("Update", "Secret", token({ "kubernetes.io/service-account.name": "app" })), ordinary],
    token({ "kubernetes.io/service-account.name": "app", "kubernetes.io/service-account.uid": "1" }),
  ],
  ["what is immutable already", [making("Patch", "ConfigMap", { immutable: true }), ordinary], { immutable: true }],
  [
    "a version that is there already",
    [making("Patch", "CustomResourceDefinition", versions("v2", "v1")), ordinary],
    versions("v1", "v2"),
  ],
  ...(
    [
      ["1024Mi", "1Gi"],
      ["0.5Ti", "512Gi"],
      ["1e3", "1k"],
      ["0.1Gi", "107374182400m"],
      ["1Gi", "2Gi"],
    ] as const
  ).map(
    ([written, kept]) =>
      [
        `as large as it is, or smaller: ${written} of ${kept}`,
        [making("Update", "PersistentVolumeClaim", sized(written)), ordinary],
        sized(kept),
      ] as const,
  ),
  ["what is created so", [{ ...change("Create", "new"), content: { immutable: true } } as Change, ordinary], {}],
] as const)("lets it be %s", (_, changes, before) => {
  const claim = former("PersistentVolumeClaim", "c");
  const step = examined(changes, former(changes[0].target.kind, "a", before), b, claim);
  expect(step).not.toContain("which cannot be undone");
  expect(step).toContain('"purpose":"store"');
});

/** The warnings with which it is Prepared. */
const warned = (gated: Change, before: object = {}): readonly string[] => {
  const start = underway("Preparing", [ordinary, gated], { direction: "forward", cursor: 0 });
  const known = observing(start, { 1: { target: seen(former(gated.target.kind, "a", before)) } });
  const journal = journalIn(known.known);
  assert(journal !== undefined);
  const { events = [] } = recordPrepared(known, journal, new Map());
  return events.flatMap(({ type, reason, message }) =>
    type === "Warning" && reason === "PreflightWarning" ? [message] : [],
  );
};

describe("a gate of what cannot be undone", () => {
  const immutable = making("Patch", "ConfigMap", { immutable: true });
  const gone = change("Delete", "a", "PersistentVolumeClaim");

  it("is warned of: when it is not met, the change stays", () => {
    expect(warned({ ...immutable, waitFor: ["ready"] })).toEqual([
      "changes[1]: the Patch of ConfigMap shop/a makes it immutable, which cannot be undone: if its gates are not met, the Transaction is Failed, and only the other changes are rolled back",
    ]);
  });

  it.each([{ waitFor: ["delete"] }, { waitTimeout: "5m" }])("is warned of where it ends no wait: %j", (more) => {
    expect(warned({ ...gone, ...more } as unknown as Change)).toEqual([
      "changes[1]: the Delete of PersistentVolumeClaim shop/a cannot be undone: once it is sent, neither waitTimeout nor spec.timeout ends the wait until the target is gone",
    ]);
  });

  it.each([
    ["there is none", immutable, {}],
    ["there is none of the Delete", gone, {}],
    ["it is immutable already", { ...immutable, waitFor: ["ready"] }, { immutable: true }],
    ["it can be undone", { ...making("Patch", "ConfigMap", {}), waitFor: ["ready"] }, {}],
    ["the target is there again", { ...change("Delete", "a"), waitFor: ["delete"] }, {}],
  ])("is not warned of where %s", (_, one, before) => {
    expect(warned(one, before)).toEqual([]);
  });
});
