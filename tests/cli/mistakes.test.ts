import { expect, it } from "vitest";
import { configMap } from "../fixtures/manifests.ts";
import { workspace } from "../fixtures/workspace.ts";
import { janus, janusWith } from "./command-line.ts";

const plan = (manifests: string) => janusWith(manifests, "plan", "-f", "-", "-n", "default");

it.each([
  ["an open quote", 'kind: Secret\nstringData:\n  password: "hunter2\n'],
  ["a key that is there twice", "stringData:\n  password: hunter2\n  password: hunter2\n"],
  ["a tag that is not known", "stringData:\n  password: !Ref hunter2\n"],
  ["text where no text can be", "stringData:\n  password: |\n    one\n   hunter2\n  hunter2\n"],
])("says where YAML is wrong, such as %s, without the text: it may be of a Secret", async (_, manifests) => {
  const { code, stdout, stderr } = await plan(manifests);
  expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
  expect(stderr).toMatch(/^error: standard input, line \d+, column \d+: this is not valid YAML: [a-z ]+\n$/u);
  expect(stderr).not.toContain("hunter2");
});

it("takes an alias without an anchor for a mistake, not for a change", async () => {
  const { code, stderr } = await plan("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: *nothing}\n");
  expect({ code, stderr }).toEqual({
    code: 3,
    stderr:
      "error: standard input, line 1: this is not valid YAML: an alias has no anchor before it, or aliases multiply\n",
  });
});

it("takes a namespace that a cluster-scoped object has for noise, as kubectl does", async () => {
  const { namespace } = await workspace();
  const name = `role-${namespace}`;
  const role = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name, namespace } };
  const flags = ["-n", namespace, "--service-account", "deployer", "-o", "json"];
  const { stdout } = await janusWith(JSON.stringify(role), "plan", "-f", "-", ...flags);
  expect(JSON.parse(stdout)).toMatchObject({ spec: { changes: [{ target: { name } }] } });
  expect(stdout).not.toContain(`"namespace": "${namespace}"\n        },\n        "type"`);
});

it("does not say of changes that nobody tried that they depend on others", async () => {
  const { namespace } = await workspace();
  const flags = ["-n", namespace, "--service-account", "nobody"];
  const { code, stdout } = await janusWith(JSON.stringify(configMap("a")), "plan", "-f", "-", ...flags);
  expect(code).toBe(2);
  expect(stdout).toContain(` 1  not tried  ConfigMap ${namespace}/a\n`);
});

it("says that a name goes with one namespace, and how to go on when a name is taken", async () => {
  expect(await janus("get", "txn", "-A")).toMatchObject({
    code: 1,
    stderr: "error: a Transaction is named within one namespace: leave out --all-namespaces, or the name\n",
  });
  const { namespace, create } = await workspace();
  const flags = ["-n", namespace, "--service-account", "deployer", "--name", "taken", "--no-wait"];
  await create();
  const apply = () => janusWith(JSON.stringify(configMap("a")), "apply", "-f", "-", ...flags);
  expect((await apply()).code).toBe(0);
  expect(await apply()).toMatchObject({
    code: 1,
    stderr:
      `error: Transaction ${namespace}/taken exists, and its spec cannot be changed: choose another name. ` +
      `To see how it went: kubectl janus explain taken -n ${namespace}\n`,
  });
});
