import { beforeAll, describe, expect, it, vi } from "vitest";
import { administrator, type Manifest } from "../fixtures/administrator.ts";
import { creating, deleting, patching, updating, type WrittenChange } from "../fixtures/changes.ts";
import { clusterRole, clusterRoleBinding, configMap, within } from "../fixtures/manifests.ts";
import { allowOneService, oneTooMany } from "../fixtures/quota.ts";
import { gate, isChangeOf } from "../fixtures/gate.ts";
import { recording } from "../fixtures/recording.ts";
import { type Workspace, workspace } from "../fixtures/workspace.ts";

const GROUP = "misspelt.example.com";

const crd = (...fields: readonly string[]): Manifest => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `parts.${GROUP}` },
  spec: {
    group: GROUP,
    scope: "Namespaced",
    names: { plural: "parts", singular: "part", kind: "Part", listKind: "PartList" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: Object.fromEntries(fields.map((field) => [field, { type: "string" }])),
          },
        },
      },
    ],
  },
});

const part = (name: string, fields: object): Manifest => ({
  apiVersion: `${GROUP}/v1`,
  kind: "Part",
  metadata: { name },
  ...fields,
});

const mislabelled = (manifest: Manifest): Manifest => ({
  ...manifest,
  metadata: { ...manifest.metadata, lables: { a: "2" } },
});

const misspelt = (name: string): Manifest => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  dta: { a: "2" },
});

const FIELDS = ["data", "lost"];

/** From now on, a part has these fields and no others. */
const serve = async (...fields: readonly string[]): Promise<void> => {
  await administrator.apply(crd(...fields));
  const all = Object.fromEntries(FIELDS.map((field) => [field, "x"]));
  const probe = within("default", part("probe", all));
  const isServed = async (): Promise<boolean> => {
    const made = await administrator.create(probe).catch(() => undefined);
    if (made !== undefined) await administrator.remove(probe);
    return made !== undefined && FIELDS.every((field) => field in made === fields.includes(field));
  };
  await vi.waitUntil(isServed, { timeout: 300_000 });
};

beforeAll(() => serve("data"));

/** The ServiceAccount may do what it likes with parts. */
const shop = async (): Promise<Workspace> => {
  const place = await workspace();
  await place.create(
    clusterRole(place.namespace, { apiGroups: [GROUP], resources: ["parts"], verbs: ["*"] }),
    clusterRoleBinding(place.namespace, place.namespace, `${place.namespace}/deployer`),
  );
  return place;
};

describe("a field that the kind does not have is refused before the first change, and named", () => {
  const cases: readonly (readonly [string, string, WrittenChange])[] = [
    ["Create of a ConfigMap", "dta", creating(misspelt("new"))],
    ["Update of a ConfigMap", "dta", updating(misspelt("there"))],
    ["Patch of a ConfigMap", "dta", patching(misspelt("there"))],
    ["Create of a custom resource", "daat", creating(part("new", { daat: "2" }))],
    ["Update of a custom resource", "daat", updating(part("there", { daat: "2" }))],
    ["Patch of a custom resource", "daat", patching(part("there", { daat: "2" }))],
    ["Create of a ConfigMap", "metadata.lables", creating(mislabelled(configMap("new")))],
    ["Update of a custom resource", "metadata.lables", updating(mislabelled(part("there", {})))],
    ["Patch of a ConfigMap", "metadata.lables", patching(mislabelled(configMap("there")))],
  ];
  it.each(cases)("%s with %s", async (_, field, change) => {
    const place = await shop();
    await place.create(configMap("there", { a: "1" }), part("there", { data: "1" }));
    const { hook, requests } = recording();
    await place.janus(hook);
    const { status } = await place.run([change]);
    expect(status.phase).toBe("Failed");
    expect(status.items[0]?.error).toContain(field);
    expect(requests.filter(({ purpose }) => purpose === "change")).toEqual([]);
    expect(await place.read(configMap("there"))).toMatchObject({ data: { a: "1" } });
    expect(await place.read(part("there", {}))).toMatchObject({ data: "1" });
  });
});

it("a field that the kind lost after the preflight stops its change, which is rolled back with those before", async () => {
  const place = await shop();
  await place.create(configMap("there", { a: "1" }));
  await serve("data", "lost");
  const { hook, reached, open } = gate(isChangeOf("new"));
  await place.janus(hook);
  await place.submit([patching(configMap("there", { a: "2" })), creating(part("new", { lost: "2" }))]);
  await reached;
  await serve("data");
  open();
  const { status } = await place.over();
  expect(status.phase).toBe("RolledBack");
  expect(status.items[1]?.error).toContain("lost");
  expect(await place.read(configMap("there"))).toMatchObject({ data: { a: "1" } });
  expect(await place.exists(part("new", {}))).toBe(false);
});

it("an object with a field that its kind has lost since is rolled back, as far as the API server accepts it", async () => {
  const place = await shop();
  await serve("data", "lost");
  await place.create(part("updated", { data: "1", lost: "1" }), part("deleted", { data: "1", lost: "1" }));
  await allowOneService(place);
  const { hook, reached, open } = gate(({ purpose }) => purpose === "restore");
  await place.janus(hook);
  await place.submit([updating(part("updated", { data: "2" })), deleting(part("deleted", {})), ...oneTooMany]);
  await reached;
  await serve("data");
  open();
  const { status } = await place.over();
  // What it does not take is told.
  expect(status).toMatchObject({
    phase: "Failed",
    items: [{ error: expect.stringContaining(".lost") as string }, {}, {}, {}],
  });
  expect(await place.read(part("updated", {}))).toMatchObject({ data: "1" });
  expect(await place.read(part("deleted", {}))).toMatchObject({ data: "1" });
});
