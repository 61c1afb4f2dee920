import { expect, it } from "vitest";
import type { Manifest } from "../fixtures/administrator.ts";
import { applying, creating, deleting, patching, replacing } from "../fixtures/changes.ts";
import { clusterAdmin } from "../fixtures/cluster-admin.ts";
import { configMap, roleBinding, secret } from "../fixtures/manifests.ts";
import { workspace } from "../fixtures/workspace.ts";

const job = (image: string): Manifest => ({
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { name: "migrate" },
  spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "m", image }] } } },
});

const imageOf = (object: object): unknown => JSON.stringify(object).match(/"image":"([^"]*)"/u)?.[1];

const namesOf = (body: object): unknown => (body as Manifest).metadata.name;

/** Refused when it is made, and by no dry run: the first one is taken by somebody in between. */
const failing = configMap("taken");

it("replaces a Job, of which the template cannot be edited, and waits until the former one is gone", async () => {
  const place = await workspace();
  await place.create(job("works:1"));
  const former = await place.read(job("works:1"));
  await place.janus();
  const { status } = await place.run([replacing(job("works:2"))]);
  expect(status.phase).toBe("Committed");
  expect(status.progress).toBe("1/1");
  const live = await place.read(job("works:1"));
  expect(imageOf(live)).toBe("works:2");
  expect(live.metadata.uid).not.toBe(former.metadata.uid);
});

it("creates what is to be replaced and does not exist", async () => {
  const place = await workspace();
  await place.janus();
  expect((await place.run([replacing(job("works:1"))], { name: "first" })).status.phase).toBe("Committed");
  expect(imageOf(await place.read(job("works:1")))).toBe("works:1");
});

it.each([
  ["a Job", job("works:1"), job("works:2")],
  ["the type of a Secret", secret("key", { a: "1" }), { ...secret("key", { a: "2" }), type: "example.com/other" }],
  [
    "the roleRef of a RoleBinding",
    roleBinding("reader", "ClusterRole", "view", "shop/someone"),
    roleBinding("reader", "ClusterRole", "edit", "shop/someone"),
  ],
  ["an immutable ConfigMap", { ...configMap("sealed", { a: "1" }), immutable: true }, configMap("sealed", { a: "2" })],
] satisfies readonly (readonly [string, Manifest, Manifest])[])(
  "puts back what was replaced when a later change fails: %s",
  async (_, former, next) => {
    const place = await workspace();
    await clusterAdmin(place.namespace);
    await place.create(former);
    const before = await place.read(former);
    await place.janus(async (request, send) => {
      if (request.purpose === "change" && request.verb === "create" && namesOf(request.body) === "taken")
        await place.create(failing);
      return send(request);
    });
    const { status } = await place.run([replacing(next), creating(failing)]);
    expect(status.phase).toBe("RolledBack");
    const after = await place.read(former);
    const withoutIds = (object: object): unknown =>
      JSON.parse(
        JSON.stringify(object)
          .replaceAll(before.metadata.uid ?? "", "UID")
          .replaceAll(after.metadata.uid ?? "", "UID"),
      );
    const settable = ({ metadata: { labels = {} }, ...rest }: typeof before): unknown =>
      withoutIds({ ...rest, status: {}, labels });
    expect(settable(after)).toEqual(settable(before));
    // Its controller may have reported a status by now.
    const managers = ({ metadata: { managedFields = [] } }: typeof before): ReadonlySet<unknown> =>
      new Set(managedFields.filter(({ subresource }) => subresource !== "status").map(({ manager }) => manager));
    expect(managers(after)).toEqual(managers(before));
  },
);

it("waits for the finalizers of what it deletes, and names them", async () => {
  const place = await workspace();
  const held = { ...configMap("held", { a: "1" }), metadata: { name: "held", finalizers: ["example.com/held"] } };
  await place.create({ ...held, immutable: true });
  await place.janus();
  await place.submit([replacing(configMap("held", { a: "2" }))]);
  const ready = async () => (await place.txn()).status?.conditions?.find(({ type }) => type === "Ready")?.message;
  await expect.poll(ready).toContain("delayed by its finalizers: example.com/held");
  await place.patch({ ...held, metadata: { name: "held", finalizers: [] } });
  expect((await place.over()).status.phase).toBe("Committed");
  expect((await place.read(held))["data"]).toEqual({ a: "2" });
});

it("leaves what somebody has created in its place meanwhile, and says so", async () => {
  const place = await workspace();
  await place.create(configMap("app", { a: "1" }));
  await place.janus(async (request, send) => {
    if (request.purpose === "change" && request.verb === "create")
      await place.create(configMap("app", { a: "theirs" }));
    return send(request);
  });
  const { status } = await place.run([replacing(configMap("app", { a: "2" }))]);
  expect(status.phase).toBe("Failed");
  expect(status.items[0]?.error).toContain("was created by another client");
  expect((await place.read(configMap("app")))["data"]).toEqual({ a: "theirs" });
});

it("refuses to replace what a rollback could not put back", async () => {
  const place = await workspace();
  await place.janus();
  const { status } = await place.run([
    replacing({
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "data" },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    }),
  ]);
  expect(status.phase).toBe("Failed");
  expect(status.items[0]?.error).toContain("a PersistentVolumeClaim cannot be replaced");
});

it("says of a field that cannot be edited why, before anything else, and what to do", async () => {
  const place = await workspace();
  await place.create(job("works:1"));
  await place.janus();
  for (const [name, change] of [
    ["apply", applying(job("works:2"))],
    ["patch", patching(job("works:3"))],
  ] as const) {
    const { status } = await place.run([change], { name });
    expect(status.phase).toBe("Failed");
    const message = status.conditions.find(({ type }) => type === "Failed")?.message ?? "";
    expect(message).toContain("spec.template: field is immutable; use type Replace");
    expect(message.length).toBeLessThan(500);
    expect(status.items[0]?.error).toContain("field is immutable");
  }
});

it("says of a Delete and a Create of one object that they are a Replace", async () => {
  const place = await workspace();
  await expect(place.submit([deleting(job("works:1")), creating(job("works:2"))])).rejects.toThrow("type Replace");
});
