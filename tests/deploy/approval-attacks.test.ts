import { MAX_CHANGES } from "@janus/api";
import { installation, type Manifest, render, UserStamps } from "@janus/deploy";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Outcome } from "../fixtures/cluster.ts";
import { eventually, type OwnCluster, ownCluster } from "./own-cluster.ts";

const BY = "backup.janus.io";
const author = "ann";
const approver = "bob";
/** May do everything that both may. */
const both = "carl";
/** May approve the Transaction `known`, and write all. */
const byName = "nina";
/** May write Transactions, and nothing else. */
const writer = "will";

let cluster: OwnCluster;
beforeAll(async () => {
  cluster = await ownCluster();
  const txns = { apiGroups: [BY], resources: ["transactions"] };
  const impersonating = { apiGroups: [""], resources: ["serviceaccounts"], verbs: ["impersonate"] };
  const known = { ...txns, verbs: ["approve"], resourceNames: ["known"] };
  const writing = { ...txns, verbs: ["get", "list", "create", "update", "patch", "delete"] };
  await cluster.person(author, writing, impersonating);
  await cluster.person(approver);
  await cluster.admin(`create rolebinding approver --clusterrole=janus-transactions-approve --user=${approver}`);
  await cluster.person(both, { ...txns, verbs: ["*"] }, impersonating);
  await cluster.person(byName, writing, impersonating, known);
  await cluster.person(writer, writing, { apiGroups: [BY], resources: ["transactions/status"], verbs: ["*"] });
  await label("four-eyes");
});
afterAll(() => cluster.stop());

/** Sets the label of the namespace, and waits until the API server heeds it. */
const label = async (value: "required" | "four-eyes" | undefined): Promise<void> => {
  await cluster.admin(`label namespace default --overwrite ${BY}/approval${value === undefined ? "-" : `=${value}`}`);
  const published = async (user: string) =>
    (await cluster.kubectl(user, "create --dry-run=server -f -", txn("published"))).code === 0;
  await eventually(async () => (await published(author)) === (value === undefined));
  await eventually(async () => (await published(both)) === (value !== "four-eyes"));
};

const change = (name: string) => ({
  type: "Create",
  target: { apiVersion: "v1", kind: "ConfigMap", name },
  content: { data: { a: "b" } },
});
const txn = (name: string, spec: object = {}, metadata: object = {}) => ({
  apiVersion: `${BY}/v1alpha1`,
  kind: "Transaction",
  metadata: { name, namespace: "default", ...metadata },
  spec: { serviceAccountName: "deployer", changes: [change(name)], ...spec },
});
const named = (user: string) => ({ annotations: { [`${BY}/requested-by`]: user, [`${BY}/last-edited-by`]: user } });

let made = 0;
/** A new Transaction of the author, with the names that a client writes. Returns its name. */
const drafted = async (lifecycle = "Draft", metadata: object = named(author)): Promise<string> => {
  const name = `made-${(made += 1)}`;
  expect(await cluster.kubectl(author, "create -f -", txn(name, { lifecycle }, metadata))).toMatchObject({ code: 0 });
  return name;
};
const patch = (
  user: string,
  name: string,
  spec: object,
  annotations: object = {},
  flags = "--type=merge",
): Promise<Outcome> => {
  const body = JSON.stringify({ metadata: { annotations }, spec });
  return cluster.kubectl(user, `patch txn ${name} ${flags} -p ${body}`);
};
const publish = (user: string, name: string, more: object = {}) =>
  patch(user, name, { lifecycle: "Published", ...more });
const done = { code: 0 };
const refused = (message: string) => ({ code: 1, stderr: expect.stringContaining(message) as unknown });

describe("where approval is required", () => {
  it("a Draft whose lifecycle an apply leaves out is refused, though it would be Published by default", async () => {
    const apply = "apply --server-side -f -";
    expect(await cluster.kubectl(author, apply, txn("applied", { lifecycle: "Draft" }, named(author)))).toMatchObject(
      done,
    );
    expect(await cluster.kubectl(author, apply, txn("applied", {}, named(author)))).toMatchObject(
      refused("cannot publish"),
    );
    const replacement = txn("applied", {}, named(author));
    expect(await cluster.kubectl(author, "replace -f -", replacement)).toMatchObject(refused("cannot publish"));
  });

  it("nobody gets around it by deleting the Draft and creating it as Published", async () => {
    const name = await drafted();
    await cluster.admin(`delete txn ${name}`);
    expect(await cluster.kubectl(author, "create -f -", txn(name))).toMatchObject(refused("cannot publish"));
    expect(await cluster.kubectl(both, "create -f -", txn(name))).toMatchObject(
      refused("cannot create a Published Transaction"),
    );
  });

  it("an approver of one name publishes that one alone, and none whose name the server makes up", async () => {
    const other = await drafted();
    expect(
      await cluster.kubectl(author, "create -f -", txn("known", { lifecycle: "Draft" }, named(author))),
    ).toMatchObject(done);
    expect(await publish(byName, other)).toMatchObject(refused("cannot publish"));
    expect(await publish(byName, "known")).toMatchObject(done);
    await label("required");
    const generated = { ...txn("generated"), metadata: { generateName: "known", namespace: "default" } };
    expect(await cluster.kubectl(byName, "create -f -", generated)).toMatchObject(refused("cannot publish"));
    expect(await cluster.kubectl(both, "create -f -", generated)).toMatchObject(done);
    await label("four-eyes");
  });

  it("who approves publishes what was proposed, and edits nothing along with it", async () => {
    const name = await drafted();
    expect(
      await patch(both, name, { lifecycle: "Published", timeout: "7m" }, { [`${BY}/last-edited-by`]: both }),
    ).toMatchObject(refused("cannot be edited and published in one request"));
    expect(await publish(approver, name, { timeout: "7m" })).toMatchObject({ code: 1 });
    expect(await publish(approver, name, { approvedDigest: `sha256:${"0".repeat(64)}` })).toMatchObject(done);
  });

  it("a Draft of an unknown author or editor cannot be published", async () => {
    const anonymous = await drafted("Draft", {});
    expect(await publish(approver, anonymous)).toMatchObject(refused("so it is unknown who created it"));
    const name = await drafted();
    const anonymously = { [`${BY}/last-edited-by`]: null };
    expect(await patch(both, name, { timeout: "7m" }, anonymously)).toMatchObject(done);
    expect(await publish(both, name)).toMatchObject(refused("so it is unknown who edited it"));
    expect(await publish(approver, name)).toMatchObject(refused("so it is unknown who edited it"));
  });

  it("who has edited a Draft last does not publish it, also when they write the names as they publish", async () => {
    const name = await drafted();
    expect(await patch(both, name, { timeout: "7m" }, { [`${BY}/last-edited-by`]: both })).toMatchObject(done);
    expect(await publish(both, name)).toMatchObject(refused('user "carl" edited this Transaction'));
    const other = { [`${BY}/last-edited-by`]: author };
    expect(await patch(both, name, { lifecycle: "Published" }, other)).toMatchObject({ code: 1 });
    expect(await publish(approver, name)).toMatchObject(done);
  });

  it("an approval of another version than the one that was looked at is refused", async () => {
    const name = await drafted("Proposed");
    const resourceVersion = await cluster.admin(`get txn ${name} -o jsonpath={.metadata.resourceVersion}`);
    expect(await patch(author, name, { lifecycle: "Draft" })).toMatchObject(done);
    const body = JSON.stringify({ metadata: { resourceVersion }, spec: { lifecycle: "Published" } });
    expect(await cluster.kubectl(approver, `patch txn ${name} --type=merge -p ${body}`)).toMatchObject(
      refused("the object has been modified"),
    );
  });

  it("a user without approve cannot request the rollback of a Committed Transaction, nor repeat that request", async () => {
    const name = await drafted();
    expect(await publish(approver, name)).toMatchObject(done);
    const to = (user: string, value: string) => cluster.kubectl(user, `annotate txn ${name} --overwrite ${value}`);
    const status = JSON.stringify({ status: { phase: "Committed", version: 1 } });
    await cluster.admin(`patch txn ${name} --subresource=status --type=merge -p ${status}`);
    expect(await to(author, `${BY}/request-rollback=now`)).toMatchObject(refused("cannot request the rollback"));
    expect(await to(approver, `${BY}/request-rollback=now`)).toMatchObject(done);
    expect(await to(author, `${BY}/request-rollback=again`)).toMatchObject(refused("cannot request the rollback"));
    expect(await to(author, "example.com/a=b")).toMatchObject(done);
    expect(await to(author, `${BY}/request-rollback-`)).toMatchObject(done);
    expect(await to(author, `${BY}/request-rollback=now`)).toMatchObject(refused("cannot request the rollback"));
  });

  it("the controller's own token neither edits nor publishes a Transaction", async () => {
    const name = await drafted();
    const controller = "system:serviceaccount:janus-system:janus-controller";
    const kubeconfig = await cluster.userKubeconfig(controller);
    const as = (args: string) => cluster.kubectl("admin", `--kubeconfig=${kubeconfig} ${args}`);
    const metadata = { annotations: { [`${BY}/last-edited-by`]: controller } };
    for (const body of [{ metadata, spec: { timeout: "7m" } }, { spec: { lifecycle: "Proposed" } }])
      expect(await as(`patch txn ${name} --type=merge -p ${JSON.stringify(body)}`)).toMatchObject(
        refused("neither makes nor edits nor publishes Transactions"),
      );
    expect(await as(`annotate txn ${name} example.com/a=b`)).toMatchObject(done);
  });
});

describe("names in annotations", () => {
  const annotations = [
    "requested-by",
    "last-edited-by",
    "lifecycle-changed-by",
    "approved-by",
    "rollback-requested-by",
  ];

  it.each(annotations)(
    "%s: nobody writes another's, or changes or removes one, whatever else they do",
    async (which) => {
      const name = await drafted();
      const annotation = `${BY}/${which}`;
      const says = refused(`the annotation ${annotation} says who`);
      const whenCreated = txn("forged", { lifecycle: "Draft" }, { annotations: { [annotation]: both } });
      expect(await cluster.kubectl(author, "create -f -", whenCreated)).toMatchObject(says);
      const moved = { lifecycle: "Proposed" };
      const asked = { [`${BY}/request-rollback`]: "now" };
      for (const [spec, more] of [
        [{}, {}],
        [{ timeout: "7m" }, {}],
        [moved, {}],
        [{}, asked],
      ] as const)
        expect(await patch(author, name, spec, { ...more, [annotation]: both })).toMatchObject(says);
      // All of them are there.
      const own = Object.fromEntries(["lifecycle-changed-by", "approved-by"].map((one) => [`${BY}/${one}`, approver]));
      expect(await patch(approver, name, { lifecycle: "Published" }, own)).toMatchObject(done);
      const asker = { [`${BY}/rollback-requested-by`]: author };
      expect(await patch(author, name, {}, { ...asked, ...asker })).toMatchObject(done);
      expect(await patch(writer, name, {}, { [annotation]: null })).toMatchObject(says);
      expect(await patch(writer, name, {}, { [annotation]: writer })).toMatchObject(says);
      expect(await patch(writer, name, {}, { "example.com/a": "b" })).toMatchObject(done);
    },
  );

  it("are not changed by a write of the status", async () => {
    const name = await drafted();
    const forged = { [`${BY}/last-edited-by`]: writer };
    expect(await patch(writer, name, {}, forged, "--type=merge --subresource=status")).toMatchObject(done);
    const read = await cluster.admin(`get txn ${name} -o jsonpath={.metadata.annotations}`);
    expect(JSON.parse(read)).toMatchObject({ [`${BY}/last-edited-by`]: author });
  });

  it("are replaced or removed by who edits what another has edited", async () => {
    const name = await drafted();
    expect(await patch(both, name, { timeout: "7m" })).toMatchObject(refused('set it to "carl", or remove it'));
    expect(await patch(both, name, { timeout: "7m" }, { [`${BY}/last-edited-by`]: both })).toMatchObject(done);
  });
});

it("every edit of a Draft requires the permission to impersonate its ServiceAccount, a move or a label does not", async () => {
  const name = await drafted("Draft", {});
  for (const spec of [
    { changes: [change("other")] },
    { serviceAccountName: "default" },
    { timeout: "7m" },
    { waitFor: ["ready"] },
  ])
    expect(await patch(writer, name, spec)).toMatchObject(refused('user "will" cannot impersonate ServiceAccount'));
  expect(await patch(writer, name, {}, { "example.com/a": "b" })).toMatchObject(done);
  expect(await patch(writer, name, { lifecycle: "Proposed" })).toMatchObject(done);
  expect(await patch(writer, name, { lifecycle: "Draft" })).toMatchObject(done);
  expect(await patch(author, name, { changes: [change("other")] })).toMatchObject(done);
});

/** What becomes of what a user of kubectl does who knows nothing of approval. */
const plainly = async (name: string): Promise<readonly Outcome[]> => {
  const draft = txn(name, { lifecycle: "Draft" });
  return [
    await cluster.kubectl(author, "apply -f -", draft),
    await cluster.kubectl(author, "apply -f -", { ...draft, spec: { ...draft.spec, timeout: "7m" } }),
    await cluster.kubectl(author, `label txn ${name} a=b`),
    await publish(author, name),
    await cluster.kubectl(author, "apply -f -", txn(name, { timeout: "7m" })),
    await cluster.kubectl(author, `delete txn ${name}`),
    await cluster.kubectl(author, "apply --server-side -f -", txn(name)),
    await cluster.kubectl(writer, `delete txn ${name}`),
  ];
};

it("without the label, plain kubectl works as ever", async () => {
  await label(undefined);
  for (const outcome of await plainly("plain")) expect(outcome).toMatchObject(done);
  await label("four-eyes");
});

const policiesAndBindings = installation().filter(({ kind }) => kind.startsWith("ValidatingAdmissionPolicy"));

it("the policies are in force again after they were deleted and installed anew", async () => {
  const policies = "validatingadmissionpolicy,validatingadmissionpolicybinding";
  await cluster.admin(`delete ${policies} janus-approval janus-stamps janus-requester`);
  const created = (user: string, lifecycle: string) =>
    cluster.kubectl(user, "create --dry-run=server -f -", txn("another", { lifecycle }));
  await eventually(async () => (await created(writer, "Published")).code === 0);
  const older = txn("older", { lifecycle: "Draft" });
  expect(await cluster.kubectl(author, "create -f -", older)).toMatchObject(done);
  await cluster.install(...policiesAndBindings);
  await eventually(async () => (await created(writer, "Draft")).stderr.includes("cannot impersonate"));
  await eventually(async () => (await created(both, "Published")).stderr.includes("cannot create a Published"));
  await eventually(async () => (await publish(approver, "older")).stderr.includes("unknown who created it"));
});

it("the policies of a new version are in force after an upgrade, whatever those of the old one allowed", async () => {
  const created = (user: string, lifecycle = "Published") =>
    cluster.kubectl(user, "create --dry-run=server -f -", txn("another", { lifecycle }));
  const older = policiesAndBindings.map((one) =>
    one.kind === "ValidatingAdmissionPolicy" && one.metadata.name !== "janus-fence"
      ? { ...one, spec: { ...(one["spec"] as object), variables: [], validations: [{ expression: "true" }] } }
      : one,
  );
  await cluster.install(...older);
  await eventually(async () => (await created(writer)).code === 0);
  await cluster.install(...policiesAndBindings);
  // Of several policies that deny, the API server names any one: a Draft is denied by this alone.
  await eventually(async () => (await created(writer, "Draft")).stderr.includes("cannot impersonate"));
  await eventually(async () => (await created(both)).stderr.includes("cannot create a Published"));
  expect(await created(author)).toMatchObject({ code: 1 });
});

const namesOf = async (name: string): Promise<Readonly<Record<string, string>>> =>
  JSON.parse(await cluster.admin(`get txn ${name} -o jsonpath={.metadata.annotations}`)) as Record<string, string>;

describe("where the cluster stamps names", () => {
  beforeAll(async () => {
    await cluster.install(...render((chart) => new UserStamps(chart, "Stamps")));
    const forged = txn("wait", { lifecycle: "Draft" }, named("nobody"));
    await eventually(async () => (await cluster.kubectl(author, "create --dry-run=server -f -", forged)).code === 0);
  });

  it("each name is of who did it last, whatever they write or leave out, and stays", async () => {
    const name = await drafted("Draft", named("nobody"));
    expect(await patch(both, name, { timeout: "7m" }, { [`${BY}/last-edited-by`]: author })).toMatchObject(done);
    expect(await patch(writer, name, { lifecycle: "Proposed" })).toMatchObject(done);
    expect(await patch(writer, name, {}, { [`${BY}/last-edited-by`]: null, "example.com/a": "b" })).toMatchObject(done);
    expect(await publish(both, name)).toMatchObject(refused('user "carl" edited'));
    expect(await publish(author, name)).toMatchObject(refused("cannot publish"));
    expect(await publish(approver, name)).toMatchObject(done);
    expect(await cluster.kubectl(writer, `annotate txn ${name} ${BY}/request-rollback=now`)).toMatchObject(done);
    expect(await namesOf(name)).toEqual({
      "example.com/a": "b",
      [`${BY}/requested-by`]: author,
      [`${BY}/last-edited-by`]: both,
      [`${BY}/lifecycle-changed-by`]: approver,
      [`${BY}/approved-by`]: approver,
      [`${BY}/request-rollback`]: "now",
      [`${BY}/rollback-requested-by`]: writer,
    });
  });

  it("one who creates it as Published where approval is required has approved it, elsewhere nobody has", async () => {
    await label("required");
    expect(await cluster.kubectl(both, "create -f -", txn("at-once"))).toMatchObject(done);
    expect(await namesOf("at-once")).toMatchObject({ [`${BY}/approved-by`]: both });
    await label(undefined);
    expect(await cluster.kubectl(author, "create -f -", txn("unasked"))).toMatchObject(done);
    expect(await namesOf("unasked")).not.toHaveProperty(`${BY}/approved-by`);
    for (const outcome of await plainly("stamped")) expect(outcome).toMatchObject(done);
    await label("four-eyes");
  });

  it("what is wrong with a Transaction is said as ever", async () => {
    const without = { ...txn("without"), spec: undefined };
    expect(await cluster.kubectl(author, "create -f -", without)).toMatchObject(refused("spec: Required value"));
    const empty = { ...txn("empty"), spec: { lifecycle: "Draft" } };
    expect(await cluster.kubectl(author, "create -f -", empty)).toMatchObject(
      refused("spec.serviceAccountName: Required value"),
    );
  });

  it("a Transaction as large as can be is within what the policies may cost", async () => {
    const changes = Array.from({ length: MAX_CHANGES }, (_, index) => ({
      ...change(`large-${index}`),
      content: { data: Object.fromEntries(Array.from({ length: 20 }, (_, key) => [`key-${key}`, "x".repeat(40)])) },
    }));
    const large: Manifest = txn("large", { lifecycle: "Draft", changes });
    expect(JSON.stringify(large).length).toBeGreaterThan(550_000);
    expect(await cluster.kubectl(author, "create -f -", large)).toMatchObject(done);
    expect(await patch(author, "large", { timeout: "7m" })).toMatchObject(done);
    const last = [...changes.slice(0, -1), change("another")];
    const edited = { ...large, spec: { ...(large["spec"] as object), changes: last } };
    expect(await cluster.kubectl(both, "replace -f -", edited)).toMatchObject(done);
    expect(await publish(both, "large")).toMatchObject(refused('user "carl" edited'));
    expect(await publish(approver, "large")).toMatchObject(done);
    expect(await namesOf("large")).toMatchObject({ [`${BY}/last-edited-by`]: both, [`${BY}/approved-by`]: approver });
  });
});
