import { ApprovalPolicy, type Manifest, render, RequesterPolicy, StampsPolicy, UserStamps } from "@janus/deploy";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Outcome } from "../fixtures/cluster.ts";
import { controllerProcess } from "../fixtures/controller-process.ts";
import { eventually, type OwnCluster, ownCluster } from "./own-cluster.ts";

const REQUESTED_BY = "backup.janus.io/requested-by";

// On a control plane of its own: there, other tests make Transactions as they like.
let cluster: OwnCluster;
beforeAll(async () => {
  cluster = await ownCluster();
  const writing = { apiGroups: ["backup.janus.io"], resources: ["transactions"], verbs: ["*"] };
  const impersonating = { apiGroups: [""], resources: ["serviceaccounts"], verbs: ["impersonate"] };
  await cluster.person("writer", writing);
  await cluster.person("friend", writing, { ...impersonating, resourceNames: ["deployer"] } as typeof impersonating);
  await cluster.person("editor");
  await cluster.admin("create rolebinding may-edit --clusterrole=edit --user=editor");
  await eventually(async () => (await tryTo("create", "writer", txn("wait"))).stderr.includes("cannot impersonate"));
  await eventually(async () => (await tryTo("create", "friend", txn("wait"))).code === 0);
  await eventually(async () => (await tryTo("create", "editor", txn("wait"))).code === 0);
});
afterAll(() => cluster.stop());

/** Labels, annotations and the like. */
const txn = (name: string, metadata: object = {}, serviceAccountName = "deployer") => ({
  apiVersion: "backup.janus.io/v1alpha1",
  kind: "Transaction",
  metadata: { name, namespace: "default", ...metadata },
  spec: {
    serviceAccountName,
    changes: [{ type: "Create", target: { apiVersion: "v1", kind: "ConfigMap", name }, content: { data: { a: "b" } } }],
  },
});
const stamped = (by: string) => ({ annotations: { [REQUESTED_BY]: by } });

const tryTo = (verb: string, user: string, object: object): Promise<Outcome> =>
  cluster.kubectl(user, `${verb} --dry-run=server -f -`, object);
const to = (verb: string, user: string, object: object): Promise<Outcome> =>
  cluster.kubectl(user, `${verb} -f -`, object);
const stampOf = async (name: string): Promise<string | undefined> => {
  const read = await cluster.admin(`get transaction ${name} -o json`);
  return (JSON.parse(read) as Manifest & { metadata: { annotations?: Record<string, string> } }).metadata.annotations?.[
    REQUESTED_BY
  ];
};

describe("a Transaction may only name a ServiceAccount that its author may impersonate", () => {
  it("so a user who may only create Transactions is refused, with a message that says what to do", async () => {
    expect(await to("create", "writer", txn("refused"))).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /forbidden.*user "writer" cannot impersonate ServiceAccount "deployer" in namespace "default": name a ServiceAccount that you may impersonate, or ask for the permission/,
      ),
    });
  });

  it("and made by who may act as this ServiceAccount, but for no other one", async () => {
    expect(await to("create", "friend", txn("named"))).toMatchObject({ code: 0 });
    expect(await to("create", "friend", txn("not-named", {}, "default"))).toMatchObject({ code: 1 });
    expect(await to("create", "editor", txn("any", {}, "default"))).toMatchObject({ code: 0 });
  });

  it("or made by this ServiceAccount itself, which may name no other one", async () => {
    await cluster.admin("create serviceaccount lonely");
    await cluster.admin(
      "create rolebinding lonely --clusterrole=janus-transactions-edit --serviceaccount=default:lonely",
    );
    const asItself = "create --as=system:serviceaccount:default:lonely";
    await eventually(async () => (await tryTo(asItself, "admin", txn("wait", {}, "lonely"))).code === 0);
    expect(await to(asItself, "admin", txn("of-lonely", {}, "lonely"))).toMatchObject({ code: 0 });
    expect(await to(asItself, "admin", txn("of-other", {}, "deployer"))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("cannot impersonate"),
    });
  });

  it("also when it is applied", async () => {
    expect(await to("apply --server-side", "writer", txn("applied"))).toMatchObject({ code: 1 });
    expect(await to("apply --server-side", "friend", txn("applied"))).toMatchObject({ code: 0 });
  });

  it("and edited by who may edit it, as long as it names the same one", async () => {
    expect(await to("create", "friend", txn("edited"))).toMatchObject({ code: 0 });
    expect(await to("apply", "writer", txn("edited", { labels: { a: "b" } }))).toMatchObject({ code: 0 });
    expect(await cluster.kubectl("writer", "annotate txn edited backup.janus.io/request-rollback=now")).toMatchObject({
      code: 0,
    });
  });
});

describe("who asked", () => {
  it("cannot be made up by the author, nor changed, added or taken away later", async () => {
    const forged = { code: 1, stderr: expect.stringContaining(`${REQUESTED_BY} says who created the Transaction`) };
    expect(await to("create", "friend", txn("forged", stamped("admin")))).toMatchObject(forged);
    expect(await to("create", "friend", txn("true", stamped("friend")))).toMatchObject({ code: 0 });
    expect(await to("replace", "friend", txn("true", stamped("editor")))).toMatchObject(forged);
    expect(await to("replace", "friend", txn("true"))).toMatchObject(forged);
    expect(await to("create", "friend", txn("silent"))).toMatchObject({ code: 0 });
    expect(await to("replace", "friend", txn("silent", stamped("editor")))).toMatchObject(forged);
    expect(await to("replace", "friend", txn("silent", stamped("friend")))).toMatchObject(forged);
  });
});

describe("where the cluster can stamp it", () => {
  beforeAll(async () => {
    await cluster.install(...render((chart) => new UserStamps(chart, "Stamps")));
    await eventually(async () => (await tryTo("create", "friend", txn("wait", stamped("admin")))).code === 0);
  });

  it("each Transaction says who created it, whatever the author says", async () => {
    expect(await to("create", "friend", txn("stamped"))).toMatchObject({ code: 0 });
    expect(await stampOf("stamped")).toBe("friend");
    expect(await to("create", "friend", txn("overwritten", stamped("admin")))).toMatchObject({ code: 0 });
    expect(await stampOf("overwritten")).toBe("friend");
  });

  it("and goes on saying it, whoever edits it", async () => {
    expect(await to("create", "friend", txn("kept", { annotations: { a: "b" } }))).toMatchObject({ code: 0 });
    for (const metadata of [{}, stamped("writer"), { annotations: { c: "d" } }]) {
      expect(await to("replace", "writer", txn("kept", metadata))).toMatchObject({ code: 0 });
      expect(await stampOf("kept")).toBe("friend");
    }
  });

  it("but not one that is older than the stamp", async () => {
    expect(await to("apply", "writer", txn("named", { labels: { a: "b" } }))).toMatchObject({ code: 0 });
    expect(await stampOf("named")).toBeUndefined();
    expect(await to("apply", "writer", txn("named", stamped("writer")))).toMatchObject({ code: 1 });
  });

  it("and nothing of this is in the way of the controller, or of the garbage collector", async () => {
    const owner = JSON.parse(await cluster.admin("create configmap owner -o json")) as Manifest & {
      metadata: { uid: string };
    };
    const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: owner.metadata.uid }];
    await cluster.admin("create -f -", txn("owned", { ownerReferences, finalizers: ["example.com/hold"] }));
    await cluster.admin("create -f -", { ...txn("works"), spec: { ...txn("works").spec, ttlSecondsAfterFinished: 1 } });
    const kubeconfig = await cluster.userKubeconfig("system:serviceaccount:janus-system:janus-controller");
    controllerProcess([`--kubeconfig=${kubeconfig}`, "--http-port=0"]);
    await cluster.admin("wait --for=condition=Committed --timeout=300s txn/owned");
    await cluster.admin("wait --for=delete --timeout=300s txn/works");
    // With a foreground deletion the collector writes to the Transaction, too.
    await cluster.admin("delete configmap owner --cascade=foreground --wait=false");
    await cluster.admin("wait --for=jsonpath={.metadata.deletionTimestamp} --timeout=300s txn/owned");
    await cluster.admin('patch txn owned --type=json -p=[{"op":"remove","path":"/metadata/finalizers"}]');
    expect(await cluster.kubectl("admin", "wait --for=delete --timeout=300s txn/owned")).toMatchObject({ code: 0 });
  });
});

it.each([RequesterPolicy, StampsPolicy, ApprovalPolicy])(
  "%o is of the right types, as far as the API server can tell",
  async (Policy) => {
    const [policy] = render((chart) => new Policy(chart, "Policy"));
    const checked = `get validatingadmissionpolicy ${policy?.metadata.name} -o json`;
    const status = async () => (JSON.parse(await cluster.admin(checked)) as { status: object }).status;
    await expect.poll(status).toHaveProperty("typeChecking");
    expect(await status()).toMatchObject({ typeChecking: {} });
    expect(JSON.stringify(await status())).not.toContain("expressionWarnings");
  },
);
