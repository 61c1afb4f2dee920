// A definition of ActionSets with the status subresource: recipes end as installed, wherever their controller crashes, and when it changes.
import { kanisterCrds, startWork } from "@janus/blueprints";
import { installation } from "@janus/deploy";
import { type Client, discovery, type Discovery, type Hook, type KubeObject } from "@janus/kube";
import { jsonLog, watchdog, type Work } from "@janus/runtime/parts";
import { asObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { janus } from "../cli/command-line.ts";
import { crashEverywhere, type Subject } from "../crash/any-controller.ts";
import type { Manifest } from "../fixtures/administrator.ts";
import { kubectlWith } from "../fixtures/cluster.ts";
import { type Installed, installed } from "../fixtures/installed.ts";
import {
  configMap,
  namespace as namespaceOf,
  role,
  roleBinding,
  secret,
  serviceAccount,
  within,
} from "../fixtures/manifests.ts";
import { share, showShare } from "../fixtures/sample.ts";
import { actionOn, actionSet, actionSetRef, type ActionSetObject, blueprint } from "./objects.ts";
import { SETTINGS } from "./settings.ts";

const USER = "system:serviceaccount:janus-system:janus-blueprints";
const DEFINITION = "actionsets.cr.kanister.io";

const withStatus = (crd: KubeObject): KubeObject => {
  if (crd.metadata.name !== DEFINITION) return crd;
  const { versions, ...spec } = asObject(crd["spec"]);
  const [version] = versions as readonly object[];
  return { ...crd, spec: { ...spec, versions: [{ ...version, subresources: { status: {} } }] } };
};

let cluster: Installed;
let client: Client;
let kinds: Discovery;
beforeAll(async () => {
  const manifests = installation({ blueprints: { defaultServiceAccount: "ops" } }).map(withStatus);
  cluster = await installed([], undefined, undefined, { manifests, user: USER });
  // What it may do as installed, and no more.
  client = await cluster.as(USER, 8);
  kinds = discovery(cluster.api);
});
afterAll(() => cluster.end());

const placeOf = async ({ apiVersion, kind, metadata: { name, namespace } }: Manifest) => {
  const resource = await kinds.resource(apiVersion, kind);
  if (E.isLeft(resource)) throw new Error(resource.left.message);
  return { resource: resource.right, name, ...(namespace === undefined ? {} : { namespace }) };
};

const create = async (...manifests: readonly Manifest[]): Promise<void> => {
  for (const body of manifests) {
    const { name: _, ...place } = await placeOf(body);
    const made = await cluster.api.send({ verb: "create", ...place, body, fieldManager: "somebody" });
    if (E.isLeft(made)) throw new Error(made.left.message);
  }
};

const read = async (manifest: Manifest): Promise<KubeObject | undefined> => {
  const found = await cluster.api.send({ verb: "get", ...(await placeOf(manifest)) });
  return E.isRight(found) ? found.right : undefined;
};

const run = (namespace: string): Manifest => within(namespace, actionSetRef("run"));
const stateOf = async (namespace: string): Promise<unknown> =>
  asObject((await read(run(namespace)))?.["status"])["state"];

const journals = async (namespace: string): Promise<number> => {
  const { name: _, ...place } = await placeOf(within(namespace, secret("journal")));
  const list = await cluster.api.send({ verb: "list", ...place });
  return E.isRight(list) ? (list.right["items"] as readonly unknown[]).length : 0;
};

const ops = (name: string, args: object): object => ({
  func: "KubeOps",
  name,
  args: { namespace: "{{ .Object.metadata.namespace }}", ...args },
});
const reference = (name: string): object => ({
  apiVersion: "v1",
  resource: "configmaps",
  name,
  namespace: "{{ .Object.metadata.namespace }}",
});

const recipe = blueprint("recipe", {
  do: {
    outputArtifacts: { made: { keyValue: { name: "{{ .Phases.make.Output.name }}" } } },
    phases: [
      ops("make", { operation: "create", spec: "{apiVersion: v1, kind: ConfigMap, metadata: {name: made}}" }),
      ops("drop", { operation: "delete", objectReference: reference("dropped") }),
    ],
    deferPhase: ops("clean", { operation: "patch", objectReference: reference("made"), spec: "{data: {is: clean}}" }),
  },
  wait: {
    phases: [
      {
        func: "WaitV2",
        name: "wait",
        args: {
          timeout: "1m",
          conditions: { allOf: [{ condition: "{{ .data.go }}", objectReference: reference("subject") }] },
        },
      },
    ],
  },
});

let last = 0;
const prepared = async (action: string): Promise<string> => {
  last += 1;
  const namespace = `n${last}`;
  await create(namespaceOf(namespace));
  await create(
    ...[
      serviceAccount("ops"),
      roleBinding("ops", "ClusterRole", "admin", `${namespace}/ops`),
      configMap("subject"),
      configMap("dropped"),
      recipe,
      actionSet("run", actionOn(action, "recipe")),
    ].map((one) => within(namespace, one)),
  );
  return namespace;
};

const controllerOf = (api: Client, namespace: string): Work =>
  startWork(
    { api, streams: api, log: jsonLog("error"), watchdog: watchdog() },
    { watchNamespaces: [namespace], concurrency: 4, maxRunningActions: 100 },
    SETTINGS,
  );

const changing: Subject<object> = {
  start: controllerOf,
  prepare: () => prepared("do"),
  ended: async (namespace) => {
    const { metadata, status } = (await read(run(namespace))) as ActionSetObject;
    const isOver = ["complete", "failed"].includes(status?.state) && (metadata.finalizers ?? []).length === 0;
    if (!isOver || (await journals(namespace)) > 0) return undefined;
    const [made, dropped] = await Promise.all(
      ["made", "dropped"].map((name) => read(within(namespace, configMap(name)))),
    );
    const { state, error, actions } = status;
    const text = JSON.stringify(
      { state, error, actions, data: made?.["data"], isDropped: dropped === undefined },
      (key, value: unknown) => (key === "lastTransitionTime" ? undefined : value),
    );
    return JSON.parse(text.replaceAll(namespace, "here")) as object;
  },
};

const ended = async (namespace: string): Promise<object | undefined> => {
  await expect.poll(() => changing.ended(namespace)).toBeDefined();
  return changing.ended(namespace);
};

it("is used: the finalizer is there before the status, and until the status says that it has ended", async () => {
  const writes: string[] = [];
  const record: Hook = (request, next) => {
    const { purpose = "", verb } = request;
    const isOwn = verb === "mergePatch" && request.resource.plural === "actionsets";
    if (isOwn) writes.push(`${purpose}${request.subresource === undefined ? "" : `/${request.subresource}`}`);
    return next(request);
  };
  const namespace = await prepared("do");
  onTestFinished(controllerOf({ ...client, send: (request) => record(request, client.send) }, namespace).stop);
  expect(await ended(namespace)).toMatchObject({
    state: "complete",
    actions: [{ artifacts: { made: { keyValue: { name: "made" } } }, deferPhase: { state: "complete" } }],
    data: { is: "clean" },
    isDropped: true,
  });
  expect(writes.slice(0, 2)).toEqual(["take-up", "take-up/status"]);
  expect(writes.slice(-2)).toEqual(["end/status", "release"]);
  expect(new Set(writes.slice(2, -2))).toEqual(new Set(["record/status"]));
});

const CRASHES = share({ npmTest: 24, ci: 24 });

it(`recipes end the same, and do each thing once, wherever the controller crashes${showShare("crash", CRASHES)}`, async () => {
  const { wrong, runs } = await crashEverywhere(client, changing, CRASHES);
  expect(wrong).toEqual([]);
  expect(runs).toBeGreaterThan(0);
}, 3_600_000);

it("a user who may write it does not say what has become of an ActionSet", async () => {
  const namespace = await prepared("do");
  const rule = { apiGroups: ["cr.kanister.io"], resources: ["actionsets", "actionsets/status"], verbs: ["*"] };
  await create(within(namespace, role("dev", rule)));
  await cluster.kubectl("create", "rolebinding", "dev", "--role=dev", "--user=dev", "-n", namespace);
  const complaint = async (state: string): Promise<string> => {
    const patch = JSON.stringify({ status: { state } });
    const args = ["patch", "actionset", "run", "--subresource=status", "--type=merge", `-p=${patch}`, "--as=dev"];
    return (await kubectlWith({ kubeconfig: cluster.controlPlane.kubeconfig }, ...args, "-n", namespace)).stderr;
  };
  await expect.poll(() => complaint("complete")).toContain("only the controller of Janus writes the status");
  expect(await stateOf(namespace)).toBeUndefined();
});

it("an ActionSet that another controller was running is abandoned all the same", async () => {
  const namespace = await prepared("do");
  const kubeconfig = await cluster.controlPlane.userKubeconfig(USER);
  const at = ["-n", namespace, "--kubeconfig", kubeconfig];
  const body = { status: { state: "running" } };
  await client.send({
    verb: "mergePatch",
    ...(await placeOf(run(namespace))),
    subresource: "status",
    body,
    fieldManager: "kanister",
  });
  expect(await janus("actionset", "abandon", "run", ...at)).toMatchObject({ code: 0, stderr: "" });
  expect(await stateOf(namespace)).toBe("failed");
});

describe("a definition that gets or loses it while an ActionSet runs", () => {
  const ours = kanisterCrds.find(({ metadata }) => asObject(metadata)["name"] === DEFINITION) as unknown as KubeObject;

  it.each([
    ["loses", ours],
    ["gets", withStatus(ours)],
  ])(
    "%s: it goes on, and ends",
    async (_, definition) => {
      const namespace = await prepared("wait");
      onTestFinished(controllerOf(client, namespace).stop);
      await expect.poll(() => stateOf(namespace)).toBe("running");
      const { stderr } = await kubectlWith(
        { kubeconfig: cluster.controlPlane.kubeconfig, stdin: JSON.stringify(definition) },
        "replace",
        "-f",
        "-",
      );
      expect(stderr).toBe("");
      await cluster.kubectl(
        "patch",
        "configmap",
        "subject",
        "-n",
        namespace,
        "--type=merge",
        `-p={"data":{"go":"true"}}`,
      );
      await expect.poll(() => stateOf(namespace)).toBe("complete");
      await expect.poll(async () => (await read(run(namespace)))?.metadata.finalizers ?? []).toEqual([]);
    },
    90_000,
  );
});
