// A recipe with KubeExec runs its command at most once wherever its controller crashes, and never claims what it does not know.
import { mkdtemp, readFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { expect, it } from "vitest";
import { crashEverywhere, type Subject } from "../crash/any-controller.ts";
import { administrator } from "../fixtures/administrator.ts";
import { within } from "../fixtures/manifests.ts";
import type { RunningNode } from "../fixtures/node/start-node.ts";
import { share, showShare } from "../fixtures/sample.ts";
import { type ActionSetObject, actionOn, actionSet, actionSetRef, blueprint } from "./objects.ts";
import { client, controllerOf, isOver, nodeFor, prepared } from "./world.ts";

const runs = await mkdtemp(path.join(os.tmpdir(), "janus-exec-runs-"));
const nodes = new Map<string, RunningNode>();

const recipe = (namespace: string, onInterrupted: string) =>
  blueprint("recipe", {
    do: {
      outputArtifacts: { dump: { keyValue: { id: "{{ .Phases.dump.Output.id }}" } } },
      phases: [
        {
          func: "KubeExec",
          name: "dump",
          onInterrupted,
          args: {
            namespace,
            pod: "db-0",
            command: [
              "sh",
              "-c",
              `echo run >> ${runs}/${namespace}; echo '###Phase-output###: {"key":"id","value":"b1"}'`,
            ],
          },
        },
      ],
    },
  });

/** @param isRight says of how often the command has run, and what is told */
const subject = (
  onInterrupted: string,
  isRight: (count: number, told: { readonly state: string; readonly message: string; readonly id: string }) => boolean,
): Subject<string> => ({
  start: controllerOf,
  prepare: async () => {
    const namespace = await prepared();
    nodes.set(namespace, await nodeFor(namespace));
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "db-0" } };
    const spec = { terminationGracePeriodSeconds: 0, containers: [{ name: "db", image: "busybox" }] };
    await administrator.create(within(namespace, { ...pod, spec }));
    const phase = async () =>
      ((await administrator.read(within(namespace, pod))) as { readonly status?: { readonly phase?: string } }).status
        ?.phase;
    await expect.poll(phase).toBe("Running");
    await administrator.create(within(namespace, recipe(namespace, onInterrupted)));
    await administrator.create(within(namespace, actionSet("run", actionOn("do", "recipe"))));
    return namespace;
  },
  ended: async (namespace) => {
    const found = (await administrator.read(within(namespace, actionSetRef("run")))) as ActionSetObject | undefined;
    if (found === undefined || !isOver(found)) return undefined;
    if ((await administrator.list({ apiVersion: "v1", kind: "Secret" }, namespace)).length > 0) return undefined;
    await nodes.get(namespace)?.stop();
    const { state, error, actions } = found.status;
    const commands = await readFile(path.join(runs, namespace), "utf8").catch(() => "");
    const told = {
      state,
      message: error?.message ?? "",
      id: actions[0]?.artifacts?.["dump"]?.keyValue["id"] ?? "",
    };
    const count = commands.split("\n").length - 1;
    return isRight(count, told) ? "right" : `${count} runs, ${JSON.stringify(told)}`;
  },
});

const SHARE = share({ npmTest: 24, ci: 24 });

it.each<[string, Subject<string>]>([
  [
    "at most once",
    subject("Fail", (count, { state, message, id }) =>
      state === "complete"
        ? count === 1 && id === "b1"
        : count <= 1 && message.includes("nobody can tell whether it has run"),
    ),
  ],
  [
    "at least once with Rerun",
    subject("Rerun", (count, { state, id }) => count >= 1 && state === "complete" && id === "b1"),
  ],
])(
  `a command in a container runs %s, wherever the controller crashes${showShare("crash", SHARE)}`,
  async (_, one) => {
    const { wrong, runs: all } = await crashEverywhere(client, one, SHARE);
    expect(wrong).toEqual([]);
    expect(all).toBeGreaterThan(0);
  },
  1_800_000,
);
