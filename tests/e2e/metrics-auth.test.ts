import { readFile, writeFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { administrator } from "../fixtures/administrator.ts";
import { controlPlane, kubectl } from "../fixtures/cluster.ts";
import { controllerProcess } from "../fixtures/controller-process.ts";
import { serviceAccount } from "../fixtures/manifests.ts";
import { tunnel } from "../fixtures/tunnel.ts";
import { workspace } from "../fixtures/workspace.ts";

const stage = async (...flags: readonly string[]) => {
  const { namespace, create } = await workspace();
  await create(serviceAccount("prometheus"), serviceAccount("stranger"));
  const reader = {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name: `${namespace}-metrics-reader` },
    rules: [{ nonResourceURLs: ["/metrics"], verbs: ["get"] }],
  };
  const binding = {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name: `${namespace}-metrics-reader` },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: `${namespace}-metrics-reader` },
    subjects: [{ kind: "ServiceAccount", name: "prometheus", namespace }],
  };
  await create(reader, binding);
  const process = controllerProcess([
    "--http-port=0",
    "--leader-elect=false",
    `--watch-namespace=${namespace}`,
    `--kubeconfig=${controlPlane.kubeconfig}`,
    ...flags,
  ]);
  await expect.poll(process.url).toBeDefined();
  const get = async (path: string, authorization?: string) =>
    fetch(`${process.url()}${path}`, authorization === undefined ? {} : { headers: { authorization } });
  const token = async (name: string) => {
    const { stdout } = await kubectl("create", "token", name, "-n", namespace);
    return `Bearer ${stdout.trim()}`;
  };
  return { get, token, process, binding, reader };
};

it("answers everybody, unless it is asked to ask", async () => {
  const { get } = await stage();
  expect((await get("/metrics")).status).toBe(200);
});

it("answers those whose token may get /metrics, and nobody else", async () => {
  const { get, token, process, binding, reader } = await stage("--metrics-auth", "--log-level=debug");
  const prometheus = await token("prometheus");
  await expect.poll(async () => (await get("/metrics", prometheus)).status).toBe(200);
  expect(await (await get("/metrics", prometheus)).text()).toContain("janus_build_info");

  const nobody = await get("/metrics");
  expect(nobody.status).toBe(401);
  expect(nobody.headers.get("www-authenticate")).toBe("Bearer");
  for (const strange of ["Bearer abc", "Bearer", `${prometheus}x`, prometheus.replace("Bearer", "Basic")])
    expect((await get("/metrics", strange)).status).toBe(401);
  const stranger = await get("/metrics", await token("stranger"));
  expect(stranger.status).toBe(403);
  expect(await stranger.text()).toContain("may not get the path /metrics");
  // Probes of the kubelet bring no token.
  for (const path of ["/healthz", "/readyz", "/status"]) expect((await get(path)).status).toBe(200);

  await administrator.remove(binding);
  await administrator.remove(reader);
  await expect.poll(async () => (await get("/metrics", prometheus)).status).toBe(403);
  expect(process.stderr()).not.toContain(prometheus.slice("Bearer ".length));
});

it("asks the API server for a token once in a while, and not each time", async () => {
  const { get, token } = await stage("--metrics-auth");
  const prometheus = await token("prometheus");
  await expect.poll(async () => (await get("/metrics", prometheus)).status).toBe(200);
  const asked = async () =>
    /janus_api_requests_total\{verb="create",code="2xx"\} (\d+)/.exec(
      await (await get("/metrics", prometheus)).text(),
    )?.[1];
  const before = Number(await asked());
  await Promise.all(Array.from({ length: 50 }, () => get("/metrics", prometheus)));
  // Ten seconds may have passed.
  expect(Number(await asked())).toBeLessThanOrEqual(before + 2);
});

it("answers 503 when the API server cannot be asked", async () => {
  const way = await tunnel({ port: Number(new URL(controlPlane.url).port) });
  const file = `${controlPlane.directory}/kubeconfigs/metrics-auth-${way.port}`;
  const text = await readFile(controlPlane.kubeconfig, "utf8");
  await writeFile(file, text.replaceAll(controlPlane.url, `https://127.0.0.1:${way.port}`), { mode: 0o600 });
  const { get } = await stage("--metrics-auth", `--kubeconfig=${file}`);
  expect((await get("/metrics", "Bearer first")).status).toBe(401);
  way.close();
  expect((await get("/metrics", "Bearer second")).status).toBe(503);
  way.open();
  await expect.poll(async () => (await get("/metrics", "Bearer second")).status).toBe(401);
});
