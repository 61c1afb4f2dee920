import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { creating } from "../fixtures/changes.ts";
import { controlPlane } from "../fixtures/cluster.ts";
import { configMap } from "../fixtures/manifests.ts";
import { transaction, workspace } from "../fixtures/workspace.ts";
import { directory, janus, start } from "./command-line.ts";

/** With the kubectl of the control plane on the PATH. */
const env = { PATH: [directory, path.dirname(controlPlane.binaries.kubectl), process.env["PATH"]].join(":") };
const janusWithKubectl = (...args: readonly string[]) => start(args, { env }).ended;

const drafts = async () => {
  const made = await workspace();
  for (const name of ["one", "two", "three"])
    await made.submit([creating(configMap(name))], { name, lifecycle: name === "three" ? "Proposed" : "Draft" });
  return made;
};

it("prints several by their names, and names those that are missing", async () => {
  const { namespace } = await drafts();
  const both = await janus("get", "two", "one", "-n", namespace, "-o", "name");
  expect(both.code).toBe(0);
  expect(both.stdout.split("\n").toSorted()).toEqual([
    "",
    "transaction.backup.janus.io/one",
    "transaction.backup.janus.io/two",
  ]);
  const { stdout } = await janus("get", "two", "one", "-n", namespace, "-o", "json");
  expect(JSON.parse(stdout)).toMatchObject({ kind: "List", items: [{ kind: "Transaction" }, { kind: "Transaction" }] });
  const missing = (name: string): string => `error: Transaction ${namespace}/${name} does not exist. `;
  expect(await janus("get", "one", "four", "five", "-n", namespace, "-o", "name")).toEqual({
    code: 1,
    stdout: "transaction.backup.janus.io/one\n",
    stderr: expect.stringMatching(new RegExp(`^${missing("four")}.*\n${missing("five")}.*\n$`, "u")),
  });
  expect(await janus("get", "one", "-l", "a=b", "-n", namespace)).toMatchObject({ code: 1, stdout: "" });
});

it.each(["json", "yaml"])("prints managedFields as %s only where they are asked for", async (format) => {
  const { namespace } = await drafts();
  const on = ["one", "-n", namespace, "-o", format];
  expect((await janus("get", ...on)).stdout).not.toContain("managedFields");
  expect((await janus("get", "-n", namespace, "-o", format)).stdout).not.toContain("managedFields");
  expect((await janus("get", ...on, "--show-managed-fields")).stdout).toContain("managedFields");
});

it.each([
  ["jsonpath={.items[*].metadata.name}", ["--lifecycle", "Draft"], "one two"],
  ["custom-columns=NAME:.metadata.name,IS:.spec.lifecycle", ["three"], "NAME    IS\nthree   Proposed\n"],
  ["go-template={{.metadata.name}}", ["two"], "two"],
])("prints -o %s as kubectl does", async (format, args, printed) => {
  const { namespace } = await drafts();
  expect(await janusWithKubectl("get", ...args, "-n", namespace, "-o", format)).toEqual({
    code: 0,
    stdout: printed,
    stderr: "",
  });
});

it("leaves it to kubectl to refuse a format, and says what to do where there is no kubectl", async () => {
  expect(await janusWithKubectl("get", "-o", "xml")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("allowed formats are: "),
  });
  expect(await start(["get", "-o", "xml"], { env: { PATH: "/nowhere" } }).ended).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^error: kubectl cannot be run .*: put it on the PATH$/mu),
  });
});

it("goes on with -w, and prints each that changes", async () => {
  const { namespace, submit } = await drafts();
  const watching = start(["get", "-w", "-n", namespace, "--phase", "Pending"], { env });
  onTestFinished(() => watching.kill("SIGKILL"));
  await expect.poll(watching.written).toMatch(/^three +Pending +Proposed +/mu);
  expect(watching.written()).toMatch(/^NAME +PHASE +PROGRESS +LIFECYCLE +AGE$/mu);
  await submit([creating(configMap("four"))], { name: "four", lifecycle: "Draft" });
  await expect.poll(watching.written).toMatch(/^four +Pending +Draft +/mu);
});

it("takes the cluster and the user of another context, and bounds each request", async () => {
  const { namespace } = await drafts();
  const on = ["-n", namespace, "-o", "name"];
  expect(await janus("get", ...on, "--user", "nobody")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('the user "nobody" does not exist. To see which there are: kubectl config view.'),
  });
  expect(await janus("--cluster", "nowhere", "get", ...on)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(
      'the cluster "nowhere" does not exist. To see which there are: kubectl config view.',
    ),
  });
  expect(await janus("get", ...on, "--request-timeout", "1ms")).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/within 1 ms|did not come/u),
  });
  expect(await janus("--request-timeout=20", "get", ...on)).toMatchObject({ code: 0 });
  expect(await janus("get", ...on, "--request-timeout", "soon")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("It must be a duration, such as 30s."),
  });
});

it("lists the others where a later version has written one, and says so of that one", async () => {
  const { namespace, patch } = await drafts();
  await patch({ ...transaction("two"), status: { phase: "Committed", formatVersion: 2 } }, "status");
  const { code, stdout, stderr } = await janus("get", "-n", namespace);
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toMatch(/^one +Pending +0\/1 +Draft /mu);
  expect(stdout).toMatch(
    /^two +Committed +- +Draft .* cannot be read by this version of kubectl-janus: status.formatVersion: is 2, .*Upgrade it/mu,
  );
  expect(stdout).toMatch(/^three +Pending +0\/1 +Proposed /mu);
  const names = async (...flags: readonly string[]): Promise<string> =>
    (await janus("get", "-n", namespace, "-o", "name", ...flags)).stdout.replaceAll(/^.*\//gmu, "");
  expect(await names("--lifecycle", "Draft")).toBe("one\ntwo\n");
  expect(await names("--phase", "Committed")).toBe("two\n");
  expect(await names("one", "two")).toBe("one\ntwo\n");
});
