import * as fc from "fast-check";
import * as E from "fp-ts/lib/Either.js";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { watchRules } from "../../packages/git-journal/src/index.ts";
import { PRESET } from "../../packages/git-journal/src/core/preset.ts";
import { rulesOfWatchRule, selectedResources } from "../../packages/git-journal/src/core/selection.ts";
import { connection } from "../fixtures/administrator.ts";
import type { Outcome } from "../fixtures/cluster.ts";
import { eventually, type OwnCluster, ownCluster } from "./own-cluster.ts";

const API = "configbutler.ai/v1alpha1";
const RULES = { apiGroups: ["configbutler.ai"], resources: ["gitrepoconfigs", "gitdestinations", "watchrules"] };
const reading = (group: string, ...resources: readonly string[]) => ({
  apiGroups: [group],
  resources,
  verbs: ["list"],
});

// On a control plane of its own: nothing of it is left in that of other tests.
let cluster: OwnCluster;
beforeAll(async () => {
  cluster = await ownCluster({ gitJournal: {} });
  await cluster.admin("wait --for=condition=Established --timeout=300s crd/watchrules.configbutler.ai");
  const writing = { ...RULES, verbs: ["*"] };
  await cluster.person("writer", writing, reading("", "configmaps"), reading("apps", "deployments"));
  await cluster.person("reader-of-secrets", writing, {
    apiGroups: [""],
    resources: ["secrets"],
    verbs: ["get", "list"],
  });
  await cluster.person("namespace-admin");
  await cluster.admin("create rolebinding may-administer --clusterrole=admin --user=namespace-admin");
  await cluster.person("cluster-writer");
  await cluster.admin("create clusterrole cluster-writer --verb=* --resource=clusterwatchrules.configbutler.ai");
  await cluster.admin("create clusterrolebinding cluster-writer --clusterrole=cluster-writer --user=cluster-writer");
  await cluster.admin("create rolebinding may-administer-too --clusterrole=admin --user=cluster-writer");
  const secrets = rule("wait", { resources: ["secrets"], apiGroups: [""] });
  await eventually(async () => (await dryRun("writer", secrets)).stderr.includes("cannot list secrets"));
  await eventually(async () => (await dryRun("reader-of-secrets", secrets)).code === 0);
  await eventually(async () => (await dryRun("namespace-admin", secrets)).code === 0);
  const cluster1 = clusterRule("wait", { scope: "Cluster", resources: ["namespaces"], apiGroups: [""] });
  await eventually(async () => (await dryRun("cluster-writer", cluster1)).stderr.includes("cannot list namespaces"));
  await eventually(async () => (await dryRun("writer", destination("wait", ["age1"]))).stderr.includes("cannot get"));
});
afterAll(() => cluster.stop());

interface Rule {
  readonly resources: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly scope?: "Cluster" | "Namespaced";
}

/** What the user writer may list. */
const MAY_LIST: ReadonlySet<string> = new Set(["/configmaps", "apps/deployments"]);

const OTHERS = [
  { group: "batch", plural: "jobs", namespaced: true },
  { group: "example.com", plural: "things", namespaced: true },
  { group: "example.com", plural: "configmaps", namespaced: true },
  { group: "", plural: "pods", namespaced: true },
];

const rule = (name: string, ...rules: readonly Rule[]) => ({
  apiVersion: API,
  kind: "WatchRule",
  metadata: { name, namespace: "default" },
  spec: { destinationRef: { name: "prod" }, rules },
});
const clusterRule = (name: string, ...rules: readonly Rule[]) => ({
  apiVersion: API,
  kind: "ClusterWatchRule",
  metadata: { name },
  spec: { destinationRef: { name: "prod", namespace: "default" }, rules },
});
const destination = (name: string, ageRecipients: readonly string[] = [], baseFolder = "a") => ({
  apiVersion: API,
  kind: "GitDestination",
  metadata: { name, namespace: "default" },
  spec: { repoRef: { name: "repository" }, branch: "main", baseFolder, secrets: { ageRecipients } },
});
const repository = (name: string, repoUrl: string, secret?: string) => ({
  apiVersion: API,
  kind: "GitRepoConfig",
  metadata: { name, namespace: "default" },
  spec: { repoUrl, branch: "main", ...(secret === undefined ? {} : { secretRef: { name: secret } }) },
});

const dryRun = (user: string, object: object): Promise<Outcome> =>
  cluster.kubectl(user, "apply --dry-run=server --server-side -f -", object);
const as = (user: string, object: object): Promise<Outcome> =>
  cluster.kubectl(user, "apply --server-side --force-conflicts -f -", object);
const made = async (object: object): Promise<void> => {
  await cluster.admin("apply --server-side -f -", object);
};

const core = (...resources: readonly string[]): Rule => ({ apiGroups: [""], resources });

describe("a WatchRule selects only what its author may list in its namespace", () => {
  it.each<readonly [what: string, rules: readonly Rule[]]>([
    ["a resource that they may list", [core("configmaps")]],
    ["several, of several groups", [core("configmaps"), { apiGroups: ["apps"], resources: ["deployments"] }]],
    ["subresources, which have no files", [core("configmaps", "secrets/data")]],
    ["* of a group in which nothing in a namespace is selected", [{ apiGroups: ["storage.k8s.io"], resources: ["*"] }]],
  ])("admitted: %s", async (_, rules) => {
    expect(await dryRun("writer", rule("one", ...rules))).toMatchObject({ code: 0, stderr: "" });
  });

  it.each<readonly [what: string, rules: readonly Rule[], why: string]>([
    ["Secrets", [core("secrets")], 'cannot list secrets in API group "" in namespace "default"'],
    ["Secrets as one of several", [core("configmaps", "secrets")], "cannot list secrets"],
    ["Secrets in the second rule", [core("configmaps"), core("secrets")], "cannot list secrets"],
    ["Secrets as the last of many", [core(...Array<string>(23).fill("configmaps"), "secrets")], "cannot list secrets"],
    ["Secrets behind a text with spaces", [core("configmaps a/b", "secrets")], "cannot list"],
    ["a resource of all groups", [{ resources: ["configmaps"] }], "name its group in apiGroups"],
    ["* of all groups", [{ resources: ["*"] }], "cannot list statefulsets"],
    ["* of the core group", [core("*")], "cannot list services"],
    ["* of a group of which nothing is preset", [{ apiGroups: ["example.com"], resources: ["*"] }], "cannot list *"],
    ["* among the groups", [{ apiGroups: ["", "*"], resources: ["secrets"] }], "cannot list secrets"],
    ["more than can be checked", [core(...Array<string>(25).fill("configmaps"))], "select more than 24 resources"],
  ])("refused: %s", async (_, rules, why) => {
    const { code, stderr } = await dryRun("writer", rule("one", ...rules));
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining(why) as string });
    expect(stderr).toContain("janus-git-journal-rules");
  });

  it("the built-in role admin of a namespace is enough for all that * selects", async () => {
    expect(await dryRun("namespace-admin", rule("one", { resources: ["*"] }))).toMatchObject({ code: 0 });
  });

  it("nothing is too much for who may list everything", async () => {
    const many = rule("one", { resources: [...Array<string>(30).fill("things"), "*"] });
    expect(await dryRun("admin", many)).toMatchObject({ code: 0 });
  });

  it("whatever rules say: what is admitted selects nothing else", async () => {
    const served = [...PRESET, ...OTHERS].map((one) => ({ ...one, kind: one.plural, versions: ["v1"] }));
    const settings = { watchAll: false, excludes: [], secrets: true };
    const groups = fc.subarray(["", "apps", "batch", "rbac.authorization.k8s.io", "example.com", "*"]);
    const resources = fc.shuffledSubarray(["configmaps", "deployments", "secrets", "*", "jobs", "things", "a/b"], {
      minLength: 1,
      maxLength: 3,
    });
    const any = fc.record({ apiGroups: groups, resources }, { requiredKeys: ["resources"] });
    const allowed = fc.constantFrom<Rule>(core("configmaps"), core("configmaps", "a/b"), {
      apiGroups: ["apps"],
      resources: ["deployments"],
    });
    const rules = fc.array(fc.oneof({ weight: 3, arbitrary: allowed }, any), { minLength: 1, maxLength: 3 });
    let admitted = 0;
    for (const some of fc.sample(rules, { numRuns: 60, seed: Number(process.env["JANUS_SEED"]) })) {
      if ((await dryRun("writer", rule("one", ...(some as readonly Rule[])))).code !== 0) continue;
      admitted += 1;
      const selected = E.map((all: Parameters<typeof selectedResources>[0]) =>
        selectedResources(all, served, settings),
      )(rulesOfWatchRule({ rules: some }, "default"));
      const others = E.isRight(selected)
        ? selected.right.filter(({ group, plural }) => !MAY_LIST.has(`${group}/${plural}`))
        : ["no rule"];
      expect({ some, others }).toEqual({ some, others: [] });
    }
    expect(admitted).toBeGreaterThan(5);
  });

  it("an edit is checked as a creation is, and one of metadata is none", async () => {
    await made(rule("edited", core("secrets")));
    expect(await as("writer", rule("edited", core("secrets", "configmaps")))).toMatchObject({ code: 1 });
    expect(await cluster.kubectl("writer", "label watchrule edited a=b")).toMatchObject({ code: 0 });
    expect(await as("writer", rule("edited", core("configmaps")))).toMatchObject({ code: 0 });
  });

  it("the controller is let through", async () => {
    const controller = "system:serviceaccount:janus-system:janus-git-journal";
    await made(rule("of-the-controller", core("secrets")));
    const api = connection(await cluster.userKubeconfig(controller));
    onTestFinished(() => api.close());
    const answer = await api.send({
      verb: "mergePatch",
      resource: watchRules,
      namespace: "default",
      name: "of-the-controller",
      subresource: "status",
      body: { status: { observedGeneration: 1 } },
    });
    expect(answer).toMatchObject({ right: { status: { observedGeneration: 1 } } });
  });
});

describe("a ClusterWatchRule selects only what its author may list in the cluster", () => {
  it.each<readonly [what: string, rule: Rule]>([
    ["of the cluster", { scope: "Cluster", apiGroups: [""], resources: ["namespaces"] }],
    ["in all namespaces, where they may list it in one", { scope: "Namespaced", ...core("configmaps") }],
  ])("refused: %s", async (_, one) => {
    expect(await dryRun("cluster-writer", clusterRule("one", one))).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/cannot list \w+ in API group "" in all namespaces/u) as string,
    });
  });

  it("by who may do that, also all that * selects in both scopes", async () => {
    await cluster.admin("create clusterrole lists-all --verb=list --resource=secrets,configmaps,namespaces");
    await cluster.admin("create clusterrolebinding lists-all --clusterrole=lists-all --user=cluster-writer");
    const both = clusterRule(
      "one",
      { scope: "Cluster", ...core("namespaces") },
      { scope: "Namespaced", ...core("secrets", "configmaps") },
    );
    await eventually(async () => (await dryRun("cluster-writer", both)).code === 0);
    const all = clusterRule("one", { scope: "Cluster", resources: ["*"] }, { scope: "Namespaced", resources: ["*"] });
    expect(await dryRun("cluster-writer", all)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("cannot list clusterroles") as string,
    });
    await cluster.admin("create clusterrolebinding views --clusterrole=view --user=cluster-writer");
    const verb = "create clusterrole lists-preset --verb=list --resource";
    await cluster.admin(
      `${verb}=roles,rolebindings,clusterroles,clusterrolebindings,customresourcedefinitions,apiservices,priorityclasses,storageclasses`,
    );
    await cluster.admin("create clusterrolebinding lists-preset --clusterrole=lists-preset --user=cluster-writer");
    await eventually(async () => (await dryRun("cluster-writer", all)).code === 0);
  });
});

describe("who names recipients of Secrets may get Secrets", () => {
  it("so who may not is refused, at the creation and at an edit", async () => {
    const refused = { code: 1, stderr: expect.stringContaining('cannot get secrets in namespace "default"') as string };
    expect(await as("writer", destination("own", ["age1"]))).toMatchObject(refused);
    await made(destination("shared", ["age1"]));
    expect(await as("writer", destination("shared", ["age1", "age2"]))).toMatchObject(refused);
  });

  it("and without recipients, or with others' recipients as they are, they are admitted", async () => {
    expect(await as("writer", destination("none"))).toMatchObject({ code: 0 });
    await made(destination("moved", ["age1"]));
    expect(await as("writer", destination("moved", ["age1"], "b"))).toMatchObject({ code: 0 });
    expect(await as("writer", destination("moved", [], "b"))).toMatchObject({ code: 0 });
  });

  it("and who may get them names any", async () => {
    expect(await as("reader-of-secrets", destination("mine", ["age1"]))).toMatchObject({ code: 0 });
  });
});

describe("who says where credentials are sent may get them", () => {
  const url = "https://git.example.com/a.git";
  it("so a repository with a Secret is not made by others, nor moved elsewhere by them", async () => {
    const refused = { code: 1, stderr: expect.stringContaining('cannot get Secret "cred"') as string };
    expect(await as("writer", repository("own", url, "cred"))).toMatchObject(refused);
    await made(repository("shared", url, "cred"));
    expect(await as("writer", repository("shared", "https://evil.example.com/a.git", "cred"))).toMatchObject(refused);
    expect(await cluster.kubectl("writer", "label gitrepoconfig shared a=b")).toMatchObject({ code: 0 });
  });

  it("and one without a Secret is", async () => {
    expect(await as("writer", repository("open", url))).toMatchObject({ code: 0 });
    expect(await as("reader-of-secrets", repository("theirs", url, "cred"))).toMatchObject({ code: 0 });
  });
});
