// The signs of life that operators see of ActionSets: what phases wait for, metrics that count each end and phase once, log lines.
import { vi, expect, it, onTestFinished } from "vitest";
import { administrator } from "../fixtures/administrator.ts";
import { within } from "../fixtures/manifests.ts";
import { actionOn, actionSet, type ActionSetObject, actionSetRef, blueprint } from "./objects.ts";
import { client, controllerOf, isOver, prepared } from "./world.ts";

interface Line {
  readonly level: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>> | undefined;
}

const start = (namespace: string) => {
  const lines: Line[] = [];
  const work = controllerOf(client, namespace, {
    log: (level, message, fields) => void lines.push({ level, message, fields }),
  });
  onTestFinished(work.stop);
  const metric = async (name: string): Promise<readonly string[]> =>
    (await work.registry.metrics()).split("\n").filter((line) => new RegExp(`^${name}[{ ]`, "u").test(line));
  return { lines, metric, stop: work.stop };
};

it("counts each end and each phase once, over a restart, and logs with ActionSet, phase and labels", async () => {
  const namespace = await prepared();
  const configMap = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "ready" } };
  const reference = { apiVersion: "v1", group: "", resource: "configmaps", name: "ready", namespace };
  const create = { operation: "create", namespace, spec: JSON.stringify(configMap) };
  const condition = { condition: '{{ if eq "{$.data.is}" "true" }}true{{ end }}', objectReference: reference };
  const phases = [
    { func: "KubeOps", name: "make", args: create },
    { func: "Wait", name: "wait", args: { timeout: "1m", conditions: { allOf: [condition] } } },
  ];
  await administrator.create(within(namespace, blueprint("ops", { backup: { phases } })));
  const run = actionSet("run", actionOn("backup", "ops"));
  const labels = { "kanister.io/JobID": "job-7", team: "a" };
  await administrator.create(within(namespace, { ...run, metadata: { ...run.metadata, labels } }));
  const seen = async (): Promise<ActionSetObject> =>
    (await administrator.read(within(namespace, actionSetRef("run")))) as ActionSetObject;

  const first = start(namespace);
  await expect.poll(async () => (await seen()).status?.progress.runningPhase).toBe("wait");
  const awaited = async (): Promise<string | undefined> =>
    (await seen()).status?.conditions.find(({ type }) => type === "Reconciling")?.message;
  await expect.poll(awaited).toBe(`phase wait: configmaps ${namespace}/ready: {$.data.is} is not there`);
  await first.stop();
  const second = start(namespace);
  await expect.poll(() => second.metric("janus_actionset_resumed_total")).toEqual(["janus_actionset_resumed_total 1"]);
  await administrator.patch(within(namespace, { ...configMap, data: { is: "true" } }));
  await vi.waitUntil(async () => isOver(await seen()), { timeout: 300_000 });

  const ended = 'janus_actionset_phase_duration_seconds_count{function="%",result="complete"} 1';
  expect(await first.metric("janus_actionset_phase_duration_seconds_count")).toEqual([ended.replace("%", "KubeOps")]);
  expect(await first.metric("janus_actionset_resumed_total")).toEqual(["janus_actionset_resumed_total 0"]);
  await expect
    .poll(() => second.metric("kanister_action_set_resolutions_total"))
    .toContain('kanister_action_set_resolutions_total{resolution="success"} 1');
  expect(await second.metric("janus_actionset_phase_duration_seconds_count")).toEqual([ended.replace("%", "Wait")]);
  expect(await second.metric("janus_actionset_duration_seconds_count")).toEqual([
    'janus_actionset_duration_seconds_count{action="backup",result="complete"} 1',
  ]);
  await expect.poll(() => second.metric("janus_actionsets")).toContain('janus_actionsets{state="complete"} 1');

  const told = [...first.lines, ...second.lines].filter(({ level }) => level === "info");
  expect(told.map(({ message, fields }) => [message, fields?.["phase"]])).toEqual([
    ["Executing action backup", undefined],
    ["Executing phase make", "make"],
    ["Completed phase make", "make"],
    ["Executing phase wait", "wait"],
    ["another process had begun it: it goes on", undefined],
    ["Completed phase wait", "wait"],
    ["Completed action backup", undefined],
    ["Updated ActionSet 'run' Status->complete", undefined],
  ]);
  const asked = [...first.lines, ...second.lines].filter(({ level }) => level === "debug");
  expect(asked).toContainEqual({
    level: "debug",
    message: "read-awaited",
    fields: expect.objectContaining({
      actionSet: `${namespace}/run`,
      verb: "get",
      target: `ConfigMap ${namespace}/ready`,
    }) as object,
  });
  for (const { fields } of told) {
    expect(fields).toMatchObject({ actionSet: `${namespace}/run`, "kanister.io/JobID": "job-7" });
    expect(fields).not.toHaveProperty("team");
  }
});
