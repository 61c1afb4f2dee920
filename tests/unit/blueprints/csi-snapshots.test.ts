// Tests the functions of CSI snapshots: what they make and delete, once, whatever is lost of it.
import { asObject, type JsonObject, type KubeObject } from "@janus/types";
import { describe, expect, it } from "vitest";
import { createCsiSnapshotStatic } from "../../../packages/blueprints/src/core/functions/create-csi-snapshot-static.ts";
import { createCsiSnapshot } from "../../../packages/blueprints/src/core/functions/create-csi-snapshot.ts";
import { deleteCsiSnapshotContent } from "../../../packages/blueprints/src/core/functions/delete-csi-snapshot-content.ts";
import { deleteCsiSnapshot } from "../../../packages/blueprints/src/core/functions/delete-csi-snapshot.ts";
import { restoreCsiSnapshot } from "../../../packages/blueprints/src/core/functions/restore-csi-snapshot.ts";
import { type Crash, execute, newWorld, START, withCrashes } from "./phase-world.ts";

const CLAIM = { "persistentvolumeclaims/shop/data": {} };

/** A snapshotter that is done at once. */
const taken = (snapshot: KubeObject): KubeObject => {
  const { volumeSnapshotContentName = "content-1" } = asObject(asObject(snapshot["spec"])["source"]);
  return {
    ...snapshot,
    status: {
      readyToUse: true,
      creationTime: "2026-01-01T00:00:00Z",
      restoreSize: "1Gi",
      boundVolumeSnapshotContentName: volumeSnapshotContentName,
    },
  };
};
const rules = { volumesnapshots: taken };

const error = (message: string) => ({
  volumesnapshots: (one: KubeObject) => ({ ...one, status: { error: { message } } }),
});

describe("CreateCSISnapshot", () => {
  const args = { pvc: "data", namespace: "shop", snapshotClass: "fast" };

  it("takes one snapshot, and tells of it, whatever is lost", () => {
    withCrashes((crash?: Crash) => {
      const world = newWorld(CLAIM, rules);
      const { step, count } = execute(createCsiSnapshot, args, world, crash && { crash });
      expect(step).toEqual({
        type: "end",
        output: {
          name: expect.stringMatching(/^data-snapshot-[a-z2-7]{10}$/u) as string,
          pvc: "data",
          namespace: "shop",
          restoreSize: "1Gi",
          snapshotContent: "content-1",
        },
      });
      expect(world.writes).toHaveLength(1);
      return { count };
    });
  });

  it("waits until it is ready", () => {
    const world = newWorld(CLAIM);
    const waiting = execute(createCsiSnapshot, { ...args, name: "s", labels: { a: "b" } }, world);
    expect(waiting.step).toMatchObject({
      type: "wait",
      because: "VolumeSnapshot shop/s is not ready to use yet",
      watched: [{ ref: { name: "s" } }],
    });
    const snapshot = world.objects.get("volumesnapshots/shop/s") as KubeObject;
    expect(snapshot).toMatchObject({
      metadata: { labels: { a: "b" } },
      spec: { volumeSnapshotClassName: "fast", source: { persistentVolumeClaimName: "data" } },
    });
    world.objects.set("volumesnapshots/shop/s", { ...snapshot, status: { readyToUse: true } });
    expect(waiting.again(START).step.type).toBe("wait");
    world.objects.set("volumesnapshots/shop/s", taken(snapshot));
    expect(waiting.again(START).step.type).toBe("end");
  });

  it.each([
    ["the snapshotter says why not", CLAIM, error("no such class"), "VolumeSnapshot shop/s: no such class"],
    ["there is no claim", {}, rules, "PersistentVolumeClaim shop/data not found"],
    [
      "another client has made it",
      { ...CLAIM, "volumesnapshots/shop/s": {} },
      rules,
      "VolumeSnapshot shop/s exists and is not of this ActionSet: delete it, or choose another name",
    ],
  ])("fails where %s", (_, objects: Readonly<Record<string, JsonObject>>, snapshotter, message) =>
    expect(execute(createCsiSnapshot, { ...args, name: "s" }, newWorld(objects, snapshotter)).step).toEqual({
      type: "fail",
      message,
    }),
  );

  it("goes on where the snapshotter tries again", () =>
    expect(
      execute(
        createCsiSnapshot,
        args,
        newWorld(
          CLAIM,
          error("the object has been modified; please apply your changes to the latest version and try again"),
        ),
      ).step.type,
    ).toBe("wait"));

  it("fails where there are no snapshots", () => {
    const world = newWorld(CLAIM);
    const answer: typeof world.answer = (request) =>
      world.answer(
        request.verb === "raw" && request.path !== "/apis" ? { ...request, path: "/apis/none/v1" } : request,
      );
    expect(execute(createCsiSnapshot, args, { ...world, answer }).step).toEqual({
      type: "fail",
      message: "the API server does not serve volumesnapshots in /apis/snapshot.storage.k8s.io/v1",
    });
  });
});

describe("CreateCSISnapshotStatic", () => {
  const args = { name: "s", namespace: "shop", driver: "d", snapshotHandle: "h", snapshotClass: "fast" };

  it("makes a content and a snapshot, once each, whatever is lost", () => {
    withCrashes((crash?: Crash) => {
      const world = newWorld({ "volumesnapshotclasses//fast": { deletionPolicy: "Retain" } }, rules);
      const { step, count } = execute(createCsiSnapshotStatic, args, world, crash && { crash });
      const content = [...world.objects.keys()].find((key) => key.startsWith("volumesnapshotcontents/")) ?? "";
      expect(step).toEqual({
        type: "end",
        output: { name: "s", namespace: "shop", restoreSize: "1Gi", snapshotContent: content.split("/")[2] },
      });
      expect(world.objects.get(content)?.["spec"]).toMatchObject({
        driver: "d",
        source: { snapshotHandle: "h" },
        deletionPolicy: "Retain",
        volumeSnapshotRef: { namespace: "shop", name: "s" },
      });
      expect(world.writes).toHaveLength(2);
      return { count };
    });
  });

  it("fails where there is no class", () =>
    expect(execute(createCsiSnapshotStatic, args, newWorld()).step).toEqual({
      type: "fail",
      message: "VolumeSnapshotClass fast not found",
    }));
});

describe("RestoreCSISnapshot", () => {
  const args = { name: "s", pvc: "new", namespace: "shop", storageClass: "fast", restoreSize: "1Gi" };

  it("makes one claim, whatever is lost", () => {
    withCrashes((crash?: Crash) => {
      const world = newWorld();
      const { step, count } = execute(restoreCsiSnapshot, { ...args, labels: { a: "b" } }, world, crash && { crash });
      expect(step).toEqual({ type: "end", output: {} });
      expect(world.writes).toEqual(["create persistentvolumeclaims/shop/new"]);
      expect(world.objects.get("persistentvolumeclaims/shop/new")).toMatchObject({
        metadata: { labels: { a: "b" } },
        spec: {
          accessModes: ["ReadWriteOnce"],
          volumeMode: "Filesystem",
          storageClassName: "fast",
          dataSource: { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "s" },
          resources: { requests: { storage: "1Gi" } },
        },
      });
      return { count };
    });
  });

  it.each([
    [{ accessModes: ["RWO"] }, /^args.accessModes must be of .*, not "RWO"$/u],
    [{ volumeMode: "Tape" }, /^args.volumeMode must be Filesystem or Block, not "Tape"$/u],
  ])("refuses %o", (wrong, message) =>
    expect(execute(restoreCsiSnapshot, { ...args, ...wrong }, newWorld()).step).toEqual({
      type: "fail",
      message: expect.stringMatching(message) as string,
    }),
  );

  it("fails where there is a claim of that name", () =>
    expect(execute(restoreCsiSnapshot, args, newWorld({ "persistentvolumeclaims/shop/new": {} })).step).toEqual({
      type: "fail",
      message: "PersistentVolumeClaim shop/new exists and is not of this ActionSet: delete it, or choose another name",
    }));
});

const both = (world: ReturnType<typeof newWorld>, crash?: Crash) => [
  execute(deleteCsiSnapshot, { name: "s", namespace: "shop" }, world, crash && { crash }),
  execute(deleteCsiSnapshotContent, { name: "c" }, world, crash && { crash }),
];

describe("DeleteCSISnapshot and DeleteCSISnapshotContent", () => {
  const there = { "volumesnapshots/shop/s": {}, "volumesnapshotcontents//c": { metadata: { finalizers: ["x"] } } };

  it("delete it once, without waiting, whatever is lost", () => {
    withCrashes((crash?: Crash) => {
      const world = newWorld(there);
      const done = both(world, crash);
      expect(done.map(({ step }) => step.type)).toEqual(["end", "end"]);
      expect(world.writes).toEqual(["delete volumesnapshots/shop/s", "delete volumesnapshotcontents//c"]);
      return { count: Math.max(...done.map(({ count }) => count)) };
    });
  });

  it("are done where there is none", () =>
    expect(both(newWorld()).map(({ step }) => step.type)).toEqual(["end", "end"]));
});
