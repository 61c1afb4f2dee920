import type { Request } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { beforeAll, expect, it, onTestFinished } from "vitest";
import { administrator, type Manifest } from "../fixtures/administrator.ts";
import { creating, deleting, patching } from "../fixtures/changes.ts";
import { clusterAdmin } from "../fixtures/cluster-admin.ts";
import { kubectl, kubectlWith } from "../fixtures/cluster.ts";
import { isChangeOf } from "../fixtures/gate.ts";
import { configMap, role, roleBinding, within } from "../fixtures/manifests.ts";
import { unavailable } from "../fixtures/refusing.ts";
import { type Txn, type Workspace, workspace } from "../fixtures/workspace.ts";

const GROUP = "versions.test.janus.io";
const text = { type: "string" };
const version = (name: string, fields: object): object => ({
  name,
  served: true,
  storage: name === "v2",
  schema: { openAPIV3Schema: { type: "object", properties: { spec: { type: "object", properties: fields } } } },
});
const crd = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `parts.${GROUP}` },
  spec: {
    group: GROUP,
    scope: "Namespaced",
    names: { kind: "Part", plural: "parts" },
    versions: [
      version("v1", { size: text }),
      version("v2", { size: text, colour: text, shape: { ...text, default: "round" } }),
    ],
  },
};

beforeAll(async () => {
  await kubectlWith({ stdin: JSON.stringify(crd) }, "apply", "--server-side", "-f", "-");
  await kubectl("wait", "--for=condition=Established", "crd", crd.metadata.name);
});

const part = (v: "v1" | "v2", spec: object = {}): Manifest => ({
  apiVersion: `${GROUP}/${v}`,
  kind: "Part",
  metadata: { name: "part" },
  spec,
});
const messageOf = ({ conditions }: Txn["status"]): string =>
  conditions.find(({ type }) => type === "Ready")?.message ?? "";
const LOSS = "which a write in v1 loses";
const specOf = async (place: Workspace) => (await place.read(part("v2")))["spec"];

it.each([
  ["Patch", patching(part("v1", { size: "2" }))],
  ["Delete", deleting(part("v1"))],
])(
  "refuses a %s that would lose what only another version has, also where an earlier change brings its permission",
  async (_, change) => {
    const place = await workspace();
    await place.create(
      within(place.namespace, role("look", { apiGroups: [GROUP], resources: ["parts"], verbs: ["get"] })),
      within(
        place.namespace,
        role("edit-parts", {
          apiGroups: [GROUP],
          resources: ["parts"],
          verbs: ["get", "patch", "update", "create", "delete"],
        }),
      ),
      within(place.namespace, {
        ...role("binds", { apiGroups: ["rbac.authorization.k8s.io"], resources: ["roles"], verbs: ["bind"] }),
      }),
      within(place.namespace, roleBinding("look", "Role", "look", `${place.namespace}/deployer`)),
      within(place.namespace, roleBinding("binds", "Role", "binds", `${place.namespace}/deployer`)),
      part("v2", { size: "1", colour: "red" }),
    );
    await place.janus(async (request, next) => {
      if (isChangeOf("last")(request)) await place.create(configMap("last"));
      return next(request);
    });
    const { status } = await place.run([
      creating(roleBinding("edits", "Role", "edit-parts", `${place.namespace}/deployer`)),
      change,
      creating(configMap("last")),
    ]);
    expect(status.phase).toBe("RolledBack");
    expect(messageOf(status)).toContain(LOSS);
    expect(await specOf(place)).toEqual({ size: "1", colour: "red", shape: "round" });
  },
);

it("refuses it where a policy forbids to try the write in the other version", async () => {
  const place = await workspace();
  await clusterAdmin(place.namespace);
  await place.create(part("v2", { size: "1", colour: "red" }));
  const policy: Manifest = {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicy",
    metadata: { name: `colour-${place.namespace}` },
    spec: {
      failurePolicy: "Fail",
      matchConstraints: {
        matchPolicy: "Exact",
        namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": place.namespace } },
        resourceRules: [{ apiGroups: [GROUP], apiVersions: ["v2"], operations: ["UPDATE"], resources: ["parts"] }],
      },
      validations: [
        {
          expression: "object.spec.?colour == oldObject.spec.?colour",
          message: "the colour is what the operator says",
          reason: "Forbidden",
        },
      ],
    },
  };
  const binding: Manifest = {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicyBinding",
    metadata: { name: `colour-${place.namespace}` },
    spec: { policyName: policy.metadata.name, validationActions: ["Deny"] },
  };
  await administrator.create(policy);
  await administrator.create(binding);
  onTestFinished(async () => {
    await administrator.remove(binding);
    await administrator.remove(policy);
  });
  await expect
    .poll(
      async () =>
        (
          await kubectl(
            "patch",
            `parts.v2.${GROUP}`,
            "part",
            "-n",
            place.namespace,
            "--type=merge",
            "--dry-run=server",
            "-p",
            '{"spec":{"colour":"x"}}',
          )
        ).stderr,
    )
    .toContain("the colour is");
  await place.janus(async (request, next) => {
    if (isChangeOf("last")(request)) await place.create(configMap("last"));
    return next(request);
  });
  const { status } = await place.run([patching(part("v1", { size: "2" })), creating(configMap("last"))]);
  expect(status.phase).toBe("Failed");
  expect(messageOf(status)).toContain(LOSS);
  expect(await specOf(place)).toEqual({ size: "1", colour: "red", shape: "round" });
});

it("does not count a field that another client adds between the reads of two versions", async () => {
  const place = await workspace();
  await clusterAdmin(place.namespace);
  await place.create(part("v2", { size: "1", shape: "round" }));
  let once = true;
  await place.janus(async (request, next) => {
    if (once && request.verb === "get" && JSON.stringify(request).includes('"version":"v2"')) {
      once = false;
      await kubectl("label", `parts.v2.${GROUP}`, "part", "by=them", "-n", place.namespace);
    }
    return next(request);
  });
  const { status } = await place.run([patching(part("v1", { size: "2" }))]);
  expect(once).toBe(false);
  expect(status.phase).toBe("Committed");
});

it("does not count a field that another client adds between the reads of two versions, in a rollback", async () => {
  const place = await workspace();
  await clusterAdmin(place.namespace);
  await place.create(part("v2", { size: "1", shape: "round" }));
  let isRollingBack = false;
  let once = true;
  await place.janus(async (request, next) => {
    if (isChangeOf("last")(request)) {
      await place.create(configMap("last"));
      isRollingBack = true;
    }
    if (isRollingBack && once && request.verb === "get" && JSON.stringify(request).includes('"version":"v2"')) {
      once = false;
      await kubectl("label", `parts.v2.${GROUP}`, "part", "by=them", "-n", place.namespace);
    }
    return next(request);
  });
  const { status } = await place.run([patching(part("v1", { size: "2" })), creating(configMap("last"))]);
  expect(once).toBe(false);
  expect(status.phase).toBe("RolledBack");
});

it("shows it in a Draft", async () => {
  const place = await workspace();
  await clusterAdmin(place.namespace);
  await place.create(part("v2", { size: "1", colour: "red" }));
  await place.janus();
  await place.submit([patching(part("v1", { size: "2" }))], { lifecycle: "Draft" });
  await expect.poll(async () => JSON.stringify((await place.txn()).status)).toContain('"result":"Problems"');
  expect(JSON.stringify((await place.txn()).status)).toContain(LOSS);
});

const big = (n: number) => configMap(`big-${n}`, { text: "x".repeat(200_000) });
const isTrial = (request: Request): boolean =>
  request.purpose === "dry-run" && request.verb === "update" && request.resource.version === "v2";

it("refuses it where the trial write is not answered at once, and large targets go from memory meanwhile", async () => {
  const place = await workspace();
  await clusterAdmin(place.namespace);
  await place.create(part("v2", { size: "x".repeat(200_000), colour: "red" }));
  const numbers = Array.from({ length: 14 }, (_, n) => n);
  await place.create(...numbers.map(big));
  let refused = 0;
  await place.janus((request, next) => {
    if (!isTrial(request) || refused > 0) return next(request);
    refused += 1;
    return Promise.resolve(E.left(unavailable));
  });
  const others = numbers.map((n) => patching(configMap(`big-${n}`, { more: "1" })));
  const { status } = await place.run([patching(part("v1", { size: "2" })), ...others]);
  expect(refused).toBe(1);
  expect(status.phase).toBe("Failed");
  expect(messageOf(status)).toContain(LOSS);
  expect(await specOf(place)).toMatchObject({ colour: "red" });
});
