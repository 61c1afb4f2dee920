// Tests which resources and objects the rules of a destination select.
import type { JsonObject, KubeObject } from "@janus/types";
import { describe, expect, it } from "vitest";
import type { LabelSelector } from "../../../packages/git-journal/src/api/references.ts";
import type { ClusterResourceRule, ResourceRule } from "../../../packages/git-journal/src/api/watch-rule.ts";
import type { ServedResource } from "../../../packages/git-journal/src/core/discovery.ts";
import {
  operationsOn,
  parseExclude,
  rulesAbout,
  rulesOfClusterWatchRule,
  rulesOfWatchRule,
  selectedResources,
  selectionFindings,
  type SelectionRule,
  type SelectionSettings,
} from "../../../packages/git-journal/src/core/selection.ts";
import { right } from "./right.ts";

const SETTINGS: SelectionSettings = { watchAll: false, excludes: [], secrets: true };

const served = (group: string, plural: string, namespaced = true, versions = ["v1"]): ServedResource => ({
  group,
  plural,
  kind: plural,
  namespaced,
  versions,
});

const SERVED = [
  ...["configmaps", "secrets", "pods", "events", "endpoints"].map((plural) => served("", plural)),
  served("events.k8s.io", "events"),
  served("", "namespaces", false),
  { ...served("apps", "deployments"), kind: "Deployment" },
  served("apps", "controllerrevisions"),
  served("batch", "jobs"),
  served("autoscaling", "horizontalpodautoscalers", true, ["v2", "v1"]),
  served("rbac.authorization.k8s.io", "clusterroles", false),
  served("example.com", "widgets"),
  served("example.com", "gadgets", false),
];

const inShop = (rule: Partial<ResourceRule>, objectSelector?: LabelSelector): readonly SelectionRule[] =>
  right(
    rulesOfWatchRule(
      { rules: [{ resources: ["*"], ...rule }], ...(objectSelector === undefined ? {} : { objectSelector }) },
      "shop",
    ),
  );
const ofCluster = (rule: Partial<ClusterResourceRule>): readonly SelectionRule[] =>
  right(rulesOfClusterWatchRule({ rules: [{ resources: ["*"], scope: "Namespaced", ...rule }] }));

const selectedOf = (rules: readonly SelectionRule[], settings: Partial<SelectionSettings> = {}): readonly string[] =>
  selectedResources(rules, SERVED, { ...SETTINGS, ...settings }).map(({ group, version, plural }) =>
    [group, version, plural].join("/"),
  );

const object = (kind: string, metadata: JsonObject = {}, fields: JsonObject = {}, apiVersion = "v1"): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name: "a", namespace: "shop", ...metadata },
  ...fields,
});

describe("resources", () => {
  it.each<readonly [string, readonly SelectionRule[], readonly string[]]>([
    ["* is the preset", inShop({}), ["/v1/configmaps", "/v1/secrets", "apps/v1/deployments"]],
    ["* of the cluster", ofCluster({ scope: "Cluster" }), ["rbac.authorization.k8s.io/v1/clusterroles"]],
    ["* in a group of the preset", inShop({ apiGroups: ["apps"] }), ["apps/v1/deployments"]],
    ["* in a group without preset: all of it", inShop({ apiGroups: ["example.com"] }), ["example.com/v1/widgets"]],
    ["* in a group that is excluded", inShop({ apiGroups: ["batch"] }), []],
    ["a name in every group", inShop({ resources: ["widgets"] }), ["example.com/v1/widgets"]],
    ["a name in the core group only", inShop({ apiGroups: [""], resources: ["widgets"] }), []],
    [
      "what is named outright, although * excludes it",
      inShop({ resources: ["pods", "jobs"] }),
      ["/v1/pods", "batch/v1/jobs"],
    ],
    ["what is of another scope", inShop({ resources: ["namespaces"] }), []],
    [
      "the preferred version",
      inShop({ resources: ["horizontalpodautoscalers"] }),
      ["autoscaling/v2/horizontalpodautoscalers"],
    ],
    [
      "the version that the rule allows",
      inShop({ resources: ["horizontalpodautoscalers"], apiVersions: ["v1", "v9"] }),
      ["autoscaling/v1/horizontalpodautoscalers"],
    ],
    ["a version that is not served", inShop({ resources: ["configmaps"], apiVersions: ["v9"] }), []],
    [
      "one version for all rules",
      [
        ...inShop({ resources: ["horizontalpodautoscalers"], apiVersions: ["v1"] }),
        ...ofCluster({ resources: ["horizontalpodautoscalers"] }),
      ],
      ["autoscaling/v2/horizontalpodautoscalers"],
    ],
    ["no subresources", inShop({ resources: ["pods/status", "deployments/*"] }), []],
  ])("%s", (_, rules, expected) => {
    expect(selectedOf(rules)).toEqual(expected);
  });

  it("--watch-all selects all that is not excluded", () => {
    expect(selectedOf(inShop({}), { watchAll: true })).toEqual([
      "/v1/configmaps",
      "/v1/secrets",
      "apps/v1/deployments",
      "autoscaling/v2/horizontalpodautoscalers",
      "example.com/v1/widgets",
    ]);
  });

  it("--discovery-exclude binds what is named outright, too, and the rule says so", () => {
    const rules = inShop({ resources: ["widgets", "configmaps"] });
    const settings = { ...SETTINGS, excludes: ["widgets", "core/configmaps", "apps/secrets"].map(parseExclude) };
    expect(selectedOf(rules, settings)).toEqual([]);
    expect(rules.flatMap((rule) => selectionFindings(rule, SERVED, settings))).toEqual([
      "widgets: left out by the controller's flag --discovery-exclude",
      "configmaps: left out by the controller's flag --discovery-exclude",
    ]);
    expect(selectedOf(inShop({}), settings)).toEqual(["/v1/secrets", "apps/v1/deployments"]);
  });

  it("without the right to read Secrets, * leaves them out, and a rule that names them says so", () => {
    expect(selectedOf(inShop({}), { secrets: false })).toEqual(["/v1/configmaps", "apps/v1/deployments"]);
    expect(
      inShop({ resources: ["secrets"] }).flatMap((rule) =>
        selectionFindings(rule, SERVED, { ...SETTINGS, secrets: false }),
      ),
    ).toEqual(["secrets: the controller may not read them: see the chart value gitJournal.secrets"]);
  });

  it("a rule that gets what it names, in one group at least, says nothing", () => {
    const settings = { ...SETTINGS, excludes: [parseExclude("events.k8s.io/events")] };
    const rules = inShop({ resources: ["*", "secrets", "widgets", "events"] });
    expect(rules.flatMap((rule) => selectionFindings(rule, SERVED, settings))).toEqual([]);
  });

  it.each<readonly [string, Partial<ResourceRule>, string]>([
    ["subresources", { resources: ["deployments/scale"] }, "deployments/scale: subresources have no files: remove it"],
    [
      "of the cluster",
      { resources: ["gadgets"] },
      "gadgets: not namespaced, use a ClusterWatchRule with scope Cluster",
    ],
    [
      "not served",
      { resources: ["nothings"] },
      "nothings: not served, or not to be listed and watched, and written once it is",
    ],
    ["a kind", { resources: ["Deployment"] }, "Deployment: name it by its plural, deployments"],
    ["a singular", { resources: ["deployment"] }, "deployment: name it by its plural, deployments"],
    [
      "in another group",
      { resources: ["events"], apiGroups: ["extensions"] },
      'events: not in these apiGroups, but in "", events.k8s.io',
    ],
    [
      "no such version",
      { resources: ["widgets"], apiVersions: ["v2"] },
      "widgets: not served in the versions of apiVersions",
    ],
  ])("a rule says what it gets not: %s", (_, rule, expected) => {
    expect(inShop(rule).flatMap((one) => selectionFindings(one, SERVED, SETTINGS))).toEqual([expected]);
  });
});

const pluralOf = ({ kind }: KubeObject): string => `${kind.toLowerCase()}s`;

const on = (
  rules: readonly SelectionRule[],
  one: KubeObject,
  labels: Readonly<Record<string, string>> | undefined = {},
) => {
  const operations = operationsOn({ plural: pluralOf(one), rules }, one, labels);
  return operations === undefined ? undefined : [...operations];
};

/** With the label of what kube-apiserver makes, written by these. */
const bootstrapped = (...managers: readonly string[]): KubeObject =>
  object(
    "ClusterRole",
    {
      name: "system:node",
      namespace: null,
      labels: { "kubernetes.io/bootstrapping": "rbac-defaults" },
      managedFields: managers.map((manager) => ({ manager, operation: "Update" })),
    },
    {},
    "rbac.authorization.k8s.io/v1",
  );

describe("objects", () => {
  const ALL = ["CREATE", "UPDATE", "DELETE"];

  it("a WatchRule selects in its own namespace only", () => {
    expect(on(inShop({}), object("ConfigMap"))).toEqual(ALL);
    expect(on(inShop({}), object("ConfigMap", { namespace: "other" }))).toBeUndefined();
  });

  it("a ClusterWatchRule selects in all namespaces, or in those with these labels", () => {
    const selector = ofCluster({ namespaceSelector: { matchLabels: { env: "prod" } } });
    expect(on(ofCluster({}), object("ConfigMap"), undefined)).toEqual(ALL);
    expect(on(selector, object("ConfigMap"), { env: "prod" })).toEqual(ALL);
    expect(on(selector, object("ConfigMap"), { env: "dev" })).toBeUndefined();
    expect(operationsOn({ plural: "configmaps", rules: selector }, object("ConfigMap"), undefined)).toBeUndefined();
  });

  it("a namespaceSelector of scope Cluster is ignored", () => {
    const rules = ofCluster({
      scope: "Cluster",
      namespaceSelector: { matchExpressions: [{ key: "a", operator: "Odd" }] },
    });
    expect(on(rules, object("Namespace", { namespace: null }), undefined)).toEqual(ALL);
  });

  it("an objectSelector selects by labels", () => {
    const rules = inShop({}, { matchLabels: { app: "web" } });
    expect(on(rules, object("ConfigMap", { labels: { app: "web" } }))).toEqual(ALL);
    expect(on(rules, object("ConfigMap"))).toBeUndefined();
  });

  it("operations are those of all rules that select the object", () => {
    const rules = [
      ...inShop({ operations: ["CREATE"] }),
      ...inShop({ operations: ["DELETE"] }, { matchLabels: { app: "web" } }),
    ];
    expect(on(rules, object("ConfigMap"))).toEqual(["CREATE"]);
    expect(on(rules, object("ConfigMap", { labels: { app: "web" } }))).toEqual(["CREATE", "DELETE"]);
    expect(on(inShop({ operations: [] }), object("ConfigMap"))).toEqual(ALL);
    expect(on(inShop({ operations: ["CREATE", "*"] }), object("ConfigMap"))).toEqual(ALL);
  });

  it.each([
    ["an object that is being deleted", object("ConfigMap", { deletionTimestamp: "2026-01-01T00:00:00Z" })],
    ["the certificates of the cluster", object("ConfigMap", { name: "kube-root-ca.crt" })],
    ["tokens of ServiceAccounts", object("Secret", {}, { type: "kubernetes.io/service-account-token" })],
    ["stores of Transactions", object("Secret", { labels: { "janus.io/transaction-uid": "u" } })],
    [
      "contents of Transactions",
      object("Secret", { name: "back-contents-1a2b3c4d-0", labels: { "janus.io/transaction": "back" } }),
    ],
    ["keys of the journal", object("Secret", { name: "janus-git-journal-digest" })],
    ["locks", object("Lease", { name: "janus-lock-shop-configmap-a" }, {}, "coordination.k8s.io/v1")],
    ["Leases of branches", object("Lease", { name: "git-0123456789abcdef" }, {}, "coordination.k8s.io/v1")],
  ])("never written: %s", (_, one) => {
    expect(on(inShop({ resources: ["configmaps", "secrets", "leases"] }), one)).toBeUndefined();
  });

  it("other Leases and Secrets are", () => {
    expect(on(inShop({}), object("Lease", {}, {}, "coordination.k8s.io/v1"))).toEqual(ALL);
    expect(on(inShop({}), object("Secret", { name: "janus" }, { type: "Opaque" }))).toEqual(ALL);
  });

  it.each([
    [
      "an APIService",
      object(
        "APIService",
        { name: "v1.apps", labels: { "kube-aggregator.kubernetes.io/automanaged": "onstart" }, namespace: null },
        {},
        "apiregistration.k8s.io/v1",
      ),
    ],
    [
      "a PriorityClass",
      object("PriorityClass", { name: "system-node-critical", namespace: null }, {}, "scheduling.k8s.io/v1"),
    ],
    ["the Service of the API server", object("Service", { name: "kubernetes", namespace: "default" })],
    ["a ClusterRole", bootstrapped("kube-apiserver")],
    ["an aggregated ClusterRole", bootstrapped("kube-apiserver", "clusterrole-aggregation-controller")],
  ])("what kube-apiserver makes is not selected by *, but by its name: %s", (_, one) => {
    const by = (...resources: readonly string[]) => on(ofCluster({ resources }), one);
    expect(by("*")).toBeUndefined();
    expect(by("*", pluralOf(one))).toEqual(ALL);
  });

  it("what others have made of these kinds is", () => {
    const service = object("APIService", { name: "v1.metrics", namespace: null }, {}, "apiregistration.k8s.io/v1");
    expect(on(ofCluster({ resources: ["*"] }), service)).toEqual(ALL);
    expect(on(inShop({ resources: ["*"] }), object("Service", { name: "kubernetes" }))).toEqual(ALL);
    // Kubernetes keeps what people add to its roles and bindings.
    expect(on(ofCluster({ resources: ["*"] }), bootstrapped("kube-apiserver", "kubectl-edit"))).toEqual(ALL);
    expect(on(ofCluster({ resources: ["*"] }), bootstrapped("kubectl-create"))).toEqual(ALL);
  });

  it("rules are about files in their namespace, whether or not the resource is served", () => {
    const rules = inShop({ resources: ["*", "widgets"] });
    const about = (plural: string, namespace?: string): number =>
      rulesAbout(rules, { group: plural === "widgets" ? "example.com" : "", plural, namespace }, SETTINGS).length;
    expect([
      about("configmaps", "shop"),
      about("configmaps", "other"),
      about("configmaps"),
      about("widgets", "shop"),
      about("pods", "shop"),
    ]).toEqual([1, 0, 0, 1, 0]);
  });
});
