import { APPROVAL_LABEL } from "@janus/api";
import { expect, it, onTestFinished } from "vitest";
import { administrator, type Manifest } from "../fixtures/administrator.ts";
import {
  configMap,
  deployment,
  namespace as namespaceOf,
  role,
  roleBinding,
  serviceAccount,
} from "../fixtures/manifests.ts";
import { workspace, type Workspace } from "../fixtures/workspace.ts";
import { janusWith } from "./command-line.ts";

const stream = (...manifests: readonly object[]): string => manifests.map((one) => JSON.stringify(one)).join("\n---\n");
const flat = (text: string): string => text.replaceAll(/\s+/gu, " ");
const flags = ({ namespace }: Workspace) => ["-f", "-", "-n", namespace, "--service-account", "deployer"];

/** What a plan lists as problems, each without line breaks. */
const problemsOf = (report: string): readonly string[] =>
  report
    .split(/^ {2}- /mu)
    .slice(1)
    .map((text) => flat(text).trim());

it("says in a plan that the name is taken, and what is wrong besides", async () => {
  const place = await workspace();
  const { namespace } = place;
  const named = [...flags(place), "--name", "taken"];
  expect(await janusWith(stream(configMap("a")), "apply", ...named, "--no-wait")).toMatchObject({ code: 0 });
  const plan = await janusWith(stream(configMap("a"), { ...configMap("b"), kind: "ConfigMapp" }), "plan", ...named);
  expect(plan).toMatchObject({ code: 2, stderr: "" });
  expect(problemsOf(plan.stdout)).toEqual([
    expect.stringContaining(`Transaction ${namespace}/taken exists, and its spec cannot be changed`),
    expect.stringContaining("change 2: the API server does not serve ConfigMapp in v1"),
  ]);
  const given = await janusWith(
    (await janusWith(stream(configMap("a")), "plan", ...named, "-o", "yaml")).stdout,
    "plan",
    "-f",
    "-",
  );
  expect(problemsOf(given.stdout)).toEqual([expect.stringContaining(`Transaction ${namespace}/taken exists`)]);
});

it("says in a plan what an admission policy forbids, and how to go on", async () => {
  const place = await workspace();
  const { namespace } = place;
  const labels = { [APPROVAL_LABEL]: "four-eyes" };
  await administrator.patch({ ...namespaceOf(namespace), metadata: { name: namespace, labels } });
  const plan = await janusWith(stream(configMap("a")), "plan", ...flags(place));
  expect(plan.code).toBe(2);
  expect(plan.stdout).toContain(` 1  create     ConfigMap ${namespace}/a\n`);
  expect(problemsOf(plan.stdout)).toEqual([
    expect.stringMatching(/requires approval.*create it with spec\.lifecycle Draft.*\(kubectl janus plan --draft\)$/u),
  ]);
});

it("says what the user may not do, each with what helps", async () => {
  const place = await workspace();
  const { namespace, create } = place;
  const as = ["--as", `user-of-${namespace}`];
  const plan = () => janusWith(stream(configMap("a")), "plan", ...flags(place), ...as);
  const nothing = problemsOf((await plan()).stdout);
  expect(nothing).toEqual([
    `you may not create Transactions in ${namespace}: the built-in role edit has the permission`,
    `you may not use ServiceAccount ${namespace}/deployer: you need the verb impersonate on it; the built-in role edit has that`,
  ]);
  expect(await janusWith(stream(configMap("a")), "apply", ...flags(place), ...as)).toMatchObject({
    code: 1,
    stdout: "",
    stderr: `error: ${nothing.join("\n")}\n`,
  });
  const binding = roleBinding("user", "ClusterRole", "edit");
  const subject = { apiGroup: "rbac.authorization.k8s.io", kind: "User", name: `user-of-${namespace}` };
  await create({ ...binding, subjects: [subject] });
  await expect.poll(plan).toMatchObject({ code: 1, stderr: "" });
});

it("tells a missing namespace from a missing ServiceAccount", async () => {
  const { namespace } = await workspace();
  const nowhere = ["-f", "-", "-n", `${namespace}-x`, "--service-account", "deployer"];
  const plan = await janusWith(stream(configMap("a")), "plan", ...nowhere);
  expect(problemsOf(plan.stdout)).toEqual([`there is no namespace ${namespace}-x: create it, or name another one: -n`]);
});

it("names for each kind that is not served the version to use, or what to do, all at once", async () => {
  const place = await workspace();
  const metadata = { name: "a" };
  const plan = await janusWith(
    stream(
      configMap("fine"),
      { apiVersion: "policy/v1beta1", kind: "PodDisruptionBudget", metadata },
      { ...deployment("a", "web:v1"), apiVersion: "apps/v1beta1" },
      { apiVersion: "extensions/v1beta1", kind: "Ingress", metadata },
      { apiVersion: "constraints.gatekeeper.sh/v1beta1", kind: "K8sRequiredLabels", metadata },
      { apiVersion: "v1", kind: "Configmap", metadata },
    ),
    "plan",
    ...flags(place),
  );
  expect(plan.code).toBe(2);
  expect(plan.stdout).toMatch(/^ \d {2}create +ConfigMap \S+\/fine$/mu);
  expect(problemsOf(plan.stdout).map((text) => text.replace(/^change \d: /u, ""))).toEqual([
    "the API server does not serve PodDisruptionBudget in policy/v1beta1: use policy/v1",
    "the API server does not serve Deployment in apps/v1beta1: use apps/v1",
    "the API server does not serve Ingress in extensions/v1beta1: use networking.k8s.io/v1",
    "the API server does not serve K8sRequiredLabels in constraints.gatekeeper.sh/v1beta1: correct the target, or apply what defines it first, in a Transaction of its own unless that is its CustomResourceDefinition",
    "the API server does not serve Configmap in v1: did you mean ConfigMap in v1?",
  ]);
});

/** Refuses Deployments of the namespace, since it cannot be reached. */
const unreachable = (namespace: string): Manifest => ({
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "ValidatingWebhookConfiguration",
  metadata: { name: namespace },
  webhooks: [
    {
      name: "deny.example.com",
      clientConfig: { url: "https://127.0.0.1:1/" },
      namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
      rules: [{ apiGroups: ["apps"], apiVersions: ["v1"], resources: ["deployments"], operations: ["CREATE"] }],
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
    },
  ],
});

it("names every object of which a webhook does not answer", async () => {
  const place = await workspace();
  const { namespace } = place;
  await administrator.create(unreachable(namespace));
  onTestFinished(() => administrator.remove(unreachable(namespace)));
  const manifests = stream(configMap("fine"), deployment("one", "web:v1"), deployment("two", "web:v1"));
  const plan = () => janusWith(manifests, "plan", ...flags(place));
  await expect
    .poll(async () => problemsOf((await plan()).stdout))
    .toEqual(
      ["one", "two"].map((name, at) =>
        expect.stringMatching(
          new RegExp(
            `^change ${at + 2}: the API server refuses to create Deployment ${namespace}/${name}: .*webhook`,
            "u",
          ),
        ),
      ),
    );
});

it("says which fields of a Transaction the flags are", async () => {
  const place = await workspace();
  const { stdout } = await janusWith(stream(configMap("a")), "plan", ...flags(place), "-o", "yaml");
  expect(await janusWith(stdout, "plan", "-f", "-", "--name", "mine", "--ttl", "5")).toMatchObject({
    code: 3,
    stderr:
      "error: standard input, line 1 is a Transaction: set metadata.name, spec.ttlSecondsAfterFinished in it, and leave the flags out\n",
  });
});

it("names every permission that the ServiceAccount needs at once: with these, the plan passes", async () => {
  const place = await workspace();
  const { namespace, create } = place;
  await create(serviceAccount("weak"), configMap("there"));
  const weak = ["-f", "-", "-n", namespace, "--service-account", "weak"];
  const plan = () =>
    janusWith(stream(configMap("there", { a: "1" }), configMap("new"), deployment("web", "web:v1")), "plan", ...weak);
  const grants = [...flat((await plan()).stdout).matchAll(/grant it the verbs ([a-z, ]+) on ([a-z]+) in namespace/gu)];
  const rules = grants.map(([, verbs = "", resource = ""]) => ({
    apiGroups: [resource === "deployments" ? "apps" : ""],
    resources: [resource],
    verbs: verbs.split(/, | and /u),
  }));
  expect(rules).toHaveLength(3);
  await create(role("weak", ...rules), roleBinding("weak", "Role", "weak", `${namespace}/weak`));
  await expect
    .poll(plan)
    .toMatchObject({ code: 1, stdout: expect.stringContaining("2 to create, 1 to change") as unknown });
});
