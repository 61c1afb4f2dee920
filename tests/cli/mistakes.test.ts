import { writeFileSync } from "node:fs";
import path from "node:path";
import { loadConfig } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { assert, expect, it, onTestFinished } from "vitest";
import { controlPlane } from "../fixtures/cluster.ts";
import { configMap } from "../fixtures/manifests.ts";
import { type Answering, proxy } from "../fixtures/proxy.ts";
import { transaction, workspace } from "../fixtures/workspace.ts";
import { directory, janus, janusWith, start } from "./command-line.ts";

const plan = (manifests: string) => janusWith(manifests, "plan", "-f", "-", "-n", "default");

it.each([
  ["an open quote", 'kind: Secret\nstringData:\n  password: "hunter2\n'],
  ["a key that is there twice", "stringData:\n  password: hunter2\n  password: hunter2\n"],
  ["a tag that is not known", "stringData:\n  password: !Ref hunter2\n"],
  ["text where no text can be", "stringData:\n  password: |\n    one\n   hunter2\n  hunter2\n"],
])("says where YAML is wrong, such as %s, without the text: it may be of a Secret", async (_, manifests) => {
  const { code, stdout, stderr } = await plan(manifests);
  expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
  expect(stderr).toMatch(/^error: standard input, line \d+, column \d+: [a-z :,]+\n$/u);
  expect(stderr).not.toContain("hunter2");
});

it("takes an alias without an anchor for a mistake, not for a change", async () => {
  const { code, stderr } = await plan("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: *nothing}\n");
  expect({ code, stderr }).toEqual({
    code: 3,
    stderr: "error: standard input, line 3, column 18: no anchor before it has the name of this alias\n",
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

/** Creates Transactions, and says something else. */
const lossy: Answering = ({ method, path, answer }) =>
  method === "POST" && /\/transactions(\?|$)/u.test(path) && !path.includes("dryRun=")
    ? { status: 502, headers: { "content-type": "text/html" }, body: "<html>bad gateway</html>" }
    : { status: answer?.status ?? 500, body: answer?.body ?? "" };

it("does not take a creation whose answer is lost for one that did not happen: it ends with a code of its own", async () => {
  const { namespace, exists } = await workspace();
  const config = loadConfig({}, controlPlane.kubeconfig);
  assert(E.isRight(config));
  const inFront = await proxy(config.right, new Map([["lossy", lossy]]));
  onTestFinished(inFront.stop);
  const kubeconfig = path.join(directory, `${namespace}.yaml`);
  const { server } = inFront.way({ says: "lossy", lands: true });
  const cluster = { name: "c", cluster: { server } };
  const context = { name: "c", context: { cluster: "c", user: "" } };
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      clusters: [cluster],
      contexts: [context],
      "current-context": "c",
    }),
  );
  const flags = ["-n", namespace, "--service-account", "deployer", "--name", "release", "--no-wait"];
  const env = { KUBECONFIG: kubeconfig };
  const { code, stderr } = await start(["apply", "-f", "-", ...flags], { stdin: JSON.stringify(configMap("a")), env })
    .ended;
  expect(stderr).toContain(`It may have been created all the same: kubectl janus get release -n ${namespace}`);
  expect(code).toBe(5);
  expect(await exists(transaction("release"))).toBe(true);
});
