import { BlueprintUserRoles, installation, type JanusProps, type Manifest, render } from "@janus/deploy";
import { kanisterCrds } from "@janus/blueprints";
import { beforeAll, describe, expect, it } from "vitest";
import { kubectl, kubectlWith } from "../fixtures/cluster.ts";
import { freshNamespace } from "../fixtures/namespaces.ts";
import { rightsIn, rulesOf } from "./permissions.ts";

const ofBlueprints = (props: JanusProps): readonly Manifest[] =>
  installation(props).filter(({ metadata }) => metadata.labels?.["app.kubernetes.io/component"] === "blueprints");

const kindsOf = (manifests: readonly Manifest[]): readonly string[] =>
  manifests.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ""}/${metadata.name}`);

const rights = [
  "create leases.coordination.k8s.io",
  "get leases.coordination.k8s.io",
  "patch leases.coordination.k8s.io",
  "create events",
  ...["blueprints", "profiles", "actionsets"].flatMap((kind) =>
    ["get", "list", "watch"].map((verb) => `${verb} ${kind}.cr.kanister.io`),
  ),
  "patch actionsets.cr.kanister.io",
  "patch actionsets/status.cr.kanister.io",
  "delete actionsets.cr.kanister.io",
  ...["create", "get", "patch", "delete"].map((verb) => `${verb} secrets`),
  "get serviceaccounts",
  "impersonate serviceaccounts",
  "impersonate userextras/janus.io/blueprints-fence.authentication.k8s.io",
];

/** Those of a kind, without what distinguishes the two controllers: names and labels. */
const alikeOf = (kind: string): readonly unknown[] =>
  installation({ blueprints: {} })
    .filter((one) => one.kind === kind)
    .map(({ metadata, spec }) =>
      JSON.parse(
        JSON.stringify({ name: metadata.name, spec })
          .replaceAll("janus-blueprints", "janus-controller")
          .replaceAll('"blueprints"', '"controller"'),
      ),
    );

describe("the Blueprint controller", () => {
  it.each<[string, JanusProps]>([
    ["of all namespaces", { blueprints: {} }],
    ["of some namespaces", { blueprints: { watchNamespaces: ["shop", "bank"] } }],
    ["with protected metrics", { blueprints: {}, metricsAuth: true }],
  ])("has the permissions that it needs and no others: %s", (_, props) => {
    const given = rightsIn(rulesOf(ofBlueprints(props)));
    expect([...new Set(given)].toSorted()).toEqual(rights.toSorted());
  });

  it("has no permission in namespaces that it does not watch, but to say of which term its writes are", () => {
    const given = kindsOf(ofBlueprints({ blueprints: { watchNamespaces: ["shop", "bank"] } }));
    expect(given.filter((one) => one.includes("Role"))).toEqual([
      "Role janus-system/janus-blueprints-leader",
      "RoleBinding janus-system/janus-blueprints-leader",
      "ClusterRole /janus-blueprints",
      "ClusterRoleBinding /janus-blueprints",
      "Role shop/janus-blueprints",
      "RoleBinding shop/janus-blueprints",
      "Role bank/janus-blueprints",
      "RoleBinding bank/janus-blueprints",
    ]);
  });

  it("is not given all namespaces by an empty list of them", () => {
    expect(() => ofBlueprints({ blueprints: { watchNamespaces: [] } })).toThrow("watchNamespaces is empty");
  });

  it("has a budget, a priority level and a NetworkPolicy of its own, as the other controller", () => {
    for (const kind of ["PodDisruptionBudget", "PriorityLevelConfiguration", "NetworkPolicy"]) {
      const [one, other, ...more] = alikeOf(kind);
      expect([other, ...more]).toEqual([one]);
    }
    const [leases, rest, ...flows] = alikeOf("FlowSchema");
    expect(flows).toEqual([leases, rest]);
  });

  it("has none of them where the installation has none", () => {
    const kinds = kindsOf(
      ofBlueprints({ blueprints: {}, podDisruptionBudget: { enabled: false }, networkPolicy: false }),
    );
    expect(kinds.filter((one) => /PodDisruptionBudget|NetworkPolicy/u.test(one))).toEqual([]);
  });

  it("leaves all others as they are", () => {
    const without = installation();
    const all = installation({ blueprints: {} });
    const users = render((chart) => new BlueprintUserRoles(chart, "Roles"));
    const own = ofBlueprints({ blueprints: {} });
    const added = kindsOf([...own, ...users, ...(kanisterCrds as unknown as Manifest[])]);
    expect(all.filter((one) => !added.includes(kindsOf([one])[0] ?? ""))).toEqual(without);
  });

  it("is installed beside Kanister's own definitions", () => {
    const kinds = kindsOf(installation({ blueprints: { crds: false } }));
    expect(kinds).toContain("Deployment janus-system/janus-blueprints");
    expect(kinds.filter((one) => one.includes("kanister"))).toEqual([]);
  });
});

/** As kanctl writes it: every field of a reference, whether it is empty or not. */
const reference = (name: string) => ({
  apiVersion: "",
  group: "",
  kind: "",
  name,
  namespace: "kanister",
  resource: "",
});

const action = {
  name: "backup",
  blueprint: "postgresql",
  configMaps: { location: reference("location") },
  object: { apiVersion: "", group: "", kind: "statefulset", name: "db", namespace: "shop", resource: "" },
  options: { level: "" },
  podAnnotations: {},
  podLabels: {},
  preferredVersion: "",
  profile: reference("s3"),
  secrets: { aws: reference("aws") },
};

describe("the definitions of Kanister's kinds", () => {
  beforeAll(async () => {
    const crds = JSON.stringify({ apiVersion: "v1", kind: "List", items: kanisterCrds });
    const applied = await kubectlWith(
      { stdin: crds },
      "apply",
      "--server-side",
      // Another file of this run may have applied them.
      "--force-conflicts",
      "--validate=strict",
      "--warnings-as-errors",
      "-f",
      "-",
    );
    if (applied.code !== 0 || applied.stderr !== "") throw new Error(applied.stderr);
    const names = ["actionsets", "blueprints", "profiles"].map((plural) => `crd/${plural}.cr.kanister.io`);
    await kubectl("wait", "--for=condition=Established", "--timeout=300s", ...names);
  });

  it("accept an ActionSet as kanctl writes it, and leave it as it is", async () => {
    const namespace = await freshNamespace();
    const spec = { actions: [action] };
    const object = {
      apiVersion: "cr.kanister.io/v1alpha1",
      kind: "ActionSet",
      metadata: { name: "backup-x7k2p", namespace },
      spec,
    };
    const created = await kubectlWith({ stdin: JSON.stringify(object) }, "create", "-f", "-", "-o", "json");
    expect(created).toMatchObject({ code: 0, stderr: "" });
    expect((JSON.parse(created.stdout) as { readonly spec: unknown }).spec).toEqual(spec);
  });
});
