import { Change, parse, Transaction, type TransactionProps } from "@janus/cdk8s";
import { ApiObject, Chart, Duration, Testing } from "cdk8s";
import { ConfigMap, Deployment, ServiceAccount } from "cdk8s-plus-30";
import { expect, it } from "vitest";

const shop = () => new Chart(Testing.app(), "shop", { namespace: "shop", labels: { team: "shop" } });
const config = (chart: Chart, data: Record<string, string> = { version: "2.0" }) =>
  new ConfigMap(chart, "Config", { metadata: { name: "app-config" }, data });
const release = (chart: Chart, changes: readonly Change[], more: Partial<TransactionProps> = {}) =>
  new Transaction(chart, "Release", { serviceAccount: "deploy-sa", changes, ...more });
const nameOf = (version: string, more: Partial<TransactionProps> = {}) => {
  const chart = shop();
  return release(chart, [Change.apply(config(chart, { version }))], more).name;
};
const widget = { apiVersion: "example.com/v1", kind: "Widget", name: "old" };

it("is printed in place of the objects that it writes, with their labels, annotations and namespaces", () => {
  const chart = shop();
  const map = config(chart);
  map.metadata.addAnnotation("example.com/owner", "team-shop");
  const other = new ApiObject(chart, "Other", {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "key", namespace: "other" },
    stringData: { key: "s3cr3t" },
  });
  release(chart, [Change.create(map), Change.update(other)]);
  const [manifest, ...more] = Testing.synth(chart);
  expect(more).toEqual([]);
  expect(parse(manifest)).toMatchObject({ ok: true });
  expect(manifest).toMatchObject({
    apiVersion: "backup.janus.io/v1alpha1",
    kind: "Transaction",
    metadata: { namespace: "shop", labels: { team: "shop" } },
    spec: {
      serviceAccountName: "deploy-sa",
      changes: [
        {
          type: "Create",
          target: { apiVersion: "v1", kind: "ConfigMap", name: "app-config", namespace: "shop" },
          content: {
            metadata: { labels: { team: "shop" }, annotations: { "example.com/owner": "team-shop" } },
            data: { version: "2.0" },
          },
        },
        {
          type: "Update",
          target: { apiVersion: "v1", kind: "Secret", name: "key", namespace: "other" },
          content: { metadata: { labels: { team: "shop" } }, stringData: { key: "s3cr3t" } },
        },
      ],
    },
  });
});

it("makes changes of each type, in the order of the list", () => {
  const chart = shop();
  const map = config(chart);
  const { manifest } = release(chart, [
    Change.delete(widget),
    Change.patch({ apiVersion: "apps/v1", kind: "Deployment", name: "web" }, { spec: { replicas: 3 } }),
    Change.apply(map),
  ]);
  expect(manifest.spec.changes).toEqual([
    { target: widget, type: "Delete" },
    {
      target: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      type: "Patch",
      content: { spec: { replicas: 3 } },
    },
    expect.objectContaining({ type: "Apply" }),
  ]);
});

it("leaves out a content that is in a ConfigMap or Secret", () => {
  const chart = shop();
  const contentFrom = { secretKeyRef: { name: "contents", key: "a" } };
  const { manifest } = release(chart, [
    Change.apply(config(chart), { contentFrom }),
    Change.patch({ apiVersion: "v1", kind: "Secret", name: "key" }, {}, { contentFrom, waitFor: [] }),
  ]);
  expect(manifest.spec.changes).toEqual([
    {
      target: { apiVersion: "v1", kind: "ConfigMap", name: "app-config", namespace: "shop" },
      type: "Apply",
      contentFrom,
    },
    { target: { apiVersion: "v1", kind: "Secret", name: "key" }, type: "Patch", contentFrom, waitFor: [] },
  ]);
  expect(parse(Testing.synth(chart)[0])).toMatchObject({ ok: true });
});

it("patches and deletes objects of other charts, which still print them", () => {
  const chart = shop();
  const map = config(chart);
  const { manifest } = release(new Chart(chart, "release"), [Change.patch(map, { data: { version: "3.0" } })]);
  expect(manifest.spec.changes[0]?.target).toMatchObject({ kind: "ConfigMap", name: "app-config", namespace: "shop" });
  expect(Testing.synth(chart)).toHaveLength(1);
});

it("has the options of the spec and of each change, durations as text or of cdk8s", () => {
  const chart = shop();
  const changes = [
    Change.delete(widget, { waitFor: ["delete"], waitTimeout: Duration.seconds(90), resourceVersion: "7" }),
    Change.apply(config(chart), { waitFor: [] }),
  ];
  const { manifest } = release(chart, changes, {
    serviceAccount: new ServiceAccount(chart, "Account", { metadata: { name: "releaser" } }),
    waitFor: ["ready"],
    timeout: Duration.hours(1),
    lockTimeout: "2m",
    rollbackWaitFor: ["ready"],
    rollbackWaitTimeout: Duration.millis(1500),
    deletionPolicy: "Rollback",
    ttlSecondsAfterFinished: 3600,
    lifecycle: "Published",
    approvedDigest: `sha256:${"0".repeat(64)}`,
  });
  expect(manifest.spec).toMatchObject({
    serviceAccountName: "releaser",
    waitFor: ["ready"],
    timeout: "1h",
    lockTimeout: "2m",
    rollbackWaitFor: ["ready"],
    rollbackWaitTimeout: "1s500ms",
    deletionPolicy: "Rollback",
    ttlSecondsAfterFinished: 3600,
    lifecycle: "Published",
    approvedDigest: `sha256:${"0".repeat(64)}`,
    changes: [{ waitFor: ["delete"], waitTimeout: "1m30s", resourceVersion: "7" }, { waitFor: [] }],
  });
  expect(parse(manifest)).toEqual({ ok: true, value: manifest });
});

it("has another name for another content, and the same for the same", () => {
  expect(nameOf("2.0")).toMatch(/^shop-release-[0-9a-f]{8}$/u);
  expect(nameOf("2.0")).toBe(nameOf("2.0"));
  expect(nameOf("2.0")).not.toBe(nameOf("2.1"));
  expect(nameOf("2.0")).not.toBe(nameOf("2.0", { timeout: "1h" }));
  expect(nameOf("2.0")).toBe(nameOf("2.0", { lifecycle: "Draft" }));
  expect(nameOf("2.0")).toBe(nameOf("2.0", { lifecycle: "Published", approvedDigest: `sha256:${"0".repeat(64)}` }));
  expect(nameOf("2.0", { metadata: { name: "deploy-v2" } })).toBe("deploy-v2");
});

it("has what the objects become until the synthesis", () => {
  const chart = shop();
  const map = config(chart);
  const transaction = release(chart, [Change.apply(map)]);
  const before = transaction.name;
  map.addData("color", "blue");
  expect(ApiObject.of(map).name).toBe("app-config");
  expect(transaction.name).not.toBe(before);
  expect(Testing.synth(chart)).toMatchObject([{ spec: { changes: [{ content: { data: { color: "blue" } } }] } }]);
});

it("comes after what its objects depend on", () => {
  const app = Testing.app();
  const [chart, platform] = [new Chart(app, "shop"), new Chart(app, "platform")];
  const map = config(chart);
  map.node.addDependency(platform);
  new ApiObject(platform, "Namespace", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  release(chart, [Change.apply(map)]);
  chart.toJson();
  expect(app.charts.map(({ node }) => node.id)).toEqual(["platform", "shop"]);
});

it("comes after its ServiceAccount, if that is a construct", () => {
  const app = Testing.app();
  const [chart, platform] = [new Chart(app, "shop"), new Chart(app, "platform")];
  release(chart, [Change.delete(widget)], { serviceAccount: new ServiceAccount(platform, "Account") });
  chart.toJson();
  expect(app.charts.map(({ node }) => node.id)).toEqual(["platform", "shop"]);
});

it("gives cluster-scoped objects no namespace, though their chart has one", () => {
  const chart = shop();
  const namespace = new ApiObject(chart, "Ns", { apiVersion: "v1", kind: "Namespace", metadata: { name: "blue" } });
  expect(release(chart, [Change.apply(namespace)]).manifest.spec.changes[0]?.target).toEqual({
    apiVersion: "v1",
    kind: "Namespace",
    name: "blue",
  });
});

it("says in the synthesis what the API server would reject, with the paths of the constructs", () => {
  const chart = shop();
  const web = new Deployment(chart, "Web", { metadata: { name: "web" }, containers: [{ image: "web:1" }] });
  // @ts-expect-error -- JavaScript has no compiler that refuses this
  const misspelt = Change.apply(web, { waitFor: ["readyy"] });
  release(chart, [Change.apply(config(chart)), misspelt, Change.apply(web)], { timeout: "soon" });
  expect(() => Testing.synth(chart)).toThrow(/\[shop\/Release\] spec\.timeout: must be a duration/u);
  expect(() => Testing.synth(chart)).toThrow(
    /\[shop\/Release\] spec\.changes\[1\]\.waitFor\[0\]: .* \(shop\/Web\/Resource\)/u,
  );
  const twice = shop();
  const map = config(twice);
  release(twice, [Change.apply(map), Change.apply(map)]);
  expect(() => Testing.synth(twice)).toThrow("two changes have the same target");
});

it("names both changes of one object, also where only one of them says the namespace", () => {
  const chart = shop();
  const named = { apiVersion: "v1", kind: "ConfigMap", name: "app-config" };
  release(chart, [Change.apply(config(chart)), Change.delete(named)]);
  expect(() => Testing.synth(chart)).toThrow(
    "[shop/Release] spec.changes[1]: has the same target as changes[0] (shop/Config/Resource): make them one change (ConfigMap app-config)",
  );
});

// TypeScript takes some misspelt options of a function's result, and JavaScript takes all: a gate would be lost in silence.
it("refuses misspelt props and options", () => {
  const chart = shop();
  const options = { waitFor: ["ready"] as const, waitTimout: "5m" };
  const misspelt: Partial<TransactionProps> = JSON.parse('{ "timout": "5m" }');
  release(chart, [Change.apply(config(chart), options)], misspelt);
  expect(() => Testing.synth(chart)).toThrow(/\[shop\/Release\] spec\.timout: is not a field/u);
  expect(() => Testing.synth(chart)).toThrow(
    /spec\.changes\[0\]\.waitTimout: is not a field .* \(shop\/Config\/Resource\)/u,
  );
});

it("says that there is no ServiceAccount", () => {
  const chart = shop();
  const missing: Partial<TransactionProps> = JSON.parse('{ "serviceAccount": null }');
  release(chart, [Change.apply(config(chart))], missing);
  expect(() => Testing.synth(chart)).toThrow("[shop/Release] spec.serviceAccountName: is missing");
});

it("refuses to create its own ServiceAccount, which must exist before", () => {
  const chart = shop();
  const account = new ServiceAccount(chart, "Account", { metadata: { name: "deploy-sa" } });
  release(chart, [Change.apply(account)], { serviceAccount: account });
  expect(() => Testing.synth(chart)).toThrow("its own ServiceAccount must exist before it");
});

it("has another name in another run of a pipeline, and the same one in the same run", () => {
  const names = [undefined, "", "1", "2"].map((run) => nameOf("1.0", { run }));
  expect(new Set(names).size).toBe(4);
  expect(names.every((name) => /^shop-release-[0-9a-f]{8}$/u.test(name))).toBe(true);
  expect(nameOf("1.0", { run: "2" })).toBe(names[3]);
  expect(nameOf("1.1", { run: "2" })).not.toBe(names[3]);
  expect(nameOf("1.0")).toBe(names[0]);
});

it.each<[string, Partial<TransactionProps>, string]>([
  [
    "run beside a name",
    { metadata: { name: "mine" }, run: "1" },
    "[shop/Release] run has no effect, since metadata.name",
  ],
  ["generateName", { metadata: { generateName: "shop-" } }, "[shop/Release] metadata.generateName has no effect"],
])("refuses what would not give each run a name of its own: %s", (_, props, message) => {
  const chart = shop();
  release(chart, [Change.apply(config(chart))], props);
  expect(() => Testing.synth(chart)).toThrow(message);
});

const claim = { apiVersion: "v1", kind: "PersistentVolumeClaim", name: "data" };
const irreversible = [
  { apiVersion: "v1", kind: "Namespace", name: "old" },
  { apiVersion: "v1", kind: "PersistentVolume", name: "old" },
  claim,
  { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", name: "widgets.example.com" },
];

const synth = (...changes: readonly Change[]) => {
  const chart = shop();
  release(chart, changes);
  return () => Testing.synth(chart);
};

it.each(irreversible)("refuses the deletion of a $kind, which cannot be undone, unless it is at the end", (ref) => {
  const message = `[shop/Release] spec.changes[0]: this deletion cannot be undone: move it to the end of the list (${ref.kind} ${ref.name})`;
  expect(synth(Change.delete(ref), Change.delete(widget))).toThrow(message);
  expect(synth(Change.delete(widget), Change.delete(ref))).not.toThrow();
  expect(synth(Change.delete(widget), Change.delete(ref), Change.delete({ ...claim, name: "more" }))).not.toThrow();
});
