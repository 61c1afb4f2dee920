import {
  journalName,
  MANAGED_BY,
  MANAGED_BY_LABEL,
  SNAPSHOT_FINALIZER,
  TRANSACTION_LABEL,
  transactions,
} from "@janus/api";
import type { KubeObject } from "@janus/kube";
import { configMaps } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { creating, deleting, patching } from "../fixtures/changes.ts";
import { eventsOf } from "../fixtures/events.ts";
import { gate } from "../fixtures/gate.ts";
import { type Installed, installed } from "../fixtures/installed.ts";
import { configMap } from "../fixtures/manifests.ts";
import { transaction, type Txn, type Workspace, workspace } from "../fixtures/workspace.ts";

const toldOf = async (namespace: string): Promise<string> =>
  (await eventsOf(namespace, "txn")).map(({ reason, message }) => `${reason}: ${message}`).join("\n");

/** A Transaction whose controller stops when the first of its changes is in: a Delete is not sent before that is recorded. */
const stopped = async () => {
  const place = await workspace();
  await place.create(configMap("config", { a: "1" }), configMap("gone"));
  const { hook, reached, open } = gate(({ purpose }) => purpose === "checkpoint");
  const running = await place.janus(hook);
  const changes = [patching(configMap("config", { a: "2" })), deleting(configMap("gone")), creating(configMap("made"))];
  await place.submit(changes);
  await reached;
  const stopping = running.stop();
  open();
  await stopping;
  const txn = await place.txn();
  expect(txn.status.phase).toBe("Committing");
  return { ...place, place, uid: txn.metadata.uid ?? "" };
};

const versionOf = ({ metadata: { uid, resourceVersion } }: KubeObject) => ({ uid, resourceVersion });

/** All that is there of the Transaction, as it is, but for its own conditions. */
const traces = async ({ read, names, txn }: Workspace) => {
  const { metadata, status } = await txn();
  const { conditions: _, ...rest } = status;
  const leases = await names("coordination.k8s.io/v1", "Lease");
  const kept = ["txn-rollback", journalName(metadata.uid ?? "")];
  return {
    status: rest,
    finalizers: metadata.finalizers,
    leases,
    kept: await Promise.all(kept.map((name) => read(configMap(name)).then(versionOf))),
    config: (await read(configMap("config")))["data"],
  };
};

const pause = () => new Promise((resolve) => setTimeout(resolve, 2000));

describe("a Transaction that a later version of the controller has begun", () => {
  it("is left alone if its status is in a later format, and resumed by a controller that supports it", async () => {
    const { place, patch, janus, namespace, run, over, read } = await stopped();
    await patch({ ...transaction("txn"), status: { formatVersion: 2 } }, "status");
    const before = { ...(await traces(place)), version: versionOf(await place.txn()) };
    await janus();
    await expect
      .poll(() => toldOf(namespace))
      .toContain("status.formatVersion: is 2, and this version of the controller knows 1: upgrade the controller");
    expect((await run([creating(configMap("other"))], { name: "other" })).status.phase).toBe("Committed");
    await pause();
    expect({ ...(await traces(place)), version: versionOf(await place.txn()) }).toEqual(before);

    await patch({ ...transaction("txn"), status: { formatVersion: null } }, "status");
    expect((await over()).status.phase).toBe("Committed");
    expect(await read(configMap("made"))).toBeDefined();
  });

  it("is kept when it is deleted, until a controller that supports it cleans it up", async () => {
    const { place, patch, janus, remove, exists, namespace, read } = await stopped();
    await patch({ ...transaction("txn"), status: { formatVersion: 2 } }, "status");
    const before = await traces(place);
    await janus();
    await remove(transaction("txn"));
    await expect.poll(() => toldOf(namespace)).toContain("its deletion waits, too");
    await pause();
    expect(await traces(place)).toEqual(before);

    await patch({ ...transaction("txn"), status: { formatVersion: 1 } }, "status");
    await expect.poll(() => exists(transaction("txn"))).toBe(false);
    const { metadata } = await read(configMap("txn-rollback"));
    expect([metadata.finalizers, metadata.labels?.["janus.io/orphaned"]]).toEqual([undefined, "true"]);
  });

  it("does not hold up the deletion of its namespace", async () => {
    const { place, patch, janus, namespace, remove } = await stopped();
    await patch({ ...transaction("txn"), status: { formatVersion: 2 } }, "status");
    await janus();
    await remove({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
    const isThere = () => place.exists({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
    await expect.poll(isThere).toBe(false);
  });

  it.each([
    ["is in a later format", { format: "2" }, "format 2; this version knows 1"],
    ["says something that is not known", { "gate-0": "{}" }, "with gate-0, which this version does not know"],
  ])("waits if its journal %s, never overwrites it, and resumes when it can be read", async (_, data, why) => {
    const { place, patch, janus, namespace, over, uid } = await stopped();
    const journal = configMap(journalName(uid));
    await patch({ ...journal, data });
    const before = await traces(place);
    const running = await janus();
    const said = `the journal ConfigMap ${namespace}/${journalName(uid)} was written by a later version of the controller (${why}): upgrade the controller`;
    const stalled = () => place.txn().then(({ status }) => status.conditions.find(({ type }) => type === "Stalled"));
    await expect.poll(stalled).toMatchObject({ status: "True", reason: "Unsupported" });
    expect((await stalled())?.message).toContain(said);
    expect(await toldOf(namespace)).toContain(said);
    const requests = running.log.length;
    await pause();
    expect(running.log.length - requests).toBeLessThan(10);
    expect(await traces(place)).toEqual(before);

    await patch({ ...journal, data: Object.fromEntries(Object.keys(data).map((key) => [key, null])) });
    const { status } = await over();
    expect(status.phase).toBe("Committed");
    expect(status.conditions.filter(({ reason }) => reason === "Unsupported")).toEqual([]);
  });
});

it("neither deletes nor forgets a snapshot of its own that is in a later format", async () => {
  const { place, create, janus, namespace, over, read, remove, uid } = await stopped();
  const store = configMap("txn-rollback-1", { format: "2", "item-0-1": "{}" });
  const labels = { "janus.io/transaction-uid": uid };
  const [made] = await create({ ...store, metadata: { ...store.metadata, labels, finalizers: [SNAPSHOT_FINALIZER] } });
  await janus();
  await expect
    .poll(() => toldOf(namespace))
    .toContain(`the snapshot ConfigMap ${namespace}/txn-rollback-1 was written by a later version of the controller`);
  await pause();
  const { status, metadata } = await place.txn();
  expect([status.phase, metadata.finalizers]).toEqual(["Committed", ["backup.janus.io/lease-cleanup"]]);
  expect(await read(store)).toEqual(made);

  await place.patch({ ...store, metadata: { ...store.metadata, finalizers: null } });
  await remove(store);
  expect((await over()).status.phase).toBe("Committed");
});

const namespace = "later";
const must = <A>(answer: E.Either<{ readonly message: string }, A>): A => {
  if (E.isLeft(answer)) throw new Error(answer.left.message);
  return answer.right;
};
const keepsField = ({ spec }: KubeObject): boolean => JSON.stringify(spec).includes("retries");

/** The controller knows one field less than the CRD, as in the middle of an upgrade, or when only the controller has gone back. */
describe("under the CRD of a later version", () => {
  let stage: Installed;
  beforeAll(async () => {
    stage = await installed([]);
    const schema = "/spec/versions/0/schema/openAPIV3Schema/properties";
    const value = { type: "array", items: { type: "string" } };
    const patch = ["spec/properties/changes/items/properties/retries", "status/properties/gates"].map((path) => ({
      op: "add",
      path: `${schema}/${path}`,
      value,
    }));
    await stage.kubectl("patch", "crd", "transactions.backup.janus.io", "--type=json", "-p", JSON.stringify(patch));
    await stage.kubectl("create", "namespace", namespace);
    await stage.kubectl("create", "serviceaccount", "deployer", "-n", namespace);
    await stage.kubectl(
      ..."create rolebinding deployer --clusterrole=admin --serviceaccount=later:deployer -n later".split(" "),
    );
    await vi.waitUntil(async () => keepsField(await submit("probe", gated, true)), { timeout: 300_000 });
    const replica = await stage.replica("one");
    await replica.start();
  });
  afterAll(() => stage.end());

  const submit = async (name: string, change: object, dryRun = false): Promise<KubeObject> =>
    must(
      await stage.api.send({
        verb: "create",
        resource: transactions,
        namespace,
        body: { ...transaction(name), spec: { serviceAccountName: "deployer", changes: [change] } },
        ...(dryRun ? { dryRun: true } : {}),
      }),
    );
  const read = async (name: string, resource = transactions): Promise<KubeObject | undefined> => {
    const answer = await stage.api.send({ verb: "get", resource, namespace, name });
    return E.isRight(answer) ? answer.right : undefined;
  };
  const statusOf = async (name: string) => ((await read(name)) as Txn | undefined)?.status;
  const conditionOf = async (name: string, type: string) =>
    (await statusOf(name))?.conditions.find((one) => one.type === type);
  const gated = { ...creating(configMap("gated")), retries: ["ready"] };

  it("a Transaction with an unknown field is not started, and can be deleted", async () => {
    await submit("txn", gated);
    await expect.poll(() => conditionOf("txn", "Ready")).toMatchObject({ status: "False", reason: "Unsupported" });
    expect(await conditionOf("txn", "Stalled")).toMatchObject({
      status: "True",
      message: expect.stringContaining(
        "spec.changes[0].retries: this version of the controller does not know this field: upgrade the controller",
      ) as unknown,
    });
    expect(await stage.kubectl("get", "events", "-n", namespace)).toContain("spec.changes[0].retries");
    await submit("plain", creating(configMap("plain")));
    await expect.poll(() => statusOf("plain")).toMatchObject({ phase: "Committed" });
    expect((await read("txn"))?.metadata.finalizers).toBeUndefined();
    expect((await statusOf("txn"))?.phase).toBe("Pending");
    expect(await read("gated", configMaps)).toBeUndefined();
    expect(await stage.kubectl("get", "leases", "-n", namespace)).toBe("");

    await stage.kubectl("delete", "txn", "txn", "-n", namespace, "--timeout=300s");
    expect(await read("txn")).toBeUndefined();
  });

  it("what a later version has recorded is left as it is, whether or not its Transaction is deleted", async () => {
    const { metadata } = await submit("begun", gated);
    const { uid = "" } = metadata;
    const labels = { [MANAGED_BY_LABEL]: MANAGED_BY, [TRANSACTION_LABEL]: "begun", "janus.io/transaction-uid": uid };
    const finalizers = [SNAPSHOT_FINALIZER];
    const make = async (name: string, data: object, more: object) =>
      must(
        await stage.api.send({
          verb: "create",
          resource: configMaps,
          namespace,
          body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name, labels, ...more }, data },
        }),
      );
    await make("begun-rollback", { "item-0-1": "{}" }, { finalizers });
    await make(journalName(uid), { format: "2", steps: "[]" }, {});
    const status = {
      phase: "Committing",
      gates: ["ready"],
      items: [{ prepared: true, lockLease: "janus-lock-later-configmap-gated", leaseNamespace: namespace }],
      snapshots: [{ kind: "ConfigMap", name: "begun-rollback", uid: "1", digest: "sha256:0" }],
      conditions: [
        { type: "Prepared", status: "True", reason: "R", message: "m", lastTransitionTime: "2026-01-01T12:00:00Z" },
      ],
    };
    const place = { resource: transactions, namespace, name: "begun" };
    must(await stage.api.send({ verb: "mergePatch", ...place, subresource: "status", body: { status } }));
    must(
      await stage.api.send({
        verb: "mergePatch",
        ...place,
        body: { metadata: { finalizers: ["backup.janus.io/lease-cleanup"] } },
      }),
    );
    const left = async () => {
      const txn = (await read("begun")) as Txn;
      const { conditions, ...rest } = txn.status;
      const kept = ["begun-rollback", journalName(uid)].map((name) => read(name, configMaps));
      return { rest, prepared: conditions.find(({ type }) => type === "Prepared"), kept: await Promise.all(kept) };
    };
    const before = await left();
    expect(before.rest).toHaveProperty("gates");
    await expect.poll(() => conditionOf("begun", "Stalled")).toMatchObject({ reason: "Unsupported" });
    await stage.kubectl("delete", "txn", "begun", "-n", namespace, "--wait=false");
    const told = () => stage.kubectl("get", "events", "-n", namespace);
    await expect.poll(told).toContain("its deletion waits, too");
    await pause();
    expect(await left()).toEqual(before);
    expect((await read("begun"))?.metadata.finalizers).toEqual(["backup.janus.io/lease-cleanup"]);
  });
});
