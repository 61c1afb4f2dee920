import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { expect, it, onTestFinished } from "vitest";
import { connection } from "../fixtures/administrator.ts";
import { controlPlane, kubectl } from "../fixtures/cluster.ts";
import { startKubelet } from "../fixtures/kubelet.ts";
import { configMap, deployment, secret, service } from "../fixtures/manifests.ts";
import { crashing, running } from "../fixtures/pod-status.ts";
import { type Workspace, workspace } from "../fixtures/workspace.ts";

const example = path.resolve(import.meta.dirname, "../../examples/cdk8s");
const api = connection(controlPlane.kubeconfig);

/** Synthesizes the app, and applies what it prints, as its README says. @returns the name of the Transaction */
const release = async ({ namespace }: Workspace, version: string): Promise<string> => {
  const outdir = await mkdtemp(path.join(os.tmpdir(), "janus-example-"));
  onTestFinished(() => rm(outdir, { recursive: true }));
  const { stdout } = await promisify(execFile)(process.execPath, ["--conditions=source", "main.ts"], {
    cwd: example,
    env: { ...process.env, NAMESPACE: namespace, VERSION: version, CDK8S_OUTDIR: outdir },
  });
  expect((await readdir(outdir)).toSorted()).toEqual(["0000-access.k8s.yaml", "0001-shop.k8s.yaml"]);
  expect(await kubectl("apply", "-f", outdir)).toMatchObject({ code: 0 });
  return stdout.trim();
};

const versionOf = async (place: Workspace): Promise<unknown> => (await place.read(configMap("shop")))["data"];
const imageOf = async (place: Workspace): Promise<string> =>
  JSON.stringify(await place.read(deployment("shop", ""))).match(/"image":"([^"]*)"/u)?.[1] ?? "";

it("commits the example app with the permissions that it generates, and rolls its next version back", async () => {
  const place = await workspace();
  await place.janus();
  onTestFinished(await startKubelet(api, place.namespace, (image) => (image.endsWith(":1.0") ? running : crashing)));

  const first = await place.over(await release(place, "1.0"));
  expect(first.status).toMatchObject({ phase: "Committed", progress: "4/4" });
  expect(first.spec.changes.map(({ target }) => target.kind)).toEqual(["Secret", "ConfigMap", "Service", "Deployment"]);
  expect(await versionOf(place)).toEqual({ version: "1.0" });
  expect(await Promise.all([secret("shop"), service("shop")].map(place.exists))).toEqual([true, true]);

  const second = await place.over(await release(place, "2.0"));
  expect(second.metadata.name).not.toBe(first.metadata.name);
  expect(second.status.phase).toBe("RolledBack");
  expect(JSON.stringify(second.status.conditions)).toContain("CrashLoopBackOff");
  expect(await versionOf(place)).toEqual({ version: "1.0" });
  expect(await imageOf(place)).toBe("registry.example.com/shop:1.0");
}, 120_000);
