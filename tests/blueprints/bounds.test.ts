// Timeouts, retries and the order of actions.
import { appendFile, mkdtemp, readFile, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { administrator } from "../fixtures/administrator.ts";
import { eventsOf } from "../fixtures/events.ts";
import { within } from "../fixtures/manifests.ts";
import { actionOn, actionSet, type ActionSetObject, actionSetRef, blueprint } from "./objects.ts";
import { client, controllerOf, nodeFor, place, prepared } from "./world.ts";

let directory: string;
beforeAll(async () => void (directory = await mkdtemp(path.join(os.tmpdir(), "janus-bounds-"))));

const task = (name: string, script: string, more: object = {}): object => ({
  func: "KubeTask",
  name,
  args: { image: "busybox", command: ["sh", "-c", script] },
  ...more,
});

/** A recipe of these phases, in its end. */
const ended = async (phases: readonly object[], deferPhase?: object, spec: object = {}) => {
  const at = await place();
  await at.create(blueprint("recipe", { do: { phases, ...(deferPhase && { deferPhase }) } }));
  const run = actionSet("run", actionOn("do", "recipe"));
  await at.create({ ...run, spec: { ...(run["spec"] as object), ...spec } });
  return { ...at, object: await at.over("run") };
};

const file = async (name: string): Promise<string> => {
  const made = path.join(directory, name);
  await writeFile(made, "");
  return made;
};

describe("a phase that fails", () => {
  it("is executed again as often as it says, each time in a Pod of its own, and is complete when it succeeds", async () => {
    const runs = await file("retried");
    const three = `echo '###Phase-output###: {"key":"n","value":"three"}'`;

    const { object, names, namespace } = await ended([
      task("flaky", `echo run >> ${runs}; test $(wc -l < ${runs}) -eq 3 && ${three}`, {
        retry: { limit: 5, backoff: "100ms" },
      }),
    ]);
    expect(object.status).toMatchObject({
      state: "complete",
      actions: [{ phases: [{ name: "flaky", state: "complete", attempts: 3, output: { n: "three" } }] }],
    });
    expect(await readFile(runs, "utf8")).toBe("run\nrun\nrun\n");
    expect(await names("v1", "Pod")).toEqual([]);
    const told = async () => (await eventsOf(namespace, "run")).map(({ reason }) => reason);
    await expect.poll(told).toContain("Retrying Phase");
  });

  it("fails when it has been executed so often", async () => {
    const runs = await file("failing");
    const { object } = await ended([
      task("broken", `echo run >> ${runs}; exit 3`, { retry: { limit: 1, backoff: "10ms" } }),
    ]);
    expect(object.status.state).toBe("failed");
    expect(object.status.error?.message).toMatch(/^phase broken: Pod .* exited with 3/u);
    expect(await readFile(runs, "utf8")).toBe("run\nrun\n");
  });
});

describe("a phase whose Pod somebody deletes", () => {
  const OFTEN = { limit: 0, backoff: "10ms" };
  it.each([
    ["fails", "phases", {}, "failed", 1],
    ["is executed again with onInterrupted: Rerun", "phases", { onInterrupted: "Rerun" }, "complete", 2],
    ["is executed again if it is the deferPhase", "deferPhase", {}, "complete", 2],
  ] as const)("%s", async (_, field, more, state, count) => {
    const runs = await file(`${field}-${count}-deleted`);
    const { create, over, names, namespace } = await place();
    const phase = task("only", `echo run >> ${runs}; test $(wc -l < ${runs}) -gt 1 || sleep 600`, {
      retry: OFTEN,
      ...more,
    });
    await create(
      blueprint("recipe", {
        do: field === "phases" ? { phases: [phase] } : { phases: [task("first", "true")], deferPhase: phase },
      }),
      actionSet("run", actionOn("do", "recipe")),
    );
    await expect.poll(() => readFile(runs, "utf8")).toBe("run\n");
    const [name = ""] = await names("v1", "Pod");
    await administrator.remove(within(namespace, { apiVersion: "v1", kind: "Pod", metadata: { name } }));
    const { status } = await over("run");
    expect(status.state).toBe(state);
    expect(status.error?.message ?? "").toMatch(
      state === "failed" ? /^phase only: Pod .* (disappeared|was deleted)/u : /^$/u,
    );
    expect(await readFile(runs, "utf8")).toBe("run\n".repeat(count));
  });
});

describe("a phase that takes longer than it may", () => {
  it("is ended, says what it was at, and leaves no Pod; its deferPhase runs", async () => {
    const { object, names } = await ended(
      [task("long", "sleep 600", { timeout: "6s" }), task("never", "true")],
      task("cleanUp", "true"),
    );
    expect(object.status).toMatchObject({
      state: "failed",
      actions: [{ phases: [{ state: "failed" }, { state: "pending" }], deferPhase: { state: "complete" } }],
    });
    expect(object.status.error?.message).toMatch(
      /^phase long: it was not done within 6s: Pod \S+\/kanister-job-\w+ is running$/u,
    );
    await expect.poll(() => names("v1", "Pod")).toEqual([]);
  });

  it.each([
    ["by itself", { timeout: "20s" }, {}],
    ["by its ActionSet", {}, { timeout: "20s" }],
  ])(
    "has not where it has ended in time, bounded %s, though its controller has ended before, and the next one comes late",
    async (_, more, spec) => {
      const namespace = await prepared();
      onTestFinished((await nodeFor(namespace)).stop);
      const ran = await file(`in-time-${Object.keys(spec).length}`);
      const output = `echo '###Phase-output###: {"key":"a","value":"b"}'`;
      const only = task("only", `echo >> ${ran}; sleep 2; ${output}`, more);
      await administrator.create(within(namespace, blueprint("recipe", { do: { phases: [only] } })));
      const run = actionSet("run", actionOn("do", "recipe"));
      await administrator.create(within(namespace, { ...run, spec: { ...(run["spec"] as object), ...spec } }));
      const first = controllerOf(client, namespace);
      await expect.poll(() => readFile(ran, "utf8")).not.toBe("");
      await first.stop();
      await setTimeout(21_000);
      onTestFinished(controllerOf(client, namespace).stop);
      const status = async () =>
        ((await administrator.read(within(namespace, actionSetRef("run")))) as ActionSetObject).status;
      await expect.poll(async () => (await status()).state).not.toBe("running");
      expect(await status()).toMatchObject({ state: "complete", actions: [{ phases: [{ output: { a: "b" } }] }] });
    },
  );

  it("is bounded by the ActionSet, too", async () => {
    const { object } = await ended([task("long", "sleep 600"), task("never", "true")], task("cleanUp", "true"), {
      timeout: "6s",
    });
    expect(object.status).toMatchObject({
      state: "failed",
      error: {
        message: expect.stringMatching(
          /^the ActionSet was not done within 6s: phase long: Pod \S+\/kanister-job-\w+ is running$/u,
        ) as string,
      },
      actions: [{ phases: [{ state: "failed" }, { state: "pending" }], deferPhase: { state: "complete" } }],
    });
  });

  it("has not: what is wrong with a bound is said before anything runs", async () => {
    const { object } = await ended(
      [task("only", "true", { timeout: "5x", retry: { limit: 101, backoff: "-1s" }, onInterrupted: "Again" })],
      undefined,
      { executionMode: "Serial", timeout: "0s" },
    );
    expect(object.status.error?.message).toBe(
      'nothing was run: spec.executionMode is Parallel or Sequential, not "Serial"; ' +
        'spec.timeout is no duration such as 90s or 1h30m: "0s"; ' +
        'phase only: timeout is no duration such as 90s or 1h30m: "5x"; ' +
        'phase only: retry.backoff is no duration such as 90s or 1h30m: "-1s"; ' +
        "phase only: retry.limit is between 0 and 100, not 101; " +
        'phase only: onInterrupted is Fail or Rerun, not "Again"',
    );
  });
});

it("actions are executed one after the other where the ActionSet says so, and none after one that fails", async () => {
  const runs = await file("sequential");
  const { create, over } = await place();
  const script = (name: string, more = ""): string => `echo ${name} >> ${runs}; sleep 0.3${more}`;
  await create(
    blueprint("recipe", {
      first: { phases: [task("a", script("a")), task("b", script("b"))], deferPhase: task("c", script("c")) },
      second: { phases: [task("d", script("d", "; exit 1"))] },
      third: { phases: [task("e", script("e"))] },
    }),
  );
  const run = actionSet("run", ...["first", "second", "third"].map((name) => actionOn(name, "recipe")));
  await create({ ...run, spec: { ...(run["spec"] as object), executionMode: "Sequential" } });
  expect((await over("run")).status).toMatchObject({
    state: "failed",
    actions: [
      { deferPhase: { state: "complete" } },
      { phases: [{ state: "failed" }] },
      { phases: [{ state: "pending" }] },
    ],
  });
  expect(await readFile(runs, "utf8")).toBe("a\nb\nc\nd\n");
});

it("an edit of the spec after the start changes nothing, and is told once", async () => {
  const go = path.join(directory, "go");
  const { create, over, read, namespace } = await place();
  await create(
    blueprint("recipe", { do: { phases: [task("only", `until test -e ${go}; do sleep 0.1; done`)] }, other: {} }),
    actionSet("run", actionOn("do", "recipe")),
  );
  await expect.poll(async () => (await read("run")).status?.state).toBe("running");
  await administrator.patch(within(namespace, { ...actionSetRef("run"), spec: { actions: [{ name: "other" }] } }));
  const told = async () => (await eventsOf(namespace, "run")).filter(({ reason }) => reason === "SpecIgnored").length;
  await expect.poll(told).toBe(1);
  await appendFile(go, "");
  expect((await over("run")).status).toMatchObject({ state: "complete", actions: [{ name: "do" }] });
  expect(await told()).toBe(1);
});

it("no more actions are executed than there may be: the rest wait, the oldest first, and say so, over a restart as well", async () => {
  const namespace = await prepared();
  const node = await nodeFor(namespace);
  onTestFinished(node.stop);
  const go = path.join(directory, "queue-go");
  const runs = await file("queue");
  const command = `echo {{ .Options.name }} >> ${runs}; until test -e ${go}; do sleep 0.05; done`;
  await administrator.create(within(namespace, blueprint("recipe", { do: { phases: [task("only", command)] } })));
  const names: string[] = [];
  const stateOf = async (name: string): Promise<unknown> => {
    const found = await administrator.read(within(namespace, actionSetRef(name)));
    const { state, conditions = [] } = (found?.["status"] ?? {}) as Partial<ActionSetObject["status"]>;
    return state === "pending" ? conditions.find(({ type }) => type === "Reconciling")?.reason : state;
  };
  const states = () => Promise.all(names.map(stateOf));
  /** Times of creation are whole seconds. */
  const created = async (name: string, actions = 1): Promise<void> => {
    const action = actionOn("do", "recipe", { options: { name } });
    names.push(name);
    await administrator.create(within(namespace, actionSet(name, ...Array.from({ length: actions }, () => action))));
    await setTimeout(1000 - (Date.now() % 1000));
  };
  const first = controllerOf(client, namespace, { maxRunningActions: 2 });
  await created("a");
  await expect.poll(states).toEqual(["running"]);
  await created("b", 2);
  await created("c");
  await expect.poll(states).toEqual(["running", "Queued", "Queued"]);
  await expect.poll(() => readFile(runs, "utf8")).toBe("a\n");
  await first.stop();
  const second = controllerOf(client, namespace, { maxRunningActions: 2 });
  onTestFinished(second.stop);
  await appendFile(go, "");
  await expect.poll(states).toEqual(["complete", "complete", "complete"]);
  expect((await readFile(runs, "utf8")).slice(0, "a\nb\nb\n".length)).toBe("a\nb\nb\n");
});
