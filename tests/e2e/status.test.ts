import { setTimeout } from "node:timers/promises";
import { decodeTransaction } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { CONTROLLER_NAMES } from "@janus/controller";
import { recorder } from "../../packages/runtime/src/telemetry/events.ts";
import { TRANSACTION_EVENTS } from "../../packages/controller/src/shell/telemetry/transaction-events.ts";
import { administrator, connection } from "../fixtures/administrator.ts";
import { creating, patching } from "../fixtures/changes.ts";
import { controlPlane, kubectl } from "../fixtures/cluster.ts";
import { eventsOf } from "../fixtures/events.ts";
import { gate, isChangeOf } from "../fixtures/gate.ts";
import { configMap } from "../fixtures/manifests.ts";
import { allowOneService, oneTooMany } from "../fixtures/quota.ts";
import { recording } from "../fixtures/recording.ts";
import { refusing, unavailable } from "../fixtures/refusing.ts";
import { transaction, type Txn, workspace } from "../fixtures/workspace.ts";

const many = (count: number) => Array.from({ length: count }, (_, n) => creating(configMap(`c${n}`, { n: `${n}` })));

describe("status", () => {
  it("grows its version by one with every write", async () => {
    const { janus, run } = await workspace();
    const versions: number[] = [];
    await janus(async (request, next) => {
      const answer = await next(request);
      if (request.purpose === "record" && "body" in request)
        versions.push((request.body as { readonly status: Txn["status"] }).status.version);
      return answer;
    });
    const { status } = await run(many(3));
    expect(versions).toEqual(versions.map((_, n) => n + 1));
    expect(status.version).toBe(versions.length);
    expect(versions.length).toBeGreaterThanOrEqual(3);
  });

  it("says when it began and ended, and of which generation it speaks", async () => {
    const { janus, submit, txn, over } = await workspace();
    const { hook, reached, open } = gate(({ purpose }) => purpose === "change");
    const { metadata } = await submit(many(1));
    expect((await txn()).status).toMatchObject({ phase: "Pending", version: 0, observedGeneration: -1 });
    await janus(hook);
    await reached;
    const { status: underway } = await txn();
    expect(underway).toMatchObject({ phase: "Committing", progress: "0/1", observedGeneration: metadata.generation });
    expect(underway.completedAt).toBeUndefined();
    open();
    const { status } = await over();
    expect(status.startedAt).toBe(underway.startedAt);
    const times = [metadata.creationTimestamp, status.startedAt, status.completedAt].map((time) =>
      Date.parse(time ?? ""),
    );
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    for (const condition of status.conditions) expect(condition).toMatchObject({ observedGeneration: 1 });
  });

  it("shows the progress of a long run about once a second, and writes no more than that", async () => {
    const { janus, submit, txn, over } = await workspace();
    const { hook: keep, requests } = recording();
    let isSlow = true;
    await janus(keep, async (request, next) => {
      if (isSlow && request.purpose === "change") await setTimeout(120);
      return next(request);
    });
    const began = performance.now();
    await submit(many(100));
    await expect.poll(async () => (await txn()).status.progress).toMatch(/^[1-9]\d?\/100$/u);
    isSlow = false;
    expect((await over()).status.progress).toBe("100/100");
    const records = requests.filter(({ purpose }) => purpose === "record").length;
    expect(records).toBeLessThanOrEqual(5 + Math.ceil((performance.now() - began) / 1000));
  });

  it.each([
    [
      "Committed",
      many(1),
      { Ready: "True", Stalled: "False", Prepared: "True", Committed: "True", RolledBack: "False", Failed: "False" },
    ],
    [
      "Failed",
      [patching(configMap("missing", { a: "1" }))],
      { Ready: "False", Stalled: "True", Prepared: "False", Committed: "False", RolledBack: "False", Failed: "True" },
    ],
  ])("has the conditions of %s", async (phase, changes, conditions) => {
    const { janus, run } = await workspace();
    await janus();
    const { status } = await run(changes);
    expect(status.phase).toBe(phase);
    expect(Object.fromEntries(status.conditions.map(({ type, status }) => [type, status]))).toEqual(conditions);
  });

  it("is neither ready nor stalled while it is underway", async () => {
    const { janus, submit, txn, over } = await workspace();
    const { hook, reached, open } = gate(({ purpose }) => purpose === "change");
    await janus(hook);
    await submit(many(1));
    await reached;
    const { status } = await txn();
    expect(Object.fromEntries(status.conditions.map(({ type, status }) => [type, status]))).toMatchObject({
      Ready: "False",
      Stalled: "False",
      Prepared: "True",
    });
    open();
    await over();
  });
});

describe("kubectl", () => {
  it("shows phase, progress, ServiceAccount and message in columns", async () => {
    const { namespace, janus, run } = await workspace();
    await janus();
    await run(many(2), { name: "good" });
    await run([patching(configMap("missing", { a: "1" }))], { name: "bad" });
    const { stdout } = await kubectl("get", "txn", "-o", "wide", "-n", namespace);
    const [head, bad, good] = stdout.split("\n").map((line) => line.split(/ {2,}/).map((cell) => cell.trim()));
    expect(head).toEqual([
      "NAME",
      "PHASE",
      "PROGRESS",
      "LIFECYCLE",
      "AGE",
      "SERVICEACCOUNT",
      "REVERSIBLEUNTIL",
      "MESSAGE",
    ]);
    expect(good).toEqual([
      "good",
      "Committed",
      "2/2",
      "Published",
      expect.stringMatching(/^\d+s$/),
      "deployer",
      "all 2 changes are applied",
    ]);
    expect(bad).toEqual([
      "bad",
      "Failed",
      "0/1",
      "Published",
      expect.stringMatching(/^\d+s$/),
      "deployer",
      `no changes were applied: changes[0]: ConfigMap ${namespace}/missing not found: use Create`,
    ]);
  });

  it("tells in each condition its own story, and in that of RolledBack what a Failed Transaction has left", async () => {
    const { create, janus, run } = await workspace();
    await create(configMap("first", { a: "1" }));
    await janus();
    const told = async (name: string, changes: Parameters<typeof run>[0]) => {
      const { status } = await run(changes, { name });
      return Object.fromEntries(status.conditions.map(({ type, status: is, reason }) => [type, `${is} ${reason}`]));
    };
    const first = patching(configMap("first", { a: "2" }));
    expect(await told("good", [first])).toEqual({
      Ready: "True Committed",
      Stalled: "False Succeeded",
      Prepared: "True AllItemsPrepared",
      Committed: "True AllItemsCommitted",
      RolledBack: "False NotNeeded",
      Failed: "False NotFailed",
    });
    expect(await told("bad", [first, patching(configMap("missing", { a: "1" }))])).toEqual({
      Ready: "False PreflightFailed",
      Stalled: "True PreflightFailed",
      Prepared: "False PreflightFailed",
      Committed: "False PreflightFailed",
      RolledBack: "False NoChangesApplied",
      Failed: "True TransactionFailed",
    });
  });

  it("shows of each change its target and its state", async () => {
    const { namespace, create, janus, run } = await workspace();
    await create(configMap("first", { a: "1" }), configMap("second", { a: "1" }));
    await janus();
    const { status } = await run(["first", "second"].map((name) => patching(configMap(name, { a: "2" }))));
    expect(status.items).toMatchObject([
      { target: `ConfigMap ${namespace}/first`, state: "Applied" },
      { target: `ConfigMap ${namespace}/second`, state: "Applied" },
    ]);
    const refused = await run([patching(configMap("first", { a: "3" })), patching(configMap("missing", { a: "1" }))], {
      name: "refused",
    });
    expect(refused.status.items).toMatchObject([
      { target: `ConfigMap ${namespace}/first`, state: "Pending" },
      { target: `ConfigMap ${namespace}/missing`, state: "Refused" },
    ]);
  });

  it("waits for condition=Committed, and for a Transaction that has finished either way", async () => {
    const { namespace, janus, submit } = await workspace();
    await janus();
    const waitFor = (name: string, what: string) =>
      kubectl("wait", `--for=${what}`, "--timeout=300s", `txn/${name}`, "-n", namespace);
    const waiting = (name: string, condition: string) => waitFor(name, `condition=${condition}`);
    await submit(many(1), { name: "good" });
    expect(await waiting("good", "Committed")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("condition met") as string,
    });
    await submit([patching(configMap("missing", { a: "1" }))], { name: "bad" });
    expect(await waitFor("bad", "jsonpath={.status.completedAt}")).toMatchObject({ code: 0 });
    expect(await waitFor("good", "jsonpath={.status.completedAt}")).toMatchObject({ code: 0 });
    expect(await waiting("bad", "Stalled")).toMatchObject({ code: 0 });
  });

  it("describes a Transaction with the story of what happened", async () => {
    const place = await workspace();
    const { namespace, create, janus, run } = place;
    await create(configMap("config", { a: "1" }));
    await allowOneService(place);
    const { stop, log } = await janus();
    await run([patching(configMap("config", { a: "2" })), ...oneTooMany]);
    await stop();
    expect(log.filter((line) => line.includes("an event was not written"))).toEqual([]);

    const { stdout } = await kubectl("describe", "txn", "txn", "-n", namespace);
    const story = stdout.slice(stdout.indexOf("Events:"));
    for (const line of [
      /Normal +Initializing .* 3 changes, applied as ServiceAccount deployer/,
      /Normal +PhaseTransition .* Pending → Preparing/,
      /Normal +PhaseTransition .* Preparing → Committing/,
      new RegExp(
        `Normal +ItemCommitted .* 2/3 Patch ConfigMap ${namespace}/config, Create Service ${namespace}/allowed`,
      ),
      /Warning +CommitFailed .* exceeded quota/,
      /Warning +PhaseTransition .* Committing → RollingBack/,
      new RegExp(`Normal +ItemRolledBack .* Create Service ${namespace}/allowed was rolled back`),
      new RegExp(`Normal +ItemRolledBack .* Patch ConfigMap ${namespace}/config was rolled back`),
      /Warning +PhaseTransition .* RollingBack → RolledBack: every target is as it was before/,
    ])
      expect(story).toMatch(line);
  });
});

/** A recorder of events, and a Transaction without a controller. */
const eventRecorder = async () => {
  const { namespace, submit } = await workspace();
  const txn = decodeTransaction(await submit(many(1)));
  if (E.isLeft(txn)) throw new Error(txn.left);
  const api = connection(controlPlane.kubeconfig);
  return { namespace, txn, ...recorder(CONTROLLER_NAMES, TRANSACTION_EVENTS, () => api, "test") };
};

describe("events", () => {
  it("of sixty changes are a few, and one that grows", async () => {
    const { namespace, janus, run } = await workspace();
    const running = await janus();
    await run(many(60));
    await running.stop();
    const told = (await eventsOf(namespace, "txn")).filter(({ reason }) => reason === "ItemCommitted");
    expect(told.length).toBeLessThanOrEqual(4);
    expect(told.at(-1)?.message).toMatch(new RegExp(`60/60 .*Create ConfigMap ${namespace}/c59$`));
  });

  it("of hundreds of gates are a few, and warnings are never counted as Normal", async () => {
    const { namespace, txn, recordEvent, flush } = await eventRecorder();
    for (let n = 0; n < 100; n += 1)
      for (const reason of ["ItemCommitted", "GateWaiting", "GateMet"])
        recordEvent(txn.right, { type: "Normal", reason, message: `${n}` }, () => {});
    for (let n = 0; n < 8; n += 1)
      recordEvent(
        txn.right,
        { type: n < 6 ? "Normal" : "Warning", reason: "ItemRolledBack", message: `item ${n}` },
        () => {},
      );
    await flush();
    const told = await eventsOf(namespace, "txn");
    const countsOf = (...of: string[]) =>
      told
        .filter(({ type, reason }) => of.includes(reason) && of.includes(type))
        .map(({ count }) => count)
        .toSorted((a, b) => a - b);
    expect(countsOf("Normal", "GateWaiting")).toEqual([1, 1, 1, 97]);
    expect(countsOf("Normal", "GateMet")).toEqual([1, 1, 1, 97]);
    expect(countsOf("Normal", "ItemRolledBack")).toEqual([1, 1, 1, 3]);
    const warnings = told.filter(({ type }) => type === "Warning");
    expect(warnings.map(({ message }) => message).toSorted()).toEqual(["item 6", "item 7"]);
  });

  it("that are told again and again are one that counts", async () => {
    const { namespace, txn, recordEvent, flush } = await eventRecorder();
    const event = { type: "Warning", reason: "RecoveryBlocked", message: "the journal cannot be written" } as const;
    const log: string[] = [];
    const again = (times: number) => {
      for (let n = 0; n < times; n += 1) recordEvent(txn.right, event, (_, message) => void log.push(message));
    };
    const counts = async () => (await eventsOf(namespace, "txn")).map(({ count }) => count);
    again(3);
    await expect.poll(counts).toEqual([3]);
    again(4);
    await flush();
    expect(await counts()).toEqual([7]);
    expect(log).toEqual([]);
    const { stdout } = await kubectl("describe", "txn", "txn", "-n", namespace);
    expect(stdout).toMatch(/Warning +RecoveryBlocked +\S+ \(x7 over \S+\) +janus +the journal cannot be written/);
  });

  it("stand in the order in which things happened, also within a second", async () => {
    const place = await workspace();
    const { namespace, janus, run } = place;
    await allowOneService(place);
    const { stop } = await janus();
    await run([...many(5), ...oneTooMany]);
    await stop();
    const { stdout } = await kubectl(
      "get",
      "events",
      "-n",
      namespace,
      "-o",
      "jsonpath={range .items[*]}{.message}\n{end}",
    );
    const lines = stdout.split("\n");
    const at = (part: string) => lines.findIndex((line) => line.includes(part));
    const story = ["Preparing → Committing", "6/7", "refused to create", "→ RollingBack", "allowed was rolled back"];
    expect(story.map(at)).toEqual(story.map(at).toSorted((a, b) => a - b));
    expect(story.map(at)).not.toContain(-1);
  });

  it("say what another client has changed when that is in the way", async () => {
    const { namespace, create, patch, janus, run, read } = await workspace();
    await create(configMap("first"), configMap("config", { a: "1" }));
    await janus(async (request, next) => {
      if (isChangeOf("first")(request)) await patch(configMap("config", { a: "somebody's" }));
      return next(request);
    });
    const { status } = await run([patching(configMap("first", { a: "2" })), patching(configMap("config", { a: "2" }))]);
    expect(status.phase).toBe("RolledBack");
    expect(await read(configMap("config"))).toMatchObject({ data: { a: "somebody's" } });
    await expect
      .poll(async () => (await eventsOf(namespace, "txn")).find(({ reason }) => reason === "ConflictDetected")?.message)
      .toBe(`.data.a of ConfigMap ${namespace}/config was modified by field manager "somebody"`);
  });

  it("say so where the API server does not let the Transaction be written, and it goes on when that does", async () => {
    const { namespace, create, janus, submit, over } = await workspace();
    await create(configMap("config", { a: "1" }));
    const denied = { ...unavailable, code: 403, reason: "Forbidden", message: "denied by a webhook" };
    const { hook } = refusing(({ purpose }) => purpose === "record", 3000, denied);
    await janus(hook);
    await submit([patching(configMap("config", { a: "2" }))]);
    await expect
      .poll(async () => (await eventsOf(namespace, "txn")).find(({ reason }) => reason === "RecoveryBlocked")?.message)
      .toBe("waiting until the Transaction can be updated: denied by a webhook");
    expect((await over()).status.phase).toBe("Committed");
  });

  it("are on the Transaction, from janus, and of types that Kubernetes knows", async () => {
    const { namespace, janus, run } = await workspace();
    const running = await janus();
    const { metadata } = await run(many(1));
    await running.stop();
    const events = (await administrator.list({ apiVersion: "v1", kind: "Event" }, namespace)).filter(
      (event) => (event["involvedObject"] as { readonly kind: string }).kind === transaction("txn").kind,
    );
    expect(events.length).toBeGreaterThan(3);
    for (const event of events)
      expect(event).toMatchObject({
        involvedObject: { apiVersion: "backup.janus.io/v1alpha1", name: "txn", uid: metadata.uid },
        source: { component: "janus" },
        type: "Normal",
      });
  });
});

it("goes on without losing anything where others write to the Transaction meanwhile", async () => {
  const { janus, submit, patch, over } = await workspace();
  const { hook, reached, open } = gate(isChangeOf("c1"));
  await janus(hook);
  await submit(many(3));
  await reached;
  await patch({ ...transaction("txn"), metadata: { name: "txn", labels: { team: "a" }, annotations: { note: "n" } } });
  open();
  const { status, metadata } = await over();
  expect(status).toMatchObject({ phase: "Committed", progress: "3/3" });
  expect(metadata).toMatchObject({ labels: { team: "a" }, annotations: { note: "n" } });
});
