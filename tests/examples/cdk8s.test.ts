import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { expect, it, onTestFinished } from "vitest";
import { connection } from "../fixtures/administrator.ts";
import { controlPlane, kubectl, type Outcome } from "../fixtures/cluster.ts";
import { startKubelet } from "../fixtures/kubelet.ts";
import { configMap, deployment, secret, service } from "../fixtures/manifests.ts";
import { crashing, running } from "../fixtures/pod-status.ts";
import { type Workspace, workspace } from "../fixtures/workspace.ts";

const example = path.resolve(import.meta.dirname, "../../examples/cdk8s");
const api = connection(controlPlane.kubeconfig);

interface Release {
  /** Of the Transaction. */
  readonly name: string;
  /** Of the file with the Transaction. */
  readonly file: string;
}

/** Synthesizes the app. What has to be there before the Transaction is applied, as its README says. */
const synth = async ({ namespace }: Workspace, version: string, run?: string): Promise<Release> => {
  const outdir = await mkdtemp(path.join(os.tmpdir(), "janus-example-"));
  onTestFinished(() => rm(outdir, { recursive: true }));
  const { stdout } = await promisify(execFile)(process.execPath, ["--conditions=source", "main.ts"], {
    cwd: example,
    env: {
      ...process.env,
      ...(run === undefined ? {} : { RUN: run }),
      NAMESPACE: namespace,
      VERSION: version,
      CDK8S_OUTDIR: outdir,
    },
  });
  expect((await readdir(outdir)).toSorted()).toEqual(["0000-access.k8s.yaml", "0001-shop.k8s.yaml"]);
  expect(await kubectl("apply", "-f", path.join(outdir, "0000-access.k8s.yaml"))).toMatchObject({ code: 0 });
  return { name: stdout.trim(), file: path.join(outdir, "0001-shop.k8s.yaml") };
};

/** As its README says. @returns the name of the Transaction */
const release = async (place: Workspace, version: string): Promise<string> => {
  const { name, file } = await synth(place, version);
  expect(await kubectl("apply", "-f", file)).toMatchObject({ code: 0 });
  return name;
};

/** The step of the pipeline, which fails unless the Transaction is Committed. */
const pipeline = async (place: Workspace, version: string, run: string): Promise<Outcome> => {
  const { file } = await synth(place, version, run);
  const script = path.resolve(import.meta.dirname, "../../examples/pipeline/release.sh");
  const { kubectl: binary } = controlPlane.binaries;
  const env = {
    PATH: `${path.dirname(binary)}:${process.env["PATH"]}`,
    KUBECONFIG: controlPlane.kubeconfig,
    KUBECACHEDIR: path.join(controlPlane.directory, "kubectl"),
  };
  return new Promise((resolve) => {
    execFile(script, [file], { env }, (error, stdout, stderr) =>
      resolve({ stdout, stderr, code: error === null ? 0 : Number(error.code) }),
    );
  });
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
});

it("releases again when the pipeline runs again after a failure, and never says so without a release", async () => {
  const place = await workspace();
  await place.janus();
  let state = crashing;
  onTestFinished(await startKubelet(api, place.namespace, () => state));

  const failed = await pipeline(place, "1.0", "1");
  expect(failed).toMatchObject({ code: 1, stdout: expect.stringContaining("RolledBack") as string });
  expect(await place.exists(configMap("shop"))).toBe(false);

  state = running;
  const same = await pipeline(place, "1.0", "1");
  expect(same).toMatchObject({ code: 1, stderr: expect.stringContaining("already exists") as string });
  const again = await pipeline(place, "1.0", "2");
  expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining("Committed") as string });
  expect(await versionOf(place)).toEqual({ version: "1.0" });
});
