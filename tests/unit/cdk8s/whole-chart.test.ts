import { type ChangeOptions, Transaction } from "@janus/cdk8s";
import { ApiObject, type App, Chart, Testing } from "cdk8s";
import { ConfigMap, Deployment, Namespace, Secret, Service } from "cdk8s-plus-30";
import { expect, it } from "vitest";

const props = { serviceAccount: "deploy-sa" };
const targets = (chart: Chart) =>
  Testing.synth(chart).flatMap(({ spec }: { spec: { changes: { target: { kind: string; name: string } }[] } }) =>
    spec.changes.map(({ target }) => target.kind),
  );
const byKind = (one: { kind: string }, other: { kind: string }) => one.kind.localeCompare(other.kind);
const changeOptions = ({ kind }: ApiObject): ChangeOptions => (kind === "Deployment" ? { waitFor: ["ready"] } : {});
const shop = (app: App) => {
  const chart = new Chart(app, "shop", { namespace: "shop", labels: { team: "shop" } });
  const web = new Deployment(chart, "Web", { metadata: { name: "web" }, containers: [{ image: "web:1", port: 80 }] });
  const service = web.exposeViaService({ name: "web" });
  const map = new ConfigMap(chart, "Config", { metadata: { name: "config" }, data: { version: "1" } });
  const secret = new Secret(chart, "Key", { metadata: { name: "key" }, stringData: { key: "s3cr3t" } });
  return { chart, web, service, map, secret };
};

it("prints one Transaction in place of the objects, each applied as it was", () => {
  const before = Testing.synth(shop(Testing.app()).chart) as readonly { kind: string; spec: unknown }[];
  const { chart } = shop(Testing.app());
  Transaction.of(chart, "Release", props);
  const [manifest, ...more] = Testing.synth(chart);
  expect(more).toEqual([]);
  expect(manifest.metadata).toMatchObject({ namespace: "shop", labels: { team: "shop" } });
  const changed = manifest.spec.changes.map(
    (change: { type: string; target: { kind: string; name: string; namespace: string }; content: object }) => {
      const { apiVersion, kind, ...metadata } = change.target as Record<string, unknown>;
      const content = change.content as { metadata: object };
      return { apiVersion, kind, ...content, metadata: { ...content.metadata, ...metadata } };
    },
  );
  expect(changed.toSorted(byKind)).toEqual(before.toSorted(byKind));
  expect(new Set(manifest.spec.changes.map(({ type }: { type: string }) => type))).toEqual(new Set(["Apply"]));
});

it("applies by kind, what others need first", () => {
  const { chart } = shop(Testing.app());
  Transaction.of(chart, "Release", props);
  expect(targets(chart)).toEqual(["Secret", "ConfigMap", "Service", "Deployment"]);
});

it("applies dependencies first, of objects, of what has them, and of charts", () => {
  const app = Testing.app();
  const { chart, web, map, secret } = shop(app);
  map.node.addDependency(web);
  const data = new Chart(app, "data", { namespace: "shop" });
  new ConfigMap(data, "Schema", { metadata: { name: "schema" } });
  data.addDependency(chart);
  ApiObject.of(secret).addDependency(ApiObject.of(map));
  const transaction = Transaction.of(app, "release", props);
  expect(transaction.manifest.spec.changes.map(({ target }) => target.name)).toEqual([
    "web",
    "web",
    "config",
    "key",
    "schema",
  ]);
  expect(transaction.manifest.metadata).toMatchObject({
    name: expect.stringMatching(/^release-[0-9a-f]{8}$/u) as unknown,
    namespace: "shop",
  });
  expect(app.charts.filter((chart) => chart.toJson().length > 0).map(({ node }) => node.id)).toEqual(["release"]);
});

it("names those that depend on each other in a circle", () => {
  const { chart, web, map } = shop(Testing.app());
  map.node.addDependency(web);
  web.node.addDependency(map);
  expect(() => Transaction.of(chart, "Release", props)).toThrow(
    "these depend on each other: shop/Web/Resource, shop/Web/webService/Resource, shop/Config/Resource",
  );
});

it("has nested charts, too, which need not come before theirs", () => {
  const { chart } = shop(Testing.app());
  new Namespace(new Chart(chart, "nested"), "Namespace", { metadata: { name: "blue" } });
  Transaction.of(chart, "Release", props);
  expect(targets(chart)).toEqual(["Namespace", "Secret", "ConfigMap", "Service", "Deployment"]);
});

it("has options for single changes", () => {
  const { chart } = shop(Testing.app());
  const { manifest } = Transaction.of(chart, "Release", { ...props, changeOptions });
  expect(manifest.spec.changes.map(({ waitFor }) => waitFor)).toEqual([undefined, undefined, undefined, ["ready"]]);
});

it("keeps an edit of an object after it was called, and refuses an object that is added later", () => {
  const { chart, map } = shop(Testing.app());
  const transaction = Transaction.of(chart, "Release", props);
  map.addData("color", "blue");
  expect(JSON.stringify(Testing.synth(chart))).toContain("blue");
  const late = new ConfigMap(chart, "Late", { metadata: { name: "late" } });
  expect(() => Testing.synth(chart)).toThrow(
    "[shop/Release] ConfigMap shop/Late/Resource was added after Transaction.of: call that last",
  );
  transaction.node.addDependency(late);
  expect(Testing.synth(chart).map(({ kind }: { kind: string }) => kind)).toEqual(["ConfigMap", "Transaction"]);
});

it("leaves a Transaction that is there already as it is", () => {
  const app = Testing.app();
  const one = shop(app).chart;
  Transaction.of(one, "Release", props);
  const two = new Chart(app, "two");
  new Service(two, "Service", { metadata: { name: "two" }, ports: [{ port: 80 }] });
  Transaction.of(app, "rest", props);
  expect(app.charts.map((chart) => chart.toJson().length)).toEqual([1, 0, 1]);
});
