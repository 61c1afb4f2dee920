// The Blueprint controller as it is installed: with its Roles and no other rights, two processes of which one leads, and its fence.
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { FENCE, NAMES, startWork } from "@janus/blueprints";
import { installation } from "@janus/deploy";
import { connect, type Hook, loadConfig } from "@janus/kube";
import { jsonLog, leadership, watchdog } from "@janus/runtime/parts";
import { pods } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { Manifest } from "../fixtures/administrator.ts";
import { kubectlWith } from "../fixtures/cluster.ts";
import { installed, type Installed, leaderOf } from "../fixtures/installed.ts";
import { REQUEST_DEADLINE, timing, TIMING_FLAGS } from "../fixtures/leader-timing.ts";
import { roleBinding, serviceAccount, within } from "../fixtures/manifests.ts";
import { type RunningNode, startNode } from "../fixtures/node/start-node.ts";
import { actionOn, actionSet, type ActionSetObject, blueprint } from "./objects.ts";
import { SETTINGS } from "./settings.ts";

const USER = "system:serviceaccount:janus-system:janus-blueprints";
const FLAGS = ["--blueprints", "--default-service-account=ops", ...TIMING_FLAGS];

let cluster: Installed;
let node: RunningNode;
let directory: string;
beforeAll(async () => {
  const product = { manifests: installation({ blueprints: { defaultServiceAccount: "ops" } }), user: USER };
  cluster = await installed(FLAGS, undefined, undefined, product);
  node = await startNode(cluster.api);
  directory = await mkdtemp(path.join(os.tmpdir(), "janus-installed-"));
});
afterAll(async () => {
  await node.stop();
  await cluster.end();
});

const apply = async (...objects: readonly object[]): Promise<void> => {
  const stdin = JSON.stringify({ apiVersion: "v1", kind: "List", items: objects });
  const { code, stderr } = await kubectlWith(
    { kubeconfig: cluster.controlPlane.kubeconfig, stdin },
    "apply",
    "--server-side",
    "-f",
    "-",
  );
  if (code !== 0) throw new Error(stderr);
};

/** A namespace with the ServiceAccount `ops`, and an ActionSet whose command says that it has run, and waits until it is let go. */
const submitted = async (namespace: string) => {
  const ran = path.join(directory, `${namespace}-ran`);
  const go = path.join(directory, `${namespace}-go`);
  await writeFile(ran, "");
  await apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  const command = ["sh", "-c", `echo ran >> ${ran}; until test -e ${go}; do sleep 0.1; done`];
  const phase = { func: "KubeTask", name: "only", args: { image: "busybox", command } };
  await apply(
    ...[
      serviceAccount("ops"),
      roleBinding("ops", "ClusterRole", "admin", `${namespace}/ops`),
      { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "subject" } },
      blueprint("recipe", { do: { phases: [phase] } }),
      actionSet("run", actionOn("do", "recipe")),
    ].map((object) => within(namespace, object)),
  );
  return {
    hasRun: async () => [...(await readFile(ran, "utf8")).matchAll(/ran/gu)].length,
    letGo: () => writeFile(go, ""),
    state: async () => {
      const printed = await cluster.kubectl("get", "actionset", "run", "-n", namespace, "-o", "json");
      return (JSON.parse(printed) as ActionSetObject).status?.state;
    },
    pods: () => cluster.kubectl("get", "pods", "-n", namespace, "-o", "name"),
  };
};

it("goes on in another process when its leader is killed: each command runs once, with no right but its own", async () => {
  const replicas = [await cluster.replica("a"), await cluster.replica("b")];
  await Promise.all(replicas.map(({ start }) => start()));
  onTestFinished(async () => void (await Promise.all(replicas.map(({ end }) => end()))));
  const work = await submitted("failover");
  await expect.poll(work.hasRun).toBe(1);
  const leader = await leaderOf(replicas);
  if (leader === undefined) throw new Error("nobody leads");
  await leader.kill();
  const heir = replicas.find((one) => one !== leader);
  await expect.poll(async () => (await heir?.status())?.leader).toBe(true);
  await work.letGo();
  await expect.poll(work.state).toBe("complete");
  expect(await work.hasRun()).toBe(1);
  await expect.poll(async () => (await heir?.metrics()) ?? "").toContain("janus_blueprints_fence_up 1");
  const complaints = (await Promise.all(replicas.map((one) => one.complaints()))).flat();
  expect(complaints.filter((line) => /forbidden|cannot/iu.test(line))).toEqual([]);
});

/** A controller in this process. */
const candidate = async (identity: string, ...hooks: readonly Hook[]) => {
  const config = loadConfig({}, await cluster.controlPlane.userKubeconfig(USER));
  if (E.isLeft(config)) throw new Error(config.left);
  const client = connect(config.right, { hooks, writeTimeout: timing.writeTimeout, deadline: REQUEST_DEADLINE });
  const election = leadership(client, {
    names: NAMES,
    fence: FENCE,
    identity,
    place: { namespace: "janus-system", name: "janus-blueprints-leader" },
    timing,
    deadline: REQUEST_DEADLINE,
    log: () => {},
  });
  onTestFinished(async () => {
    await election.leave();
    await client.close();
  });
  return { client, election, api: election.elected.then((inTerm) => inTerm?.(client)) };
};

it("creates no Pod as a leader that was paused until another one leads", async () => {
  const [reached, woken, sent] = [
    Promise.withResolvers<void>(),
    Promise.withResolvers<void>(),
    Promise.withResolvers<Awaited<ReturnType<Hook>>>(),
  ];
  let isPaused = false;
  const hook: Hook = async (request, next) => {
    const isIt = !isPaused && request.verb === "create" && request.resource.plural === pods.plural;
    isPaused ||= isIt;
    if (isIt) reached.resolve();
    if (isPaused) await woken.promise;
    const answer = await next(request);
    if (isIt) sent.resolve(answer);
    return answer;
  };
  const first = await candidate("first", hook);
  const api = await first.api;
  if (api === undefined) throw new Error("lost before it began");
  const work = await submitted("fenced");
  const { stop } = startWork(
    { api, streams: first.client, log: jsonLog("error"), watchdog: watchdog() },
    { watchNamespaces: ["fenced"], concurrency: 4, maxRunningActions: 100 },
    SETTINGS,
  );
  onTestFinished(stop);
  await reached.promise;
  const second = await candidate("second");
  await second.api;
  await expect.poll(() => second.election.status().fence).toBe("up");
  woken.resolve();
  expect(await sent.promise).toMatchObject({
    left: { type: "refused", code: 422, message: expect.stringContaining(FENCE.key) as string },
  });
  expect(await work.pods()).toBe("");
});

/** What kubectl complains of, as a user who may edit ActionSets, Secrets and nothing else in this namespace; `""`: of nothing. */
const complaint = async (object: object, ...args: readonly string[]): Promise<string> => {
  const { stderr } = await kubectlWith(
    { kubeconfig: cluster.controlPlane.kubeconfig, stdin: JSON.stringify(within("guarded", object as Manifest)) },
    ...(args.length === 0 ? ["apply", "--server-side", "-f", "-"] : args),
    "--as=dev",
    "-n=guarded",
  );
  return stderr;
};

const named = (name: string, more: object = {}): Manifest => ({
  ...actionSet(name, actionOn("do", "recipe")),
  ...more,
});
const asOps = { spec: { actions: [], serviceAccountName: "ops" } };
const patch = (name: string, body: object): readonly string[] => [
  "patch",
  "actionset",
  name,
  "--type=merge",
  `-p=${JSON.stringify(body)}`,
];

describe("a user who may edit ActionSets, and not impersonate the ServiceAccount ops", () => {
  beforeAll(async () => {
    await apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "guarded" } });
    const rules = [
      { apiGroups: ["cr.kanister.io"], resources: ["actionsets"], verbs: ["*"] },
      { apiGroups: [""], resources: ["secrets"], verbs: ["*"] },
    ];
    await apply(
      ...[
        { apiVersion: "rbac.authorization.k8s.io/v1", kind: "Role", metadata: { name: "dev" }, rules },
        {
          apiVersion: "rbac.authorization.k8s.io/v1",
          kind: "RoleBinding",
          metadata: { name: "dev" },
          roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "dev" },
          subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "dev" }],
        },
        named("of-another", asOps),
        named("running"),
        named("of-kanister"),
      ].map((object) => within("guarded", object)),
    );
    // As it was before Janus came: its policies let nobody else write this.
    const running = patch("of-kanister", { status: { state: "running" } });
    await cluster.kubectl(...running, `--as=${USER}`, "-n=guarded");
  });

  it.each<readonly [what: string, complaint: string, object: object, args: readonly string[]]>([
    ["creates one that names none", "", named("default"), []],
    [
      "creates none that names it",
      'user "dev" cannot impersonate ServiceAccount "ops" in namespace "guarded"',
      named("named", asOps),
      [],
    ],
    [
      "creates none that names it by its label",
      'cannot impersonate ServiceAccount "ops"',
      named("labelled", { metadata: { name: "labelled", labels: { "janus.io/service-account": "ops" } } }),
      [],
    ],
    [
      "does not name it later",
      'cannot impersonate ServiceAccount "ops"',
      {},
      patch("running", { metadata: { labels: { "janus.io/service-account": "ops" } } }),
    ],
    [
      "does not edit what it will do",
      'cannot impersonate ServiceAccount "ops"',
      {},
      patch("of-another", { spec: { actions: [{ name: "other" }] } }),
    ],
    ["labels one that names it", "", {}, patch("of-another", { metadata: { labels: { team: "shop" } } })],
    [
      "writes no status",
      "only the controller of Janus writes the status",
      {},
      patch("running", { status: { state: "complete" } }),
    ],
    [
      "does not say that one has succeeded that another controller was running",
      "only the controller of Janus writes the status",
      {},
      patch("of-kanister", { status: { state: "complete" } }),
    ],
    ["abandons it", "", {}, patch("of-kanister", { status: { state: "failed" } })],
    [
      "creates none that seems to run",
      "only the controller of Janus writes the status",
      named("seems", { status: { state: "running" } }),
      [],
    ],
    ["restores one that has ended", "", named("restored", { status: { state: "complete" } }), []],
    [
      "sets no finalizer of the controller",
      "only the controller of Janus sets and removes the finalizer",
      {},
      patch("running", { metadata: { finalizers: ["blueprints.janus.io/running"] } }),
    ],
    [
      "writes no journal",
      "only the controller of Janus writes Secrets whose name begins with janus-actionset-",
      { apiVersion: "v1", kind: "Secret", metadata: { name: "janus-actionset-1" } },
      [],
    ],
    ["writes other Secrets", "", { apiVersion: "v1", kind: "Secret", metadata: { name: "janus" } }, []],
  ])("%s", async (_, expected, object, args) => {
    const complained = await complaint(object, ...args);
    expect(complained).toContain(expected);
    expect(complained === "").toBe(expected === "");
  });
});
