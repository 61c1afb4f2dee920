// A recipe survives a crash before and after each of its requests, each lost response, and each answer that is wrong and passes.
import { mkdtemp, readFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { expect, it } from "vitest";
import { answerEverywhere, crashEverywhere, type Subject } from "../crash/any-controller.ts";
import { administrator } from "../fixtures/administrator.ts";
import { within } from "../fixtures/manifests.ts";
import type { RunningNode } from "../fixtures/node/start-node.ts";
import { share, showShare } from "../fixtures/sample.ts";
import {
  type ActionSetObject,
  actionOn,
  actionSet,
  actionSetRef,
  blueprint,
  client,
  controllerOf,
  isOver,
  nodeFor,
  prepared,
} from "./world.ts";

/** Commands say here that they have run, by namespace. */
const runs = await mkdtemp(path.join(os.tmpdir(), "janus-runs-"));

const nodes = new Map<string, RunningNode>();

const task = (name: string, script: string): object => ({
  func: "KubeTask",
  name,
  args: {
    image: "busybox",
    command: ["sh", "-c", `echo ${name} >> ${runs}/{{ .Object.metadata.namespace }}; ${script}`],
  },
});

const recipe = blueprint("dump", {
  backup: {
    outputArtifacts: { dump: { keyValue: { id: "{{ .Phases.dump.Output.id }}" } } },
    phases: [
      task("dump", `echo '###Phase-output###: {"key":"id","value":"b1"}'`),
      task("upload", 'test "{{ .Phases.dump.Output.id }}" = b1'),
    ],
    deferPhase: task("cleanUp", "true"),
  },
});

/** The recipe; what is left of it, and how often each command has run. */
const dump: Subject<object> = {
  start: controllerOf,
  prepare: async () => {
    const namespace = await prepared();
    nodes.set(namespace, await nodeFor(namespace));
    await administrator.create(within(namespace, recipe));
    await administrator.create(within(namespace, actionSet("run", actionOn("backup", "dump"))));
    return namespace;
  },
  ended: async (namespace) => {
    const found = (await administrator.read(within(namespace, actionSetRef("run")))) as ActionSetObject | undefined;
    if (found === undefined || !isOver(found)) return undefined;
    const [pods, secrets] = await Promise.all(
      ["Pod", "Secret"].map((kind) => administrator.list({ apiVersion: "v1", kind }, namespace)),
    );
    // They go with what they belong to.
    if ((pods ?? []).length + (secrets ?? []).length > 0) return undefined;
    await nodes.get(namespace)?.stop();
    const { state, error, actions } = found.status;
    const commands = await readFile(path.join(runs, namespace), "utf8");
    return JSON.parse(
      JSON.stringify({ state, error, actions, commands }, (key, value: unknown) =>
        key === "lastTransitionTime" ? undefined : value,
      ),
    ) as object;
  },
};

const SHARE = share({ npmTest: 24, ci: 6 });

it(`a recipe ends the same, and runs each command once, wherever its controller crashes${showShare("crash", SHARE)}`, async () => {
  const { wrong, runs: all } = await crashEverywhere(client, dump, SHARE);
  expect(wrong).toEqual([]);
  expect(all).toBeGreaterThan(0);
}, 1_800_000);

it(`a recipe ends the same whatever passing trouble answers its requests${showShare("answer", 8 * SHARE)}`, async () => {
  const { wrong, runs: all } = await answerEverywhere(client, dump, 8 * SHARE);
  expect(wrong).toEqual([]);
  expect(all).toBeGreaterThan(0);
}, 1_800_000);
