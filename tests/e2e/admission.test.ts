import { REQUEST_ROLLBACK } from "@janus/api";
import { describe, expect, it, onTestFinished } from "vitest";
import { administrator, type Manifest } from "../fixtures/administrator.ts";
import { creating, deleting, patching, updating, type WrittenChange } from "../fixtures/changes.ts";
import { clusterAdmin } from "../fixtures/cluster-admin.ts";
import { configMap, deployment } from "../fixtures/manifests.ts";
import { transaction, type Workspace, workspace } from "../fixtures/workspace.ts";
import { policy } from "../restore/policy.ts";

/** A policy that modifies what is written, and its binding. */
const mutating = (
  { namespace }: Workspace,
  apiGroup: string,
  resource: string,
  operation: "CREATE" | "UPDATE",
  mutation: object,
): readonly [mutations: Manifest, binding: Manifest] => {
  const apiVersion = "admissionregistration.k8s.io/v1";
  const metadata = { name: `mutates-${namespace}` };
  const rule = { apiGroups: [apiGroup], apiVersions: ["v1"], operations: [operation], resources: [resource] };
  const mutations: Manifest = {
    apiVersion,
    kind: "MutatingAdmissionPolicy",
    metadata,
    spec: {
      failurePolicy: "Fail",
      reinvocationPolicy: "Never",
      matchConstraints: {
        namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
        resourceRules: [rule],
      },
      matchConditions: [{ name: "named", expression: "object.metadata.name.startsWith('web')" }],
      mutations: [mutation],
    },
  };
  const binding: Manifest = {
    apiVersion,
    kind: "MutatingAdmissionPolicyBinding",
    metadata,
    spec: { policyName: metadata.name },
  };
  onTestFinished(async () => {
    await administrator.remove(binding);
    await administrator.remove(mutations);
  });
  return [mutations, binding];
};

const containers = "object.spec.template.spec.containers";
const sidecar = `Object.spec.template.spec.containers{name: "sidecar", image: "sidecar:1"}`;
const injecting = (path: string): object => ({
  patchType: "JSONPatch",
  jsonPatch: {
    expression: `${containers}.exists(c, c.name == "sidecar") ? [] : [JSONPatch{op: "add", path: "${path}", value: ${sidecar}}]`,
  },
});
const injector = injecting("/spec/template/spec/containers/-");
const labelling = {
  patchType: "ApplyConfiguration",
  applyConfiguration: { expression: `Object{metadata: Object.metadata{labels: {"injected": "yes"}}}` },
};

const web = (image: string, name = "web"): Manifest => {
  const { spec, ...rest } = deployment(name, image);
  return { ...rest, spec: { ...(spec as object), paused: true } };
};

interface WithContainers {
  readonly spec: {
    readonly template: { readonly spec: { readonly containers: readonly { readonly name: string }[] } };
  };
}

const containersOf = async (place: Workspace, manifest: Manifest): Promise<readonly string[]> => {
  const { spec } = (await place.read(manifest)) as unknown as WithContainers;
  return spec.template.spec.containers.map(({ name }) => name);
};

/** An API server learns of a policy a moment after it was created. */
const inForce = async (place: Workspace, operation: "CREATE" | "UPDATE"): Promise<void> => {
  let count = 0;
  const names = async (): Promise<readonly string[]> => {
    count += 1;
    const probe = web("web:1", `web-probe${count}`);
    await place.create(probe);
    if (operation === "UPDATE") await place.patch({ ...probe, metadata: { ...probe.metadata, labels: { a: "b" } } });
    return containersOf(place, probe);
  };
  await expect.poll(names).toContain("sidecar");
};

const takenBack = async (place: Workspace) => {
  await place.patch({ ...transaction("txn"), metadata: { name: "txn", annotations: { [REQUEST_ROLLBACK]: "yes" } } });
  const phase = async () => (await place.txn()).status?.phase;
  await expect.poll(phase).toMatch(/RolledBack|Failed/);
  const { status } = await place.over("txn");
  const ready = status.conditions.find(({ type }) => type === "Ready");
  return { phase: status.phase, errors: status.items.map(({ error }) => error), message: ready?.message };
};

const committed = async (place: Workspace, ...changes: readonly WrittenChange[]): Promise<void> => {
  await place.submit(changes, { rollbackWindow: "1h" });
  await expect.poll(async () => (await place.txn()).status?.phase).toBe("Committed");
};

const item = 'containers[name="sidecar"]';

describe("names a container that a policy adds while a Deployment is restored", () => {
  const image = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web" },
    spec: { template: { spec: { containers: [{ name: "web", image: "web:2" }] } } },
  };
  it.each([
    ["at its end, after a Patch", injector, "UPDATE", patching(image), ["web", "sidecar"]],
    ["at its end, after an Update", injector, "UPDATE", updating(web("web:2")), ["web", "sidecar"]],
    ["first, after a Patch", injecting("/spec/template/spec/containers/0"), "UPDATE", patching(image), undefined],
    [
      "first, after an Update",
      injecting("/spec/template/spec/containers/0"),
      "UPDATE",
      updating(web("web:2")),
      undefined,
    ],
    ["when it is created again", injector, "CREATE", deleting(web("web:1")), ["web", "sidecar"]],
  ] as const)("%s", async (_, mutation, operation, change, names) => {
    const place = await workspace();
    await place.create(web("web:1"));
    const [mutations, binding] = mutating(place, "apps", "deployments", operation, mutation);
    await administrator.create(mutations);
    await administrator.create(binding);
    await inForce(place, operation);
    await place.janus();
    await committed(place, change);
    const { phase, errors, message } = await takenBack(place);
    expect([phase, errors, message]).toEqual([
      "RolledBack",
      [expect.stringContaining(item)],
      expect.stringContaining("rolled back, except for"),
    ]);
    const left = await containersOf(place, web("web:1"));
    expect(names === undefined ? left.toSorted() : left).toEqual(names ?? ["sidecar", "web"]);
  });
});

describe("restores what a policy of the same Transaction modifies, once that is rolled back", () => {
  const first = configMap("first", { a: "1" });
  const opened = { ...patching(configMap("first", { a: "2" })), waitFor: ["jsonpath={.data.go}=yes"] };

  /** The policy is in force for the changes after it. */
  const carriedOut = async (
    place: Workspace,
    policies: readonly Manifest[],
    change: WrittenChange,
    known: () => Promise<void>,
  ) => {
    await place.janus();
    await place.submit([...policies.map((one) => creating(one)), opened, change], { rollbackWindow: "1h" });
    const data = async (): Promise<unknown> => (await place.read(first))["data"];
    await expect.poll(data).toEqual({ a: "2" });
    await known();
    await place.patch(configMap("first", { go: "yes" }));
    await expect.poll(async () => (await place.txn()).status?.phase).toBe("Committed");
  };

  it.each([
    [
      "Patch",
      patching({
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "web" },
        spec: { template: { spec: { containers: [{ name: "web", image: "web:2" }] } } },
      }),
    ],
    ["Update", updating(web("web:2"))],
  ])("a container that it adds, after a %s", async (_, change) => {
    const place = await workspace();
    await clusterAdmin(place.namespace);
    await place.create(first, web("web:1"));
    const policies = mutating(place, "apps", "deployments", "UPDATE", injector);
    await carriedOut(place, policies, change, () => inForce(place, "UPDATE"));
    expect(await containersOf(place, web("web:1"))).toEqual(["web", "sidecar"]);
    const { phase, message } = await takenBack(place);
    expect([phase, message]).toEqual(["RolledBack", expect.stringContaining("every target is as it was before")]);
    expect(await containersOf(place, web("web:1"))).toEqual(["web"]);
  });

  it("a label that it sets", async () => {
    const place = await workspace();
    await clusterAdmin(place.namespace);
    const there = configMap("web", { a: "1" });
    await place.create(first, there, configMap("web-probe"));
    const policies = mutating(place, "", "configmaps", "UPDATE", labelling);
    let count = 0;
    const labels = async (): Promise<unknown> => {
      count += 1;
      await place.patch(configMap("web-probe", { count: `${count}` }));
      return (await place.read(configMap("web-probe"))).metadata.labels;
    };
    await carriedOut(place, policies, patching(configMap("web", { a: "2" })), () =>
      expect.poll(labels).toEqual({ injected: "yes" }),
    );
    const { phase, message } = await takenBack(place);
    expect([phase, message]).toEqual(["RolledBack", expect.stringContaining("every target is as it was before")]);
    const { metadata, ...rest } = await place.read(there);
    expect([metadata.labels, rest["data"]]).toEqual([undefined, { a: "1" }]);
  });
});

const dataOf = async ({ read }: Workspace, name: string) =>
  (await read(configMap(name)))["data"] as Readonly<Record<string, string>>;

/** From now on, every ConfigMap whose `a` is `2` gets another version. */
const versioned = async (place: Workspace): Promise<void> => {
  await policy(place.namespace, 'data: object.?data.a.orValue("") == "2" ? {"version": "two"} : {}');
  await place.create(configMap("probe", { a: "2", version: "one" }));
  const isInForce = async () => {
    await place.patch(configMap("probe", { n: `${performance.now()}` }));
    return (await dataOf(place, "probe"))["version"];
  };
  await expect.poll(isInForce).toBe("two");
};

it.each<readonly [string, "create" | "apply", WrittenChange]>([
  ["a Patch", "create", patching(configMap("there", { a: "2" }))],
  ["an Update", "create", updating(configMap("there", { a: "2", version: "one" }))],
  ["a Patch of what a GitOps tool has applied", "apply", patching(configMap("there", { a: "2" }))],
])("what an admission policy derives from a change is rolled back with it: %s", async (_, written, change) => {
  const place = await workspace();
  await place[written](configMap("there", { a: "1", version: "one" }));
  await versioned(place);
  // Managers that have written within the second in which the Transaction was created may have written after its change.
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  await place.janus();
  await place.submit([change], { rollbackWindow: "1h" });
  await expect.poll(async () => (await place.txn()).status?.phase).toBe("Committed");
  expect(await dataOf(place, "there")).toEqual({ a: "2", version: "two" });
  await place.patch({ ...transaction("txn"), metadata: { name: "txn", annotations: { [REQUEST_ROLLBACK]: "yes" } } });
  await expect.poll(async () => (await place.txn()).status?.phase).toBe("RolledBack");
  expect(await dataOf(place, "there")).toEqual({ a: "1", version: "one" });
});

/** Without data: the rest of the object is none of its business. */
const labelled = (name: string): Manifest => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, labels: { inject: "yes" } },
});

it("names what a policy has added because of a label, where another client has written something else there since", async () => {
  const place = await workspace();
  await place.create(configMap("web", { a: "1" }));
  const expression = `"inject" in object.?metadata.labels.orValue({}) ? [JSONPatch{op: "add", path: "/data/injected", value: "yes"}] : []`;
  const policies = mutating(place, "", "configmaps", "UPDATE", { patchType: "JSONPatch", jsonPatch: { expression } });
  for (const one of policies) await administrator.create(one);
  const isInForce = async () => {
    const probe = `web-${performance.now()}`;
    await place.create(configMap(probe, { a: "1" }));
    return (await place.patch(labelled(probe)))["data"];
  };
  await expect.poll(isInForce).toEqual({ a: "1", injected: "yes" });
  await place.janus();
  await committed(place, patching(labelled("web")));
  await place.patch(configMap("web", { theirs: "1" }));
  const { phase, errors } = await takenBack(place);
  const told = `ConfigMap ${place.namespace}/web: the API server, admission or another client has set .data.injected: left unchanged`;
  expect([phase, errors]).toEqual(["RolledBack", [told]]);
});
