// The node that runs Pods for other tests: what kubectl, and so a controller, sees of these is what a kubelet would show.
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import type { Readable } from "node:stream";
import type { KubeObject } from "@janus/kube";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { administrator, connection, type Manifest } from "../fixtures/administrator.ts";
import { controlPlane, kubectl, kubectlWith } from "../fixtures/cluster.ts";
import { deployment } from "../fixtures/manifests.ts";
import { freshNamespace } from "../fixtures/namespaces.ts";
import { type RunningNode, startNode } from "../fixtures/node/start-node.ts";
import { runningWith } from "../fixtures/running.ts";

let namespace = "";
let directory = "";
let node: RunningNode;
beforeAll(async () => {
  namespace = await freshNamespace();
  directory = await mkdtemp(path.join(os.tmpdir(), "janus-node-test-"));
  node = await startNode(connection(controlPlane.kubeconfig), { namespace, labels: { disk: "fast" } });
});
afterAll(async () => {
  await node.stop();
  await rm(directory, { recursive: true });
});

const at = (name: string) => ({ apiVersion: "v1", kind: "Pod", metadata: { name, namespace } });
const shell = (script: string, more: object = {}) => ({
  name: "main",
  image: "busybox",
  command: ["sh", "-c", script],
  ...more,
});
const run = (name: string, container: object, spec: object = {}): Promise<KubeObject> =>
  administrator.create({ ...at(name), spec: { restartPolicy: "Never", containers: [container], ...spec } });
const status = async (name: string): Promise<unknown> => (await administrator.read(at(name)))?.["status"];
const phase = async (name: string): Promise<unknown> => ((await status(name)) as { readonly phase?: string })?.phase;
const waiting = (reason: string) => ({ containerStatuses: [{ state: { waiting: { reason } } }] });
const logs = async (...args: readonly string[]): Promise<string> =>
  (await kubectl("logs", "-n", namespace, ...args)).stdout;
const log = async (name: string): Promise<string> => {
  await expect.poll(() => phase(name)).toMatch(/Succeeded|Failed/u);
  return logs(name);
};

const secret = (name: string, stringData: object): Manifest => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name, namespace },
  stringData,
});

describe("a Pod that ends", () => {
  it("succeeds with exit code 0", async () => {
    await run("well", shell("echo done"));
    await expect
      .poll(() => status("well"))
      .toMatchObject({
        phase: "Succeeded",
        startTime: expect.any(String),
        containerStatuses: [
          { name: "main", containerID: expect.stringContaining("process://"), ready: false, restartCount: 0 },
        ],
      });
    expect(await status("well")).toMatchObject({
      containerStatuses: [{ state: { terminated: { exitCode: 0, reason: "Completed" } } }],
      conditions: expect.arrayContaining([
        expect.objectContaining({ type: "Ready", status: "False", reason: "PodCompleted" }),
        expect.objectContaining({ type: "PodScheduled", status: "True" }),
        expect.objectContaining({ type: "Initialized", status: "True" }),
      ]),
    });
  });

  it("fails with exit code 3", async () => {
    await run("badly", shell("exit 3"));
    await expect
      .poll(() => status("badly"))
      .toMatchObject({
        phase: "Failed",
        containerStatuses: [{ state: { terminated: { exitCode: 3, reason: "Error" } } }],
      });
  });

  it("fails when its command does not exist", async () => {
    await run("no-command", { name: "main", image: "busybox", command: ["no-such-program"] });
    await expect
      .poll(() => status("no-command"))
      .toMatchObject({
        phase: "Failed",
        containerStatuses: [{ state: { terminated: { exitCode: 128, reason: "StartError" } } }],
      });
  });

  it("fails when its time is over", async () => {
    await run("slow", shell("exec sleep 100"), { activeDeadlineSeconds: 10 });
    await expect
      .poll(() => status("slow"))
      .toMatchObject({
        phase: "Failed",
        reason: "DeadlineExceeded",
        containerStatuses: [{ state: { terminated: { exitCode: 143 } } }],
      });
  });

  it("is restarted if it asks for it", async () => {
    await run("again", shell("sleep 0.1; exit 1"), { restartPolicy: "OnFailure" });
    const again = async () =>
      ((await status("again")) as { readonly containerStatuses?: readonly { readonly restartCount: number }[] })
        .containerStatuses?.[0]?.restartCount;
    await expect.poll(again).toBeGreaterThan(1);
    expect(await status("again")).toMatchObject({
      phase: "Running",
      containerStatuses: [{ lastState: { terminated: { exitCode: 1, reason: "Error" } } }],
    });
  });
});

describe("the log", () => {
  it("is followed while the container runs, and ends with it", async () => {
    const script = "echo one; while [ ! -e /data/go ]; do sleep 0.05; done; echo two; printf three";
    const volumeMounts = [{ name: "data", mountPath: "/data" }];
    await run("talks", shell(script, { volumeMounts }), { volumes: [{ name: "data", emptyDir: {} }] });
    await expect.poll(() => phase("talks")).toBe("Running");
    const following: ChildProcessByStdio<null, Readable, null> = spawn(
      controlPlane.binaries.kubectl,
      ["--kubeconfig", controlPlane.kubeconfig, "logs", "-f", "-n", namespace, "talks"],
      { stdio: ["ignore", "pipe", "ignore"] },
    );
    let text = "";
    following.stdout.on("data", (chunk: Buffer) => (text += chunk.toString("utf8")));
    const ended = once(following, "close");
    await expect.poll(() => text).toBe("one\n");
    await kubectl("exec", "-n", namespace, "talks", "--", "touch", "/data/go");
    await ended;
    expect(text).toBe("one\ntwo\nthree");
    expect(await logs("talks")).toBe("one\ntwo\nthree");
  });

  it("is read in part, and with its times", async () => {
    await run("counts", shell("for n in 1 2 3 4; do echo line $n; done"));
    expect(await log("counts")).toBe("line 1\nline 2\nline 3\nline 4\n");
    expect(await logs("counts", "--tail=2")).toBe("line 3\nline 4\n");
    expect(await logs("counts", "--limit-bytes=6")).toBe("line 1");
    expect(await logs("counts", "--timestamps", "--tail=1")).toMatch(/^\d{4}-\S+Z line 4\n$/u);
    expect(await logs("counts", "--since-time=2999-01-01T00:00:00Z")).toBe("");
  });

  it("is of one of two containers that run side by side", async () => {
    await run("pair", {}, { containers: [shell("echo a; sleep 0.5"), { ...shell("echo b"), name: "other" }] });
    await expect.poll(() => phase("pair")).toBe("Succeeded");
    expect([await logs("pair", "-c", "main"), await logs("pair", "-c", "other")]).toEqual(["a\n", "b\n"]);
  });

  it("is refused as long as the container has not started", async () => {
    await run("never", { name: "main", image: "missing.example.com/app:1" });
    await expect.poll(() => status("never")).toMatchObject(waiting("ImagePullBackOff"));
    const { code, stderr } = await kubectl("logs", "-n", namespace, "never");
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('container "main" in pod "never" is waiting to start: ImagePullBackOff'),
    });
    expect(await phase("never")).toBe("Pending");
  });
});

describe("what a container is given", () => {
  it("is environment from values, Secrets, ConfigMaps and fields, and $(VAR) in commands and values", async () => {
    await administrator.create(secret("login", { user: "admin", password: "p" }));
    await administrator.create({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "c", namespace },
      data: { k: "v" },
    });
    const env = [
      { name: "PLAIN", value: "x" },
      { name: "PASSWORD", valueFrom: { secretKeyRef: { name: "login", key: "password" } } },
      { name: "K", valueFrom: { configMapKeyRef: { name: "c", key: "k" } } },
      { name: "OPTIONAL", valueFrom: { secretKeyRef: { name: "nobody", key: "no", optional: true } } },
      { name: "POD", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
      { name: "BOTH", value: "$(PLAIN)$(PASSWORD) $$(PLAIN) $(UNKNOWN)" },
    ];
    const command = ["printf", "%s,", "$(PLAIN)", "$(S_user)", "$(K)", "$(POD)", "$(BOTH)", "$$(PLAIN)", "$(OPTIONAL)"];
    const envFrom = [{ prefix: "S_", secretRef: { name: "login" } }];
    await run("env", { name: "main", image: "busybox", command, env, envFrom });
    expect(await log("env")).toBe("x,admin,v,env,xp $(PLAIN) $(UNKNOWN),$(PLAIN),$(OPTIONAL),");
  });

  it("is awaited, if it is a Secret that is missing", async () => {
    const env = [{ name: "TOKEN", valueFrom: { secretKeyRef: { name: "late", key: "token" } } }];
    await run("early", shell("echo $TOKEN", { env }));
    await expect
      .poll(() => status("early"))
      .toMatchObject({
        phase: "Pending",
        containerStatuses: [
          { state: { waiting: { reason: "CreateContainerConfigError", message: 'secret "late" not found' } } },
        ],
      });
    await administrator.create(secret("late", { token: "t" }));
    expect(await log("early")).toBe("t\n");
  });

  it("is volumes at their mount paths, which its containers share", async () => {
    await administrator.create(secret("files", { key: "hidden" }));
    const mounts = [
      { name: "scratch", mountPath: "/scratch" },
      { name: "files", mountPath: "/etc/files" },
      { name: "scratch", mountPath: "/scratch/other", subPath: "part" },
    ];
    const serviceAccount = "/var/run/secrets/kubernetes.io/serviceaccount";
    const script = `touch /scratch/other/file; ls /scratch; cat /etc/files/key /scratch/made; cut -c1-2 ${serviceAccount}/token; ls ${serviceAccount}`;
    await run(
      "mounts",
      {},
      {
        initContainers: [{ ...shell("printf ,made > /scratch/made"), name: "init", volumeMounts: [mounts[0]] }],
        containers: [shell(script, { volumeMounts: mounts })],
        volumes: [
          { name: "scratch", emptyDir: {} },
          { name: "files", secret: { secretName: "files" } },
        ],
      },
    );
    expect(await log("mounts")).toBe("made\npart\nhidden,madeey\nca.crt\nnamespace\ntoken\n");
  });
});

describe("an init container", () => {
  it("that fails ends the Pod before its containers begin", async () => {
    await run("uninitialized", shell("echo never"), {
      initContainers: [{ ...shell("exit 7"), name: "init" }],
    });
    await expect
      .poll(() => status("uninitialized"))
      .toMatchObject({
        phase: "Failed",
        initContainerStatuses: [{ state: { terminated: { exitCode: 7, reason: "Error" } } }],
        containerStatuses: [{ state: { waiting: { reason: "PodInitializing" } } }],
        conditions: expect.arrayContaining([
          expect.objectContaining({ type: "Initialized", status: "False", reason: "ContainersNotInitialized" }),
        ]),
      });
  });
});

describe("scheduling", () => {
  it("binds a Pod whose nodeSelector fits, and says of any other that it is unschedulable", async () => {
    await run("fast", shell("exit 0"), { nodeSelector: { disk: "fast" } });
    await run("slow-disk", shell("exit 0"), { nodeSelector: { disk: "slow" } });
    await expect.poll(() => phase("fast")).toBe("Succeeded");
    await expect
      .poll(() => status("slow-disk"))
      .toMatchObject({
        phase: "Pending",
        conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable" }],
      });
  });
});

const exec = (stdin: string, ...words: readonly string[]) =>
  kubectlWith({ stdin }, "exec", "-i", "-n", namespace, "runs", "--", ...words);

describe("exec", () => {
  beforeAll(async () => {
    await run("runs", { name: "main", image: "postgres", env: [{ name: "A", value: "b" }] });
    await kubectl("wait", "--for=jsonpath={.status.phase}=Running", "-n", namespace, "pod/runs");
  });

  it("gives the command all of stdin and its end, and keeps stdout and stderr apart", async () => {
    const script = "wc -c; echo problem >&2; echo $A";
    expect(await exec("x".repeat(300_000), "sh", "-c", script)).toEqual({
      stdout: "300000\nb\n",
      stderr: "problem\n",
      code: 0,
    });
  });

  it("ends with the exit code of the command", async () => {
    expect(await exec("", "sh", "-c", "exit 3")).toMatchObject({
      code: 3,
      stderr: "command terminated with exit code 3\n",
    });
  });

  it("fails when there is no such command", async () => {
    expect(await exec("", "no-such-program")).toMatchObject({ stderr: expect.stringContaining("ENOENT") });
  });

  it("fails where no container runs", async () => {
    await run("pulls", { name: "main", image: "missing.example.com/app:1" });
    await expect.poll(() => status("pulls")).toMatchObject(waiting("ImagePullBackOff"));
    expect(await kubectl("exec", "-n", namespace, "pulls", "--", "true")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('container not found ("main")'),
    });
  });
});

it("leaves no process when it has ended", async () => {
  const mark = `${namespace}-left`;
  await run("left", shell(`sh -c ': ${mark}; sleep 1000; :' & exit 0`));
  await expect.poll(() => phase("left")).toBe("Succeeded");
  expect(runningWith(mark)).toEqual([]);
});

describe("a deletion", () => {
  it("gives the process time to end, and then the Pod is gone", async () => {
    const mark = `${namespace}-polite`;
    const last = path.join(directory, "last");
    const script = `: ${mark}; trap 'sleep 0.3; echo words > ${last}; exit 0' TERM; while :; do sleep 0.05; done`;
    await run("polite", shell(script));
    await expect.poll(() => phase("polite")).toBe("Running");
    await kubectl("delete", "pod", "-n", namespace, "polite", "--wait=false");
    await expect.poll(() => administrator.read(at("polite"))).toBeUndefined();
    expect(runningWith(mark)).toEqual([]);
    expect(await readFile(last, "utf8")).toBe("words\n");
  });

  it("kills who does not listen after the grace period", async () => {
    const mark = `${namespace}-deaf`;
    await run("deaf", shell(`: ${mark}; trap '' TERM; while :; do sleep 0.05; done`));
    await expect.poll(() => phase("deaf")).toBe("Running");
    await kubectl("delete", "pod", "-n", namespace, "deaf", "--grace-period=1", "--wait=false");
    await expect.poll(() => administrator.read(at("deaf"))).toBeUndefined();
    expect(runningWith(mark)).toEqual([]);
  });

  it("is not held up by a container that waits", async () => {
    await run("undecided", { name: "main", image: "missing.example.com/app:1" });
    await expect.poll(() => status("undecided")).toMatchObject(waiting("ImagePullBackOff"));
    await administrator.remove(at("undecided"));
    await expect.poll(() => administrator.read(at("undecided"))).toBeUndefined();
  });

  it("without a grace period leaves no process", async () => {
    const mark = `${namespace}-forced`;
    await run("forced", shell(`: ${mark}; trap '' TERM; while :; do sleep 0.05; done`));
    await expect.poll(() => phase("forced")).toBe("Running");
    await kubectl("delete", "pod", "-n", namespace, "forced", "--grace-period=0", "--force", "--wait=false");
    await expect.poll(() => runningWith(mark)).toEqual([]);
  });
});

it("lets a Deployment become available, and be updated", async () => {
  const where = ["-n", namespace, "deployment/web"];
  await administrator.create({ ...deployment("web", "nginx:1"), metadata: { name: "web", namespace } });
  expect(await kubectl("rollout", "status", "--timeout=300s", ...where)).toMatchObject({ code: 0 });
  await kubectl("set", "image", ...where, "web=nginx:2");
  expect(await kubectl("rollout", "status", "--timeout=300s", ...where)).toMatchObject({ code: 0 });
});

it("runs twenty Pods at once", async () => {
  const names = Array.from({ length: 20 }, (_, n) => `many-${n}`);
  const phases = () => Promise.all(names.map(phase));
  const go = path.join(controlPlane.directory, `${namespace}-go`);
  await Promise.all(names.map((name) => run(name, shell(`until test -e ${go}; do sleep 0.1; done`))));
  await expect.poll(phases).toEqual(names.map(() => "Running"));
  await writeFile(go, "");
  await expect.poll(phases).toEqual(names.map(() => "Succeeded"));
});
