// ActionSets of some namespaces are executed by a controller that has its Roles there, and no permission in any other.
import { startWork } from "@janus/blueprints";
import { BlueprintRoles, render } from "@janus/deploy";
import { connect, type Hook, loadConfig } from "@janus/kube";
import { jsonLog, watchdog } from "@janus/runtime/parts";
import type { JsonObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { expect, it, onTestFinished } from "vitest";
import { administrator, type Manifest } from "../fixtures/administrator.ts";
import { userKubeconfig } from "../fixtures/cluster.ts";
import { within } from "../fixtures/manifests.ts";
import { freshNamespace } from "../fixtures/namespaces.ts";
import { actionOn, actionSet, type ActionSetObject, actionSetRef, blueprint } from "./objects.ts";
import { SETTINGS } from "./settings.ts";
import { isOver, prepared } from "./world.ts";

/** What the controller is given for these namespaces, under names of its own: another test may install it, too. */
const rolesIn = (home: string, watchNamespaces: readonly string[]): readonly Manifest[] => {
  const all = render(
    (chart) => new BlueprintRoles(chart, "Roles", { namespace: home, blueprints: { watchNamespaces } }),
  );
  const renamed = JSON.stringify(all).replaceAll(/"name":"janus-blueprints(?=[-"])/gu, `"name":"${home}`);
  return JSON.parse(renamed) as Manifest[];
};

const note: JsonObject = {
  func: "KubeOps",
  name: "note",
  args: {
    operation: "create",
    namespace: "{{ .Object.metadata.namespace }}",
    spec: "{apiVersion: v1, kind: ConfigMap, metadata: {name: made}}",
  },
};

const submit = async (namespace: string): Promise<void> => {
  for (const manifest of [blueprint("ops", { do: { phases: [note] } }), actionSet("run", actionOn("do", "ops"))])
    await administrator.create(within(namespace, manifest));
};

const read = async (namespace: string): Promise<ActionSetObject> =>
  (await administrator.read(within(namespace, actionSetRef("run")))) as ActionSetObject;

it("executes the ActionSets of each of its namespaces, with its Roles there alone, and of no others", async () => {
  const home = await freshNamespace();
  const [shop, bank, other] = [await prepared(), await prepared(), await prepared()];
  const roles = rolesIn(home, [shop, bank]);
  onTestFinished(async () => void (await Promise.all(roles.map((one) => administrator.remove(one)))));
  for (const one of roles) await administrator.create(one);
  for (const namespace of [other, shop, bank]) await submit(namespace);

  const config = loadConfig({}, await userKubeconfig(`system:serviceaccount:${home}:${home}`));
  if (E.isLeft(config)) throw new Error(config.left);
  const places = new Set<string | undefined>();
  const hook: Hook = (request, next) => {
    if (request.verb !== "raw" && request.resource.namespaced) places.add(request.namespace);
    return next(request);
  };
  const client = connect(config.right, { hooks: [hook], writeTimeout: 2000, deadline: 5000 });
  const { stop } = startWork(
    { api: client, streams: client, log: jsonLog("error"), watchdog: watchdog() },
    { watchNamespaces: [shop, bank], concurrency: 4, maxRunningActions: 100 },
    SETTINGS,
  );
  onTestFinished(async () => {
    await stop();
    await client.close();
  });
  for (const namespace of [shop, bank]) await expect.poll(async () => isOver(await read(namespace))).toBe(true);
  expect(await Promise.all([shop, bank, other].map(async (one) => (await read(one)).status?.state))).toEqual([
    "complete",
    "complete",
    undefined,
  ]);
  expect(places).toEqual(new Set([shop, bank]));
});
