import type { Hook } from "@janus/kube";
import { describe, expect, it } from "vitest";
import { creating, deleting, patching, type WrittenChange } from "../fixtures/changes.ts";
import { isChangeOf } from "../fixtures/gate.ts";
import { configMap, service, serviceAccount } from "../fixtures/manifests.ts";
import { type Txn, type Workspace, workspace } from "../fixtures/workspace.ts";

const account = serviceAccount("robot");
const token = {
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "robot-token", annotations: { "kubernetes.io/service-account.name": "robot" } },
  type: "kubernetes.io/service-account-token",
};
const endpoints = {
  apiVersion: "v1",
  kind: "Endpoints",
  metadata: { name: "web" },
  subsets: [{ addresses: [{ ip: "10.0.0.1" }], ports: [{ port: 80 }] }],
};

const last = configMap("last");

/** Before the last change, which another client makes, something happens. */
const before =
  (place: Workspace, happens: () => Promise<unknown> = async () => {}): Hook =>
  async (request, next) => {
    if (isChangeOf("last")(request) && !(await place.exists(last))) {
      await happens();
      await place.create(last);
    }
    return next(request);
  };

const filled = async ({ create, read }: Workspace) => {
  await create(account, token);
  await expect.poll(async () => (await read(token))["data"]).toHaveProperty("token");
};

const readiness = ({ status }: Txn): string | undefined =>
  status.conditions.find(({ type }) => type === "Ready")?.message;

describe("what goes with an object that no reference names", () => {
  it.each<readonly [string, readonly WrittenChange[], RegExp]>([
    [
      "a change of a token Secret",
      [deleting(account), patching({ ...token, metadata: { name: "robot-token", labels: { a: "b" } } })],
      /Secret \S+\/robot-token is garbage-collected with its owner, which changes\[0\] deletes: remove one of the two changes/,
    ],
    [
      "the deletion of a token Secret after that of its ServiceAccount",
      [deleting(account), deleting(token)],
      /Secret \S+\/robot-token is garbage-collected with its owner, which changes\[0\] deletes: delete it before that/,
    ],
    [
      "a change of Endpoints",
      [deleting(service("web")), patching({ ...endpoints, metadata: { name: "web", labels: { a: "b" } } })],
      /Endpoints \S+\/web is garbage-collected with its owner, which changes\[0\] deletes: remove one of the two changes/,
    ],
  ])("is refused: %s", async (_, changes, message) => {
    const place = await workspace();
    await filled(place);
    await place.create(service("web"), endpoints);
    await place.janus();
    const txn = await place.run(changes);
    expect(txn.status.phase).toBe("Failed");
    expect(readiness(txn)).toMatch(message);
    expect(await place.exists(account)).toBe(true);
    expect(await place.exists(endpoints)).toBe(true);
  });

  it("is named before it is deleted", async () => {
    const place = await workspace();
    await filled(place);
    await place.create(service("web"), endpoints);
    await place.janus();
    const { status } = await place.run([deleting(account), deleting(service("web"))]);
    expect(status).toMatchObject({
      phase: "Committed",
      items: [{ dependents: "Secret robot-token" }, { dependents: expect.stringContaining("Endpoints web") as string }],
    });
  });

  it("a token Secret is there again with its ServiceAccount, and stays", async () => {
    const place = await workspace();
    await filled(place);
    await place.janus(before(place));
    const txn = await place.run([deleting(token), deleting(account), creating(last)]);
    expect(txn.status.phase).toBe("RolledBack");
    expect(readiness(txn)).toContain("has a new token");
    const { uid } = (await place.read(account)).metadata;
    await expect
      .poll(async () => (await place.read(token)).metadata.annotations)
      .toMatchObject({ "kubernetes.io/service-account.uid": uid });
    expect((await place.read(token))["data"]).toHaveProperty("token");
  });
});

describe("a target that is gone, although its change was never applied, is reported:", () => {
  it.each<readonly [string, readonly WrittenChange[]]>([
    ["one that was refused", [patching(configMap("a", { x: "2" })), patching(configMap("last", { x: "2" }))]],
    [
      "one that was not tried",
      [
        patching(configMap("a", { x: "2" })),
        deleting(configMap("b")),
        creating(last),
        patching(configMap("gone", { x: "2" })),
      ],
    ],
  ])("%s", async (_, changes) => {
    const place = await workspace();
    await place.create(configMap("a", { x: "1" }), configMap("b"), configMap("gone", { x: "1" }));
    const isPatch = changes[1]?.type === "Patch";
    if (isPatch) await place.create(last);
    const goes: Hook = async (request, next) => {
      if (isChangeOf("last")(request) && (await place.exists(last))) await place.remove(last);
      return next(request);
    };
    await place.janus(isPatch ? goes : before(place, () => place.remove(configMap("gone"))));
    const txn = await place.run(changes);
    const name = isPatch ? "last" : "gone";
    expect(txn.status.phase).toBe("RolledBack");
    expect(readiness(txn)).toContain(
      `rolled back, except for changes[${changes.length - 1}]: ConfigMap ${place.namespace}/${name} is gone, although its change was never applied`,
    );
    expect(await place.read(configMap("a"))).toMatchObject({ data: { x: "1" } });
  });
});
