// Atomic actions when others interfere: edits in between, deletions, timeouts, late requests, missing rights, no controller.
import type { Hook, Request } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it, onTestFinished } from "vitest";
import { administrator } from "../fixtures/administrator.ts";
import { configMap, role, roleBinding, serviceAccount, within } from "../fixtures/manifests.ts";
import { start as startTransactions, type Txn } from "../fixtures/workspace.ts";
import { atomicRecipe, contents, EXISTING, FAILING, making, TRANSACTION, transactionsIn } from "./atomic-recipe.ts";
import { actionOn, actionSet, actionSetRef, blueprint } from "./objects.ts";
import { type BlueprintPlace, client, place } from "./world.ts";

const withTransactions = async (...hooks: readonly Hook[]): Promise<BlueprintPlace> => {
  const at = await place(...hooks);
  onTestFinished(startTransactions(at.namespace).stop);
  await at.create(...EXISTING);
  return at;
};

/** Waits until somebody says so. */
const pausing = {
  func: "Wait",
  name: "pause",
  args: {
    timeout: "60s",
    conditions: {
      allOf: [
        {
          condition: "{ $.data.go }",
          objectReference: {
            apiVersion: "v1",
            resource: "configmaps",
            name: "subject",
            namespace: "{{ .Object.metadata.namespace }}",
          },
        },
      ],
    },
  },
};

const paused = async ({ read }: BlueprintPlace): Promise<void> => {
  await expect.poll(async () => (await read("run")).status?.progress.runningPhase).toBe("pause");
};

const goOn = ({ namespace }: BlueprintPlace) =>
  administrator.patch(within(namespace, configMap("subject", { go: "true" })));

const UNCHANGED = { made: "absent", edited: { value: "old" }, dropped: { value: "kept" } };

const GROUP = "backup.janus.io";

/** The kinds of Transactions are not there. */
const unserved: Hook = async (request, next) => {
  if (request.verb !== "raw") return next(request);
  if (request.path === `/apis/${GROUP}/v1alpha1`)
    return E.left({ type: "refused", code: 404, reason: "NotFound", message: "", causes: [], notFound: "path" });
  const answer = await next(request);
  if (request.path !== "/apis" || E.isLeft(answer)) return answer;
  const groups = (answer.right as unknown as { readonly groups: readonly { readonly name: string }[] }).groups;
  return E.right({ ...answer.right, groups: groups.filter(({ name }) => name !== GROUP) });
};

const running = (name: string, account: string) => ({
  ...actionSet(name),
  spec: { serviceAccountName: account, actions: [actionOn("backup", "atomic")] },
});

describe("an atomic action", () => {
  it("says what it cannot roll back since somebody has edited it in between, and rolls back all else", async () => {
    const at = await withTransactions();
    await at.create(atomicRecipe(pausing, FAILING), actionSet("run", actionOn("backup", "atomic")));
    await paused(at);
    await administrator.patch(within(at.namespace, configMap("edited", { value: "theirs" })));
    await goOn(at);
    const { status } = await at.over("run");
    expect(status.error?.message).toMatch(
      /^phase fail: .*; phase edit is not rolled back: Transaction \S+: .*edited.*; rolled back: drop, make$/u,
    );
    expect(await contents(at.namespace)).toMatchObject({ ...UNCHANGED, edited: { value: "theirs" }, deferred: {} });
    const kept = (await transactionsIn(at.namespace)) as unknown as readonly Txn[];
    expect(kept.map((one) => one.status.phase)).toEqual(["Failed"]);
  });

  it("is rolled back when its ActionSet is deleted while it runs", async () => {
    const at = await withTransactions();
    await at.create(atomicRecipe(pausing), actionSet("run", actionOn("backup", "atomic")));
    await paused(at);
    await administrator.remove(within(at.namespace, actionSetRef("run")));
    const isThere = async () => (await administrator.read(within(at.namespace, actionSetRef("run")))) !== undefined;
    await expect.poll(isThere).toBe(false);
    expect(await contents(at.namespace)).toEqual({ ...UNCHANGED, deferred: {} });
    expect(await transactionsIn(at.namespace)).toEqual([]);
  });

  it("rolls back a phase that takes too long before it is tried again, and when it is given up", async () => {
    const at = await withTransactions();
    const web = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web" } };
    await at.create(
      {
        ...web,
        spec: {
          replicas: 0,
          selector: { matchLabels: { app: "web" } },
          template: {
            metadata: { labels: { app: "web" } },
            spec: { nodeSelector: { nowhere: "true" }, containers: [{ name: "c", image: "i" }] },
          },
        },
      },
      blueprint("atomic", {
        backup: {
          atomic: true,
          phases: [
            {
              func: "ScaleWorkload",
              name: "up",
              args: { namespace: at.namespace, name: "web", kind: "Deployment", replicas: 1 },
              timeout: "10s",
              retry: { limit: 1, backoff: "100ms" },
            },
          ],
        },
      }),
      actionSet("run", actionOn("backup", "atomic")),
    );
    const { status } = await at.over("run");
    expect(status.error?.message).toMatch(
      /^phase up: it was not done within 10s: Transaction \S+ is not Committed: .*; rolled back: up$/u,
    );
    expect(status.actions[0]?.phases[0]).toMatchObject({ state: "failed", attempts: 2 });
    const scaled = await administrator.read(within(at.namespace, web));
    expect(scaled?.["spec"]).toMatchObject({ replicas: 0 });
    expect(await transactionsIn(at.namespace)).toEqual([]);
  });

  it("changes nothing by a Transaction whose creation was given up, and lands when it is over", async () => {
    const late: Request[] = [];
    const givesUp: Hook = (request, next) => {
      if (request.verb !== "create" || request.resource.plural !== "transactions" || late.length > 0)
        return next(request);
      late.push(request);
      return Promise.resolve(E.left({ type: "unanswered", cause: "deadline", message: "no answer in time" }));
    };
    const at = await withTransactions(givesUp);
    await at.create(
      blueprint("atomic", { backup: { atomic: true, phases: [making("make", "made")] } }),
      actionSet("run", actionOn("backup", "atomic")),
    );
    expect((await at.over("run")).status.state).toBe("complete");
    const isThere = async () => (await at.names(TRANSACTION.apiVersion, TRANSACTION.kind)).length > 0;
    await expect.poll(isThere).toBe(false);
    await administrator.remove(within(at.namespace, configMap("made")));
    const [request] = late;
    if (request === undefined) throw new Error("no Transaction was created");
    const landed = await client.send(request);
    if (E.isLeft(landed)) throw new Error("it has not landed");
    const { name = "" } = landed.right.metadata;
    const told = async () => {
      const found = await administrator.read(within(at.namespace, { ...TRANSACTION, metadata: { name } }));
      return (found as unknown as Txn).status.conditions.find(({ type }) => type === "Ready")?.message;
    };
    await expect.poll(told).toMatch(/^not applied: 1 to create/u);
    expect(await contents(at.namespace)).toMatchObject({ made: "absent" });
  });
});

describe("before anything runs, an atomic action is refused", () => {
  it("without the controller of Transactions, with what to do", async () => {
    const at = await place(unserved);
    await at.create(...EXISTING, atomicRecipe(), actionSet("run", actionOn("backup", "atomic")));
    const { status } = await at.over("run");
    expect(status.error?.message).toBe(
      "nothing was run: action backup is atomic, which needs the controller of Transactions: install it, or leave atomic out (the API server does not serve transactions in /apis/backup.janus.io/v1alpha1)",
    );
    expect(await contents(at.namespace)).toEqual({ ...UNCHANGED, deferred: "absent" });
  });

  it("without the rights on Transactions; with them and those on the targets it runs", async () => {
    const at = await withTransactions();
    const ofTargets = {
      apiGroups: [""],
      resources: ["configmaps"],
      verbs: ["get", "create", "patch", "update", "delete"],
    };
    const ofTransactions = {
      apiGroups: ["backup.janus.io"],
      resources: ["transactions"],
      verbs: ["create", "get", "patch", "delete"],
    };
    await at.create(
      serviceAccount("poor"),
      serviceAccount("able"),
      role("targets", ofTargets),
      role("transactions", ofTransactions),
      roleBinding("poor-targets", "Role", "targets", `${at.namespace}/poor`),
      roleBinding("able-targets", "Role", "targets", `${at.namespace}/able`),
      roleBinding("able-transactions", "Role", "transactions", `${at.namespace}/able`),
      atomicRecipe(),
      running("refused", "poor"),
      running("run", "able"),
    );
    const { status } = await at.over("refused");
    expect(status.error?.message).toContain(
      `ServiceAccount ${at.namespace}/poor may not create transactions in namespace ${at.namespace} (phase make)`,
    );
    expect((await at.over("run")).status).toMatchObject({ state: "complete" });
  });
});
