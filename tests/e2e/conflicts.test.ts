import type { Hook } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import { administrator } from "../fixtures/administrator.ts";
import { creating, deleting, patching, updating } from "../fixtures/changes.ts";
import { gate, isChangeOf } from "../fixtures/gate.ts";
import { configMap, deployment, within } from "../fixtures/manifests.ts";
import { allowOneService, oneTooMany } from "../fixtures/quota.ts";
import { recording } from "../fixtures/recording.ts";
import { type Workspace, workspace } from "../fixtures/workspace.ts";

/** Does something once, right before the change of that target goes out: after everything was prepared. */
const before = (name: string, meddle: () => Promise<unknown>): Hook => {
  let done = false;
  return async (request, next) => {
    if (!done && isChangeOf(name)(request)) {
      done = true;
      await meddle();
    }
    return next(request);
  };
};

const there = configMap("there", { a: "1", b: "1" });
const somebody = { b: "somebody's" };

it.each([
  ["Patch", patching(configMap("there", { a: "2" })), { a: "2", ...somebody }],
  ["Delete, whatever they have changed", deleting(there), undefined],
])("continues when other clients have changed other fields meanwhile: %s", async (_, change, data) => {
  const { namespace, create, patch, janus, run } = await workspace();
  await create(there);
  await janus(before("there", () => patch(configMap("there", somebody))));
  const { status } = await run([change]);
  expect(status.phase).toBe("Committed");
  expect((await administrator.read(within(namespace, there)))?.["data"]).toEqual(data);
});

it.each(["Patch", "Update", "Delete"])(
  "continues when other clients have only reported a status meanwhile: %s",
  async (type) => {
    const { create, patch, read, janus, run } = await workspace();
    const web = deployment("web", "myapp:v1.0");
    await create(web);
    await expect.poll(async () => (await read(web))["status"]).toMatchObject({ observedGeneration: 1, replicas: 1 });
    const report = { ...web, spec: {}, status: { conditions: [{ type: "Fine", status: "True" }] } };
    await janus(before("web", () => patch(report, "status")));
    const change = { Patch: patching, Update: updating, Delete: deleting }[type] ?? deleting;
    const { status } = await run([change(deployment("web", "myapp:v2.0"))]);
    expect(status.phase).toBe("Committed");
  },
);

it.each([
  ["Patch", patching(configMap("there", { a: "2" }))],
  ["Delete", deleting(there)],
])(
  "rolls back to what other clients have written meanwhile, not to the state at the beginning: %s",
  async (_, change) => {
    const place = await workspace();
    await place.create(there);
    await allowOneService(place);
    await place.janus(before("there", () => place.patch(configMap("there", somebody))));
    const { status } = await place.run([change, ...oneTooMany]);
    expect(status.phase).toBe("RolledBack");
    expect((await place.read(there))["data"]).toEqual({ a: "1", ...somebody });
  },
);

const remove = ({ remove }: Workspace) => remove(there);
const replace = async (place: Workspace) => {
  await place.remove(there);
  await place.create(configMap("there", somebody));
};
const edit = ({ patch }: Workspace) => patch(configMap("there", { a: "somebody's" }));

it.each([
  ["a Patch of fields that others have changed", patching(configMap("there", { a: "2" })), edit, "ConflictDetected"],
  ["an Update of what others have changed", updating(configMap("there", { a: "2" })), edit, "ConflictDetected"],
  ["a Patch of what others have deleted", patching(configMap("there", { a: "2" })), remove, "ConflictDetected"],
  ["an Update of what others have deleted", updating(configMap("there", { a: "2" })), remove, "ConflictDetected"],
  ["a Delete of what others have deleted", deleting(there), remove, "ConflictDetected"],
  ["a Patch of what others have created anew", patching(configMap("there", { a: "2" })), replace, "ConflictDetected"],
  ["an Update of what others have created anew", updating(configMap("there", { a: "2" })), replace, "ConflictDetected"],
  ["a Delete of what others have created anew", deleting(there), replace, "CommitFailed"],
] as const)("loses no change of another client: rolls back at %s", async (_, change, meddle, reason) => {
  const place = await workspace();
  await place.create(there, configMap("first", { a: "1" }));
  let theirs: unknown;
  await place.janus(
    before("there", async () => {
      await meddle(place);
      theirs = await administrator.read(within(place.namespace, there));
    }),
  );
  const { status } = await place.run([patching(configMap("first", { a: "2" })), change]);
  expect(status).toMatchObject({ phase: "RolledBack", progress: "0/2" });
  expect(status.conditions.find(({ type }) => type === "Stalled")?.reason).toBe(reason);
  expect(await administrator.read(within(place.namespace, there))).toEqual(theirs);
  expect(await place.read(configMap("first"))).toMatchObject({ data: { a: "1" } });
});

it("rolls back at a Create of an object that another client has created meanwhile, and leaves that alone", async () => {
  const place = await workspace();
  await place.create(configMap("first", { a: "1" }));
  await place.janus(before("there", () => place.create(configMap("there", somebody))));
  const { status } = await place.run([
    patching(configMap("first", { a: "2" })),
    creating(configMap("there", { a: "2" })),
  ]);
  expect(status).toMatchObject({ phase: "RolledBack", progress: "0/2" });
  expect(await place.read(there)).toMatchObject({ data: somebody });
  expect(await place.read(configMap("first"))).toMatchObject({ data: { a: "1" } });
});

it.each(["Patch", "Update"])(
  "rolls back at a %s of an object that another client is deleting, and names its finalizers",
  async (type) => {
    const place = await workspace();
    const held = { ...there, metadata: { name: "there", finalizers: ["example.com/hold"] } };
    await place.create(held, configMap("first", { a: "1" }));
    await place.janus(before("there", () => place.remove(there)));
    const change = type === "Patch" ? patching : updating;
    const { status } = await place.run([
      patching(configMap("first", { a: "2" })),
      change(configMap("there", { a: "2" })),
    ]);
    expect(status).toMatchObject({ phase: "RolledBack", progress: "0/2" });
    expect(status.conditions.find(({ type }) => type === "Stalled")).toMatchObject({
      reason: "ConflictDetected",
      message: expect.stringContaining(
        "is being deleted by another client, delayed by its finalizers: example.com/hold",
      ) as string,
    });
    expect(await place.read(there)).toMatchObject({ data: { a: "1", b: "1" } });
    expect(await place.read(configMap("first"))).toMatchObject({ data: { a: "1" } });
    await place.patch({ ...there, metadata: { name: "there", finalizers: null } });
  },
);

it.each([
  ["Patch", "cleared managedFields", false],
  ["Update", "cleared managedFields", false],
  ["Update", "cleared managedFields, and somebody has applied since", true],
])("does not report a %s as not applied when its reply was lost and other clients %s", async (type, _, applies) => {
  const place = await workspace();
  await place.create(there, configMap("first", { a: "1" }));
  let done = false;
  await place.janus(async (request, next) => {
    if (done || !isChangeOf("there")(request)) return next(request);
    done = true;
    await next(request);
    await place.patch({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "there", managedFields: [{}] } });
    if (applies) await place.apply(configMap("there", { c: "1" }));
    return E.left({ type: "unanswered", cause: "connection", message: "the reply was lost" });
  });
  const change = type === "Patch" ? patching : updating;
  await place.submit([patching(configMap("first", { a: "2" })), change(configMap("there", { a: "2" }))]);
  await expect.poll(async () => (await place.txn()).status?.phase).toBe("Failed");
  const { items } = (await place.txn()).status;
  expect(items).toMatchObject([{ rolledBack: true }, { rolledBack: false, error: expect.any(String) as string }]);
  expect(await place.read(there)).toMatchObject({ data: { a: "2" } });
});

const owned = async ({ create, read }: Workspace): Promise<void> => {
  await create(configMap("owner", { a: "1" }));
  const { uid } = (await read(configMap("owner"))).metadata;
  const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid }];
  await create({ ...configMap("owned", { a: "1" }), metadata: { name: "owned", ownerReferences } });
};

it("takes what has gone with an owner that it deleted itself for deleted", async () => {
  const place = await workspace();
  await owned(place);
  await place.janus(before("owned", () => expect.poll(() => place.exists(configMap("owned"))).toBe(false)));
  const { status } = await place.run([deleting(configMap("owner")), deleting(configMap("owned"))]);
  expect(status).toMatchObject({ phase: "Committed", progress: "2/2" });
});

it.each([
  ["the owner first", ["owner", "owned"]],
  ["what it owns first", ["owned", "owner"]],
])("rolls back an owner, and what it owns as owned by the new one: %s", async (_, names) => {
  const place = await workspace();
  await owned(place);
  await allowOneService(place);
  await place.janus();
  const { status } = await place.run([...names.map((name) => deleting(configMap(name))), ...oneTooMany]);
  expect(status.phase).toBe("RolledBack");
  const { uid } = (await place.read(configMap("owner"))).metadata;
  expect(await place.read(configMap("owned"))).toMatchObject({
    data: { a: "1" },
    metadata: { ownerReferences: [{ uid }] },
  });
});

const held = (...finalizers: readonly string[]) => ({ ...configMap("held"), metadata: { name: "held", finalizers } });

it("waits for the finalizers of what it deletes: only what is gone is deleted", async () => {
  const place = await workspace();
  await place.create(held("example.com/hold"));
  const { hook, requests } = recording();
  await place.janus(hook);
  await place.submit([deleting(configMap("held")), creating(configMap("after"))]);
  await expect.poll(() => requests.filter(isChangeOf("held")).length).toBe(1);
  // It has looked again since, and still does not go on.
  await expect.poll(() => requests.filter(({ purpose }) => purpose === "read-target").length).toBeGreaterThan(3);
  expect(requests.filter(isChangeOf("after"))).toEqual([]);
  await place.patch(held());
  expect((await place.over()).status.phase).toBe("Committed");
});

it("ends as Failed, and keeps the former state, when it no longer has the permission to roll back", async () => {
  const place = await workspace();
  await place.create(configMap("first", { a: "former" }));
  const { hook, reached, open } = gate(isChangeOf("second"));
  await place.janus(hook);
  await place.submit([patching(configMap("first", { a: "2" })), creating(configMap("second"))]);
  await reached;
  const binding = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "RoleBinding", metadata: { name: "deployer" } };
  await place.remove(binding);
  const mayWrite = async () => {
    const review = {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SubjectAccessReview",
      metadata: { name: "" },
      spec: {
        user: `system:serviceaccount:${place.namespace}:deployer`,
        resourceAttributes: { namespace: place.namespace, verb: "update", resource: "configmaps" },
      },
    };
    return ((await administrator.create(review))["status"] as { readonly allowed: boolean }).allowed;
  };
  await expect.poll(mayWrite).toBe(false);
  open();
  await expect.poll(async () => (await place.txn()).status.phase).toBe("Failed");
  const { status } = await place.txn();
  expect(status.items).toMatchObject([
    {
      committed: true,
      rolledBack: false,
      error: expect.stringContaining('cannot get resource "configmaps"') as string,
    },
    { committed: false, error: expect.stringContaining('cannot create resource "configmaps"') as string },
  ]);
  expect(JSON.stringify((await place.read(configMap(status.rollbackRef ?? "")))["data"])).toContain("former");
});
