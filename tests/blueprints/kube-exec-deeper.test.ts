// KubeExec and KubeExecAll further: Secrets, crashes, trouble, and what is told when a command cannot run.
import { createHash, randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import type { Api, PodStreams } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it, onTestFinished } from "vitest";
import { administrator, type Manifest } from "../fixtures/administrator.ts";
import { eventsOf } from "../fixtures/events.ts";
import { secret, within } from "../fixtures/manifests.ts";
import { exec, kando, pod, runningPod } from "./running-pods.ts";
import { type ActionSetObject, actionOn, actionSet, actionSetRef, blueprint } from "./objects.ts";
import { client, controllerOf, isOver, nodeFor, place, prepared } from "./world.ts";

describe("KubeExec", () => {
  it("hands words that depend on Secrets on to the process: no URL, Pod, status or event has them", async () => {
    const requests: string[] = [];
    const streams: PodStreams["exec"] = (request, signal) => {
      requests.push(JSON.stringify({ ...request, stdin: undefined }));
      return client.exec(request, signal);
    };
    const namespace = await prepared();
    const node = await nodeFor(namespace);
    onTestFinished(node.stop);
    onTestFinished(controllerOf({ ...client, exec: streams }, namespace).stop);
    await runningPod(namespace, "db-0", "db");
    const password = `it's "marked"-4711 $(id) \\`;
    const hash = createHash("sha256").update(password).digest("hex");
    for (const manifest of [
      secret("credentials", { password }),
      blueprint("recipe", {
        do: {
          secretNames: ["credentials"],
          phases: [
            {
              func: "KubeExec",
              name: "dump",
              args: {
                namespace,
                pod: "db-0",
                command: [
                  "sh",
                  "-c",
                  `test -z "$(cat)" && printf %s "$1" | sha256sum | grep -q ^${hash} && ${kando("ok", "yes")}`,
                  "name",
                  "{{ .Secrets.credentials.Data.password | toString }}",
                ],
              },
            },
          ],
        },
      }),
      actionSet("run", actionOn("do", "recipe", { secrets: { credentials: { name: "credentials", namespace: "" } } })),
    ])
      await administrator.create(within(namespace, manifest));
    const read = async () => (await administrator.read(within(namespace, actionSetRef("run")))) as ActionSetObject;
    await expect.poll(async () => isOver(await read())).toBe(true);
    const { status } = await read();
    expect(status.error).toBeUndefined();
    expect(status.actions[0]?.phases[0]?.output).toEqual({ ok: "yes" });
    expect(requests).toHaveLength(1);
    const objects = await administrator.list({ apiVersion: "v1", kind: "Pod" }, namespace);
    for (const seen of [requests, objects, status, await eventsOf(namespace, "run")])
      expect(JSON.stringify(seen)).not.toContain("4711");
  });

  it("says what to do when the command cannot run", async () => {
    const here = await place();
    const { namespace, create } = here;
    await runningPod(namespace, "db-0", "db", "sidecar");
    await create({
      ...pod("off", "db"),
      spec: { nodeSelector: { no: "where" }, containers: [{ name: "db", image: "busybox" }] },
    });
    const failing = (name: string, args: object): object =>
      blueprint(name, { do: { phases: [exec("dump", namespace, "true", args)] } });
    const cases: readonly (readonly [string, object, RegExp])[] = [
      ["two", {}, /Pod \S+\/db-0 has "db", "sidecar": name one of them in args\.container$/],
      ["other", { container: "web" }, /there is no container "web": Pod \S+\/db-0 has "db", "sidecar"$/],
      ["absent", { pod: "db-1" }, /Pod \S+\/db-1 not found$/],
      ["pending", { pod: "off" }, /Pod \S+\/off does not run yet \(.+\): begin this phase when it runs/],
      [
        "program",
        { container: "db", command: ["no-such-program"] },
        /container "db": the command cannot be run: .*no-such-program/,
      ],
    ];
    for (const [name, args] of cases)
      await create(failing(name, args) as Manifest, actionSet(name, actionOn("do", name)));
    for (const [name, , message] of cases) expect((await here.over(name)).status.error?.message).toMatch(message);
  });

  it("is refused before anything runs where the ServiceAccount may not execute commands", async () => {
    const here = await place();
    const { namespace, create } = here;
    await create({ apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "nobody" } });
    await create(blueprint("recipe", { do: { phases: [exec("dump", namespace, "true")] } }), {
      ...actionSet("run", actionOn("do", "recipe")),
      metadata: { name: "run", labels: { "janus.io/service-account": "nobody" } },
    });
    expect((await here.over("run")).status.error?.message).toContain(
      `may not create pods/exec in namespace ${namespace} (phase dump)`,
    );
  });
});

it("KubeExecAll runs a command in all containers of all Pods: outputs in the given order, and each failure by its place", async () => {
  const here = await place();
  const { namespace, create } = here;
  await runningPod(namespace, "db-0", "a", "b");
  await runningPod(namespace, "db-1", "a", "b");
  const all = (script: string): object => ({
    func: "KubeExecAll",
    name: "all",
    args: { namespace, pods: "db-1 db-0", containers: "a b", command: ["sh", "-c", script] },
  });
  const mark = `printf '###Phase-output###: {"key":"%s","value":"%s"}\\n'`;
  await create(
    blueprint("good", {
      do: { phases: [all(`${mark} last "$WHERE"; ${mark} "$(echo $WHERE | tr -c 'a-z0-9\\n' _)" yes`)] },
    }),
    blueprint("bad", {
      do: { phases: [all(`case "$WHERE" in db-0/*) ;; *) echo $WHERE is full >&2; exit 4;; esac`)] },
    }),
    actionSet("good", actionOn("do", "good")),
    actionSet("bad", actionOn("do", "bad")),
  );
  expect((await here.over("good")).status.actions[0]?.phases[0]?.output).toEqual({
    last: "db-0/b",
    db_0_a: "yes",
    db_0_b: "yes",
    db_1_a: "yes",
    db_1_b: "yes",
  });
  expect((await here.over("bad")).status.error?.message).toBe(
    `phase all: ${["a", "b"].map((one) => `Pod ${namespace}/db-1, container "${one}": the command exited with 4; last lines: db-1/${one} is full`).join("; ")}`,
  );
});

/** A namespace with a recipe whose one command notes each of its runs. */
const counting = async (
  more: object = {},
  wait = "",
): Promise<{
  readonly namespace: string;
  readonly runs: () => Promise<number>;
  readonly ended: () => Promise<ActionSetObject["status"]>;
}> => {
  const namespace = await prepared();
  const node = await nodeFor(namespace);
  onTestFinished(node.stop);
  await runningPod(namespace, "db-0", "db");
  const file = path.join(os.tmpdir(), `janus-exec-${randomUUID()}`);
  const phase = { ...exec("dump", namespace, `echo run >> ${file}; ${wait.replaceAll("FILE", file)}`), ...more };
  await administrator.create(within(namespace, blueprint("recipe", { do: { phases: [phase] } })));
  await administrator.create(within(namespace, actionSet("run", actionOn("do", "recipe"))));
  const read = async () => (await administrator.read(within(namespace, actionSetRef("run")))) as ActionSetObject;
  return {
    namespace,
    runs: async () => (await readFile(file, "utf8").catch(() => "")).split("\n").length - 1,
    ended: async () => {
      await expect.poll(async () => isOver(await read())).toBe(true);
      return (await read()).status;
    },
  };
};

const answering = (...answers: readonly Parameters<typeof E.left>[0][]): Api & PodStreams => {
  const left = [...answers];
  const streams: PodStreams["exec"] = async function* (request, signal) {
    const answer = left.shift();
    if (answer === undefined) yield* client.exec(request, signal);
    else yield E.left(answer as never);
  };
  return { ...client, exec: streams };
};

const refused = (code: number, reason: string) => ({ type: "refused", code, reason, message: reason, causes: [] });

describe("a command in a container", () => {
  it("is tried again after trouble with which it has certainly not been started, and runs once", async () => {
    const { namespace, runs, ended } = await counting();
    const api = answering(refused(429, "TooManyRequests"), refused(503, "ServiceUnavailable"), {
      type: "unanswered",
      cause: "never-sent",
      message: "no connection",
    });
    onTestFinished(controllerOf(api, namespace).stop);
    expect((await ended()).state).toBe("complete");
    expect(await runs()).toBe(1);
  });

  it.each([
    ["Fail", "failed", 0],
    ["Rerun", "complete", 1],
  ])("whose connection is lost may have run: %s", async (onInterrupted, state, count) => {
    const { namespace, runs, ended } = await counting({ onInterrupted });
    const api = answering({ type: "unanswered", cause: "connection", message: "socket hang up" });
    onTestFinished(controllerOf(api, namespace).stop);
    const status = await ended();
    expect(status.state).toBe(state);
    expect(status.error?.message ?? "").toMatch(
      state === "failed" ? /nobody can tell whether the command has run \(socket hang up\)/ : /^$/,
    );
    expect(await runs()).toBe(count);
  });

  it.each([
    ["Fail", "failed", 1],
    ["Rerun", "complete", 2],
  ])(
    "that was on its way when the controller ended is not started again by itself: %s",
    async (onInterrupted, state, count) => {
      const { namespace, runs, ended } = await counting(
        { onInterrupted },
        `test "$(wc -l < FILE)" -gt 1 || sleep 3600`,
      );
      const first = controllerOf(client, namespace);
      await expect.poll(runs).toBe(1);
      await first.stop();
      onTestFinished(controllerOf(client, namespace).stop);
      const status = await ended();
      expect(status.state).toBe(state);
      expect(await runs()).toBe(count);
    },
  );
});
