import { expect, it, onTestFinished } from "vitest";
import { administrator, type Manifest } from "../fixtures/administrator.ts";
import { clusterAdmin } from "../fixtures/cluster-admin.ts";
import { gadget, gadgets } from "../fixtures/gadgets.ts";
import { configMap, deployment } from "../fixtures/manifests.ts";
import { workspace, type Workspace } from "../fixtures/workspace.ts";
import { janusWith } from "./command-line.ts";

const stream = (...manifests: readonly object[]): string => manifests.map((one) => JSON.stringify(one)).join("\n---\n");
const flat = (text: string): string => text.replaceAll(/\s+/gu, " ");
const flags = ({ namespace }: Workspace) => ["-f", "-", "-n", namespace, "--service-account", "deployer"];

const idle = (name: string, podSpec: object = {}): Manifest => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name },
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: "c", image: "web:v1" }], ...podSpec },
    },
  },
});

/** A claim of a class that can expand it, which is bound. */
const expandable = async (place: Workspace, storage: string): Promise<Manifest> => {
  const storageClass: Manifest = {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name: place.namespace },
    provisioner: "example.com/none",
    allowVolumeExpansion: true,
  };
  await administrator.create(storageClass);
  onTestFinished(() => administrator.remove(storageClass));
  const claim: Manifest = {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: "grow" },
    spec: {
      storageClassName: place.namespace,
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage } },
    },
  };
  return claim;
};

/** The CustomResourceDefinition with a further version, in which objects are stored. */
const withV2 = (namespace: string): Manifest => {
  const crd = gadgets(namespace);
  const spec = crd["spec"] as { readonly versions: readonly object[] };
  const [v1] = spec.versions;
  return {
    ...crd,
    spec: {
      ...spec,
      versions: [
        { ...v1, storage: false },
        { ...v1, name: "v2" },
      ],
    },
  };
};

const installedGadgets = async ({ namespace }: Workspace): Promise<void> => {
  await clusterAdmin(namespace);
  await administrator.create(gadgets(namespace));
  onTestFinished(() => administrator.remove(gadgets(namespace)));
};

it("puts a claim that grows after all that can be rolled back, and applies it", async () => {
  const place = await workspace();
  const { namespace, create, patch, read } = place;
  const claim = await expandable(place, "1Gi");
  await create(claim);
  await patch(
    {
      ...claim,
      status: { phase: "Bound", capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"] },
    },
    "status",
  );
  const grown = { ...claim, spec: { resources: { requests: { storage: "2Gi" } } } };
  const volumes = [{ name: "d", persistentVolumeClaim: { claimName: "grow" } }];
  const manifests = stream(grown, idle("grow", { volumes }), configMap("a"));
  const order = [
    `1  create     ConfigMap ${namespace}/a`,
    `2  create     Deployment ${namespace}/grow`,
    `3  change     PersistentVolumeClaim ${namespace}/grow`,
  ];
  const plan = await janusWith(manifests, "plan", ...flags(place));
  expect(plan).toMatchObject({ code: 1, stderr: "" });
  expect(plan.stdout).toContain(order.map((line) => ` ${line}\n`).join(""));
  const written = await janusWith(manifests, "plan", ...flags(place), "-o", "json");
  expect(JSON.parse(written.stdout)).toMatchObject({
    spec: { changes: [{}, {}, { target: { kind: "PersistentVolumeClaim" } }] },
  });
  await place.janus();
  const applied = await janusWith(manifests, "apply", ...flags(place));
  expect(applied.code).toBe(0);
  expect(await read(claim)).toMatchObject({ spec: { resources: { requests: { storage: "2Gi" } } } });
});

it("puts several last in a Draft, too, in the order that they have", async () => {
  const place = await workspace();
  const { namespace, create, txn } = place;
  await create(configMap("one", { a: "1" }), configMap("two", { a: "1" }));
  await place.janus();
  const made = stream(
    { ...configMap("one", { a: "1" }), immutable: true },
    { ...configMap("two", { a: "1" }), immutable: true },
    idle("web", { volumes: [{ name: "d", configMap: { name: "one" } }] }),
  );
  const drafted = await janusWith(made, "plan", "--draft", "--name", "txn", ...flags(place));
  expect(drafted.code).toBe(1);
  expect((await txn()).spec.changes.map(({ target: { name } }) => name)).toEqual(["web", "one", "two"]);
  expect(drafted.stdout).toContain(` 1  create     Deployment ${namespace}/web\n`);
});

it.each([
  [
    "a custom resource of a version in which objects are to be stored",
    installedGadgets,
    ({ namespace }: Workspace) => [
      withV2(namespace),
      { ...gadget(namespace), apiVersion: `${namespace}.example.com/v2` },
    ],
    "stores its objects in the new version v2",
  ],
  [
    "a controller of the kind",
    installedGadgets,
    ({ namespace }: Workspace) => [withV2(namespace), idle("operator")],
    "stores its objects in the new version v2",
  ],
  [
    "a Pod of what is made immutable with other contents",
    ({ create }: Workspace) => create(configMap("settings", { a: "1" })),
    () => [
      { ...configMap("settings", { a: "2" }), immutable: true },
      idle("web", { containers: [{ name: "c", image: "web:v1", envFrom: [{ configMapRef: { name: "settings" } }] }] }),
    ],
    "makes it immutable",
  ],
])("names the two commands where a later change may need it: %s", async (_, prepare, manifestsOf, what) => {
  const place = await workspace();
  const { namespace } = place;
  await prepare(place);
  const [first, ...others] = manifestsOf(place);
  const manifests = stream(...(first === undefined ? [] : [first]), ...others);
  const refused = await janusWith(manifests, "apply", ...flags(place));
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).not.toContain("the list");
  expect(flat(refused.stderr)).toContain(`${what}, which cannot be undone, and change 2 may need it before`);
  expect(flat(refused.stderr)).toContain(
    `It takes two commands. First, put this manifest (standard input, line 1) into a file of its own, and apply that: ` +
      `kubectl janus apply -f FILE -n ${namespace} --service-account deployer ` +
      "Then, run this command again, with all manifests.",
  );
  const drafted = await janusWith(manifests, "plan", "--draft", ...flags(place));
  expect(drafted).toMatchObject({
    code: 2,
    stdout: refused.stderr.replace(/apply-\w+/u, /apply-\w+/u.exec(drafted.stdout)?.[0] ?? ""),
  });
  expect(await place.names("backup.janus.io/v1alpha1", "Transaction")).toEqual([]);
  await place.janus();
  expect(await janusWith(stream(first ?? {}), "apply", ...flags(place))).toMatchObject({ code: 0 });
  expect(await janusWith(manifests, "apply", ...flags(place))).toMatchObject({ code: 0 });
});

it("leaves the order of a Transaction to its author, and says what is wrong with it, counted as it is listed", async () => {
  const place = await workspace();
  const { namespace, create } = place;
  await create(configMap("settings"));
  const written = await janusWith(
    stream({ ...configMap("settings"), immutable: true }, deployment("web", "web:v1")),
    "plan",
    ...flags(place),
    "-o",
    "json",
  );
  const txn = JSON.parse(written.stdout) as { spec: { changes: object[] } };
  txn.spec.changes.reverse();
  const plan = await janusWith(JSON.stringify(txn), "plan", "-f", "-");
  expect(plan.code).toBe(2);
  expect(flat(plan.stdout)).toContain(
    `- change 1: the Patch of ConfigMap ${namespace}/settings makes it immutable, which cannot be undone: move it to the end of the list`,
  );
});
