import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { runningWith } from "../fixtures/running.ts";
import { binariesDirectory, cacheRoot } from "./binaries/cache.ts";
import { component } from "./component.ts";
import { startControlPlane } from "./control-plane.ts";
import { leash } from "./leash.ts";
import { answers } from "./probe.ts";

it("can be paused, resumed, and restarted with its state kept; after stop nothing is left", async () => {
  const controlPlane = await startControlPlane();
  const { directory, pause, resume, restart, stop } = controlPlane;
  onTestFinished(stop);
  const isUp = () => answers(controlPlane, "/api/v1/namespaces/default/serviceaccounts/default");
  expect(runningWith(directory)).toHaveLength(4); // three components and the guard

  await pause("kube-apiserver");
  expect(await isUp()).toBe(false);
  resume("kube-apiserver");
  expect(await isUp()).toBe(true);

  for (const name of ["etcd", "kube-apiserver", "kube-controller-manager"] as const) {
    await restart(name);
    await expect.poll(isUp).toBe(true);
  }

  await stop();
  expect(runningWith(directory)).toEqual([]);
  expect(existsSync(directory)).toBe(false);
});

it("leaves nothing when the process that started it is killed", async () => {
  const source = new URL("./control-plane.ts", import.meta.url).href;
  const script = `
    import { startControlPlane } from "${source}";
    console.log((await startControlPlane()).directory);
    setInterval(() => {}, 1000);
  `;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const directory = (
    await new Promise<string>((resolve) => child.stdout.once("data", (d) => resolve(String(d))))
  ).trim();
  expect(runningWith(directory)).toHaveLength(4);

  child.kill("SIGKILL");
  await expect.poll(() => runningWith(directory)).toEqual([]);
  await expect.poll(() => existsSync(directory)).toBe(false);
});

it("is found by no test run when it is private", async () => {
  const cache = await mkdtemp(path.join(os.tmpdir(), "janus-private-"));
  const child = spawn(process.execPath, [path.join(import.meta.dirname, "main.ts"), "--private"], {
    env: { ...process.env, JANUS_CACHE: cache, KUBEBUILDER_ASSETS: binariesDirectory(process.env) },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const exited = once(child, "exit");
  onTestFinished(() => void child.kill("SIGKILL"));
  const said = String((await once(child.stdout, "data"))[0]);
  expect(said).toContain("export KUBECONFIG=");
  expect(said).toContain("No test run uses it.");
  expect(existsSync(path.join(cacheRoot({ JANUS_CACHE: cache }), "running"))).toBe(false);
  child.kill("SIGTERM");
  expect(await exited).toEqual([0, null]);
  await rm(cache, { recursive: true });
});

it("says what a component last said when it does not start, and when it ends later", async () => {
  const directory = await mkdtemp(path.join(os.tmpdir(), "janus-component-"));
  const held = leash(directory);
  onTestFinished(held.end);
  const lines: string[] = [];
  const program = (script: string, isReady: boolean) =>
    component(
      { name: "etcd", file: "/bin/sh", args: ["-c", script], directory, isReady: async () => isReady },
      held,
      (line) => lines.push(line),
    );

  await expect(program("echo no space left; exit 3", false).start()).rejects.toThrow(/has ended[^]*no space left/);
  await expect(
    component(
      { name: "etcd", file: "/no/such/file", args: [], directory, isReady: async () => false },
      held,
      () => {},
    ).start(),
  ).rejects.toThrow("cannot start /no/such/file");
  await program("sleep 0.1; exit 4", true).start();
  await expect.poll(() => lines.join("\n")).toContain("etcd has ended by itself (exit code 4)");
});
