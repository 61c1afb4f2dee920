// A recipe for the suites of crashes, wrong answers and trouble: a dump, a phase that is retried, a deferPhase.
import { mkdtemp, readFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import type { Subject } from "../crash/any-controller.ts";
import { administrator } from "../fixtures/administrator.ts";
import { within } from "../fixtures/manifests.ts";
import type { RunningNode } from "../fixtures/node/start-node.ts";
import { type ActionSetObject, actionOn, actionSet, actionSetRef, blueprint } from "./objects.ts";
import { controllerOf, isOver, nodeFor, prepared } from "./world.ts";

/** Commands say here that they have run, by namespace. */
const runs = await mkdtemp(path.join(os.tmpdir(), "janus-runs-"));

const nodes = new Map<string, RunningNode>();

const task = (name: string, script: string, more: object = {}): object => ({
  func: "KubeTask",
  name,
  args: {
    image: "busybox",
    command: ["sh", "-c", `echo ${name} >> ${runs}/{{ .Object.metadata.namespace }}; ${script}`],
  },
  ...more,
});

const recipe = blueprint("dump", {
  backup: {
    outputArtifacts: { dump: { keyValue: { id: "{{ .Phases.dump.Output.id }}" } } },
    phases: [
      task("dump", `echo '###Phase-output###: {"key":"id","value":"b1"}'`),
      // The first time, it fails.
      task(
        "upload",
        `test "{{ .Phases.dump.Output.id }}" = b1 && test $(grep -c upload ${runs}/{{ .Object.metadata.namespace }}) -eq 2`,
        { retry: { limit: 2, backoff: "50ms" } },
      ),
    ],
    deferPhase: task("cleanUp", "true"),
  },
});

/** The recipe; what is left of it, and how often each command has run. */
export const dump: Subject<object> = {
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
    const commands = await readFile(path.join(runs, namespace), "utf8").catch(() => "");
    return JSON.parse(
      JSON.stringify({ state, error, actions, commands }, (key, value: unknown) =>
        key === "lastTransitionTime" ? undefined : value,
      ),
    ) as object;
  },
};
