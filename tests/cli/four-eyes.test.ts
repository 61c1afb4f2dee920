import { expect, it } from "vitest";
import { kubectl } from "../fixtures/cluster.ts";
import { configMap } from "../fixtures/manifests.ts";
import { administrator } from "../fixtures/administrator.ts";
import { type Workspace, workspace } from "../fixtures/workspace.ts";
import { janus, janusWith } from "./command-line.ts";

const flat = (text: string): string => text.replaceAll(/\s+/gu, " ");

/** A namespace in which alice writes and bob approves, where four eyes have to see everything. */
const shop = async (): Promise<Workspace> => {
  const made = await workspace();
  const { namespace } = made;
  await kubectl("label", "namespace", namespace, "backup.janus.io/approval=four-eyes");
  for (const [name, role, user] of [
    ["authors", "edit", "alice"],
    ["approvers", "janus-transactions-approve", "bob"],
  ] as const)
    await kubectl("create", "rolebinding", name, "-n", namespace, `--clusterrole=${role}`, `--user=${user}`);
  const may = (verb: string, user: string) => kubectl("auth", "can-i", verb, "txn", "-n", namespace, `--as=${user}`);
  await expect
    .poll(async () => [(await may("create", "alice")).code, (await may("approve", "bob")).code])
    .toEqual([0, 0]);
  await made.create(configMap("app", { version: "1.0" }));
  await made.janus();
  return made;
};

it("takes a change from its author to its approver, without anything that stamps names", async () => {
  const { namespace, read, txn } = await shop();
  const on = ["-n", namespace];
  const [alice, bob] = [
    [...on, "--as", "alice"],
    [...on, "--as", "bob"],
  ];
  const manifest = JSON.stringify(configMap("app", { version: "2.0" }));
  const made = ["-f", "-", "--service-account", "deployer", "--name", "txn"];
  const applied = await janusWith(manifest, "apply", ...made, ...alice);
  expect(applied).toMatchObject({ code: 1, stderr: expect.stringContaining("requires approval") });
  expect((await janusWith(manifest, "plan", "--draft", ...made, ...alice)).code).toBe(1);

  const draft = flat((await janus("explain", "txn", ...alice)).stdout);
  expect(draft).toMatch(/^It is a Draft\. Why: not applied: .* Next: kubectl janus propose txn -n /u);
  await janus("propose", "txn", ...alice);
  expect(await janus("approve", "txn", "--yes", ...alice)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^error: cannot approve Transaction \S+: .*user "alice" cannot publish this Transaction/u,
    ),
  });
  const waiting = flat((await janus("explain", "txn", ...bob)).stdout);
  expect(waiting).toContain("It was proposed by alice, and waits for its approval.");
  expect(waiting).toContain("Next: kubectl janus approve txn -n");
  const listed = await janus("get", "--lifecycle", "Proposed", "-o", "wide", ...bob);
  expect(listed.stdout).toMatch(/ LIFECYCLE +AGE +SERVICEACCOUNT +REQUESTED-BY +APPROVED-BY +/u);
  expect(listed.stdout).toMatch(/^txn +Pending .* Proposed +\S+ +\S+ +alice +/mu);
  expect((await janus("get", "--lifecycle", "Draft", ...bob)).stdout).toBe("");

  await janus("reject", "txn", "--reason", "not before Monday", ...bob);
  const rejected = flat((await janus("explain", "txn", ...alice)).stdout);
  expect(rejected).toContain("It is a Draft, set back by bob: not before Monday.");
  expect(rejected).toMatch(/Next: kubectl janus edit txn -n (\S+); then: kubectl janus propose txn -n \1 $/u);
  const { stdout } = await janus("describe", "txn", ...alice);
  expect(stdout).toMatch(/^Lifecycle: +Draft$/mu);
  expect(stdout).toMatch(/^Requested by: +alice$/mu);
  expect(stdout).toMatch(/^Moved by: +bob$/mu);
  expect(stdout).toMatch(/^Rejected: +not before Monday$/mu);
  expect(stdout).toMatch(/^Rendered: +OK, 20\d\d/mu);
  expect(stdout).toMatch(
    /^ {4}1 {2}change {5}Apply ConfigMap \S+\n {7}- \.data\.version: "1\.0"\n {7}\+ \.data\.version: "2\.0"$/mu,
  );
  expect(stdout).toMatch(/^Digest: +sha256:/mu);

  await janus("propose", "txn", ...alice);
  const approved = await janus("approve", "txn", "--yes", "--wait", ...bob);
  expect(approved).toMatchObject({ code: 0, stderr: "" });
  expect(approved.stdout).toContain("Requested by alice, last edited by alice, proposed by alice.");
  expect((await read(configMap("app")))["data"]).toEqual({ version: "2.0" });
  expect((await txn()).metadata.annotations).toMatchObject({ "backup.janus.io/approved-by": "bob" });
  const history = await janus("history", "cm/app", "-o", "wide", ...alice);
  expect(history.stdout).toMatch(/ txn +Apply +Applied +Committed +alice +bob +\S+ +\.data\.version/mu);
});

it("lets nobody approve what they edited, and the next author edit what another one has edited", async () => {
  const { namespace, txn } = await shop();
  const on = ["-n", namespace];
  const manifest = JSON.stringify(configMap("app", { version: "2.0" }));
  const made = ["-f", "-", "--service-account", "deployer", "--name", "txn", ...on];
  await janusWith(manifest, "plan", "--draft", ...made, "--as", "alice");
  const admin = ["--as", "carol", "--as-group", "system:masters"];
  const edited = await janusWith(manifest, "plan", ...made, "--timeout", "7m", "-o", "json", ...admin);
  expect(await janusWith(edited.stdout, "edit", "txn", "-f", "-", ...on, ...admin)).toMatchObject({
    code: 0,
    stderr: "",
  });
  expect((await txn()).metadata.annotations).toMatchObject({
    "backup.janus.io/requested-by": "alice",
    "backup.janus.io/last-edited-by": "carol",
  });
  expect(await janus("approve", "txn", "--yes", ...on, ...admin)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('user "carol" edited this Transaction'),
  });
});

it("says in doctor whether approval is required, and whether the user may approve", async () => {
  const { namespace } = await shop();
  const doctor = async (...as: readonly string[]) => flat((await janus("doctor", "-n", namespace, ...as)).stdout);
  expect(await doctor()).toContain(
    "✔ who requested, edited and approved a Transaction is written by clients, and compared",
  );
  expect(await doctor()).toContain(
    `✔ ${namespace} requires approval (four-eyes): you may approve, but not those that you`,
  );
  expect(await doctor("--as", "bob")).not.toContain("written by clients");
  await administrator.create({
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "RoleBinding",
    metadata: { name: "viewers", namespace },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "dora" }],
  });
  await expect
    .poll(() => doctor("--as", "dora"))
    .toContain(`✔ ${namespace} requires approval (four-eyes): you may not approve`);
});

it("explains a Draft that would fail", async () => {
  const { namespace, submit } = await shop();
  await submit([{ type: "Delete", target: { apiVersion: "v1", kind: "ConfigMap", name: "none" } }], {
    lifecycle: "Draft",
  });
  const explained = async () => flat((await janus("explain", "txn", "-n", namespace)).stdout);
  await expect.poll(explained).toContain("It is a Draft, and would fail.");
  expect(await explained()).toMatch(/Where: change 1, ConfigMap \S+ State: its change is not applied/u);
  expect(await explained()).toContain(`Next: kubectl janus edit txn -n ${namespace}`);
  expect((await janus("describe", "txn", "-n", namespace)).stdout).toMatch(/^ {4}1 {2}FAILS {6}Delete ConfigMap/mu);
  expect(await janus("rollback", "txn", "-n", namespace)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("is a Draft: no changes are applied. To delete it: kubectl delete transaction txn"),
  });
});
