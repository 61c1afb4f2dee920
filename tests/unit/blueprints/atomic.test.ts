// Tests phases of atomic actions: each is one Transaction, made once whatever is lost; what none can do or undo is refused.
import { asObject, type JsonObject, type KubeObject } from "@janus/types";
import { describe, expect, it } from "vitest";
import { actionProblems } from "../../../packages/blueprints/src/core/action-problems.ts";
import { kubeOps } from "../../../packages/blueprints/src/core/functions/kube-ops.ts";
import { scaleWorkload } from "../../../packages/blueprints/src/core/functions/scale-workload.ts";
import { plain } from "../../../packages/blueprints/src/core/text.ts";
import { type Crash, execute, newWorld, START, withCrashes, type World } from "./phase-world.ts";

const DEPLOYMENT = "deployments/shop/web";
const scale = { namespace: "shop", name: "web", kind: "Deployment", replicas: 0 };
const READY = { replicas: 0, readyReplicas: 0, updatedReplicas: 0, availableReplicas: 0, terminatingReplicas: 0 };

const COMMITTED = { phase: "Committed", conditions: [{ type: "Reversible", status: "True" }] };

/** A controller of Transactions that is done at once with one that is published. */
const controller =
  (status: JsonObject = COMMITTED) =>
  (transaction: KubeObject): KubeObject =>
    asObject(transaction["spec"])["lifecycle"] === "Published" ? { ...transaction, status } : transaction;

const worldOf = (status?: JsonObject): World =>
  newWorld(
    { [DEPLOYMENT]: { kind: "Deployment", spec: { replicas: 3 }, status: { replicas: 3 } } },
    { transactions: controller(status) },
  );

/** The Transactions of the world. */
const transactionsIn = ({ objects }: World): readonly KubeObject[] =>
  [...objects].flatMap(([key, one]) => (key.startsWith("transactions/kanister/kanister-") ? [one] : []));

const specOf = (world: World): JsonObject => asObject(transactionsIn(world)[0]?.["spec"]);

const ops = (operation: string, more: object) => ({ operation, namespace: "shop", ...more });
const reference = (resource: string, group = ""): JsonObject => ({ apiVersion: "v1", group, resource, name: "a" });
const target = (name: string, kind = "ConfigMap"): object => ({ apiVersion: "v1", kind, name, namespace: "shop" });

describe("a phase of an atomic action", () => {
  it("scales in one Transaction, and knows the original replicas, whatever is lost", () => {
    withCrashes((crash?: Crash) => {
      const world = newWorld(
        { [DEPLOYMENT]: { kind: "Deployment", spec: { replicas: 3 }, status: { replicas: 3 } } },
        {
          transactions: (one) => {
            const next = controller()(one);
            const there = world.objects.get(DEPLOYMENT);
            if (next !== one && there !== undefined)
              world.objects.set(DEPLOYMENT, { ...there, spec: { replicas: 0 }, status: READY });
            return next;
          },
        },
      );
      const { step, count } = execute(scaleWorkload, scale, world, { isAtomic: true, ...(crash && { crash }) });
      expect(step).toEqual({ type: "end", output: { originalReplicaCount: "3" } });
      expect(world.writes.filter((write) => write.startsWith("create"))).toHaveLength(1);
      expect(world.writes.filter((write) => write.includes("deployments"))).toEqual([]);
      expect(specOf(world)).toMatchObject({
        lifecycle: "Published",
        serviceAccountName: "ops",
        deletionPolicy: "Rollback",
        changes: [
          {
            type: "Patch",
            target: { apiVersion: "apps/v1", kind: "Deployment", name: "web", namespace: "shop" },
            content: { spec: { replicas: 0 } },
            waitFor: ["ready"],
          },
        ],
      });
      return { count };
    });
  });

  it("makes and publishes one Transaction, whatever is lost", () => {
    withCrashes((crash?: Crash) => {
      const published: unknown[] = [];
      const world = newWorld(
        {},
        {
          transactions: (one) => {
            if (asObject(one["spec"])["lifecycle"] === "Published") published.push(one.metadata.uid);
            return controller()(one);
          },
        },
      );
      const args = ops("create", { spec: plain("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}") });
      const { remembered, count } = execute(kubeOps, args, world, { isAtomic: true, ...(crash && { crash }) });
      expect(new Set(published)).toEqual(new Set([remembered["transaction"]]));
      return { count };
    });
  });

  it("does not wait for what is not ready where it need not", () => {
    const world = worldOf();
    const { step } = execute(scaleWorkload, { ...scale, waitForReady: false }, world, { isAtomic: true });
    expect(step.type).toBe("end");
    expect(specOf(world)["changes"]).toEqual([expect.not.objectContaining({ waitFor: expect.anything() as unknown })]);
  });

  it.each([
    [
      "creates objects, also such whose name is generated",
      ops("create", {
        spec: plain(
          "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, uid: x}, data: {k: v}}\n---\n{apiVersion: v1, kind: Secret, metadata: {generateName: b-}}",
        ),
      }),
      [
        { type: "Create", target: target("a"), content: { metadata: {}, data: { k: "v" } } },
        { type: "Create", target: { kind: "Secret", name: expect.stringMatching(/^b-[a-z2-7]{10}$/u) as string } },
      ],
      { kind: "Secret", resource: "secrets" },
    ],
    [
      "patches an object",
      ops("patch", { objectReference: reference("configmaps"), spec: plain("data: {k: null}") }),
      [{ type: "Patch", target: target("a"), content: { data: { k: null } } }],
      { kind: "ConfigMap", name: "a", resource: "configmaps" },
    ],
    [
      "deletes an object",
      ops("delete", { objectReference: reference("configmaps") }),
      [{ type: "Delete", target: target("a") }],
      { kind: "ConfigMap", name: "a", resource: "configmaps" },
    ],
  ])("%s", (_, args, changes, output) => {
    const world = worldOf();
    expect(execute(kubeOps, args, world, { isAtomic: true }).step).toMatchObject({ type: "end", output });
    expect(specOf(world)).toMatchObject({ changes });
    expect(transactionsIn(world)).toHaveLength(1);
  });

  it.each([
    ["RolledBack", { phase: "RolledBack", conditions: [{ type: "Committed", message: "no quota" }] }, /no quota$/u],
    [
      "Failed before its first change",
      {
        phase: "Failed",
        conditions: [
          { type: "Ready", message: "no changes were applied: it exists" },
          { type: "RolledBack", reason: "NoChangesApplied" },
        ],
      },
      /no changes were applied: it exists$/u,
    ],
    [
      "not wholly rolled back",
      {
        phase: "Failed",
        conditions: [
          { type: "Ready", message: "ConfigMap shop/a is managed by somebody" },
          { type: "Committed", message: "no quota" },
        ],
      },
      /no quota; ConfigMap shop\/a is managed by somebody$/u,
    ],
  ])("fails with the reason where its Transaction is %s", (_, status, message) => {
    const args = ops("delete", { objectReference: reference("configmaps") });
    const { step } = execute(kubeOps, args, worldOf(status), { isAtomic: true });
    expect(step).toEqual({ type: "fail", message: expect.stringMatching(message) as string });
  });

  it("waits for its Transaction, and says what for; it fails when somebody deletes that", () => {
    const world = worldOf({ phase: "Committing", conditions: [{ type: "Ready", message: "0 of 2 Pods" }] });
    const waiting = execute(scaleWorkload, scale, world, { isAtomic: true });
    expect(waiting.step).toMatchObject({
      type: "wait",
      because: expect.stringMatching(
        /^Transaction kanister\/kanister-\w{10} is not Committed: 0 of 2 Pods$/u,
      ) as string,
      watched: [{ ref: { resource: { plural: "transactions" } } }],
    });
    for (const key of world.objects.keys()) if (key.startsWith("transactions/")) world.objects.delete(key);
    expect(waiting.again(START).step).toMatchObject({
      type: "fail",
      message: expect.stringContaining("is gone: somebody has deleted it") as string,
    });
  });

  it("does not write what depends on a Secret into a Transaction", () => {
    const spec = { pieces: [{ text: "data: {k: secret}", isTainted: true }] };
    const args = ops("patch", { objectReference: reference("secrets"), spec });
    const world = worldOf();
    expect(execute(kubeOps, args, world, { isAtomic: true }).step).toEqual({
      type: "fail",
      message: "args.spec must not depend on a Secret in an atomic action",
    });
    expect(world.writes).toEqual([]);
  });

  it("is refused by what the API server would refuse of its Transaction", () => {
    const one = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}";
    const world = worldOf();
    const { step } = execute(kubeOps, ops("create", { spec: plain(`${one}\n---\n${one}`) }), world, { isAtomic: true });
    expect(step).toMatchObject({
      type: "fail",
      message: expect.stringContaining("two changes have the same target") as string,
    });
    expect(world.writes).toEqual([]);
  });
});

const phase = (args: object): object => ({ func: "KubeOps", name: "one", args });

describe("before anything runs", () => {
  it.each([
    [
      "a deletion that cannot be undone",
      { operation: "delete", objectReference: reference("persistentvolumeclaims") },
      "a PersistentVolumeClaim cannot be restored once it is deleted: delete it in an action that is not atomic",
    ],
    [
      "instructions of a strategic merge patch",
      { operation: "patch", objectReference: reference("configmaps"), spec: "data: {$patch: delete}" },
      "args.spec: a Transaction does not know $patch",
    ],
  ])("%s is refused in an atomic action, and in no other", (_, args, problem) => {
    const action = { phases: [phase(args) as JsonObject] };
    expect(actionProblems({ ...action, atomic: true })).toEqual([`phase one: ${problem}`]);
    expect(actionProblems(action)).toEqual([]);
    expect(actionProblems({ atomic: true, deferPhase: phase(args) })).toEqual([]);
  });
});
