import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, it } from "vitest";
import { freePorts } from "../control-plane/free-ports.ts";
import { creating, deleting } from "../fixtures/changes.ts";
import { controlPlane, userKubeconfig } from "../fixtures/cluster.ts";
import { type ControllerProcess, controllerProcess } from "../fixtures/controller-process.ts";
import { configMap } from "../fixtures/manifests.ts";
import { tunnel } from "../fixtures/tunnel.ts";
import { type Workspace, workspace } from "../fixtures/workspace.ts";

const kubeconfigOfController = () => userKubeconfig("system:serviceaccount:janus-system:janus-controller");

/** The kubeconfig of the controller, for an API server at another port. */
const kubeconfigAt = async (port: number): Promise<string> => {
  const there = (await readFile(await kubeconfigOfController(), "utf8")).replaceAll(
    controlPlane.url,
    `https://127.0.0.1:${port}`,
  );
  const file = path.join(controlPlane.directory, "kubeconfigs", `controller-at-${port}`);
  await writeFile(file, there, { mode: 0o600 });
  return file;
};

const QUICK = [
  "--leader-elect=false",
  "--http-port=0",
  "--write-timeout=4s",
  "--request-deadline=5s",
  "--log-level=debug",
];

const start = ({ namespace }: Workspace, kubeconfig: string, ...flags: readonly string[]): ControllerProcess =>
  controllerProcess([...QUICK, ...flags, `--watch-namespace=${namespace}`, `--kubeconfig=${kubeconfig}`]);

const statusOf = async (process: ControllerProcess, at: string): Promise<number | undefined> => {
  const url = process.url();
  return url === undefined ? undefined : (await fetch(`${url}${at}`)).status;
};

const messages = ({ log }: ControllerProcess): readonly string[] => log.map(({ message }) => message);

/** Twenty changes, of which the eleventh waits for a finalizer that the test holds. */
const twenty = Array.from({ length: 20 }, (_, n) =>
  n === 10 ? deleting(configMap("held")) : creating(configMap(`c${n}`, { n: `${n}` })),
);
const held = (...finalizers: readonly string[]) => ({ ...configMap("held"), metadata: { name: "held", finalizers } });
const halfway = ({ read }: Workspace) =>
  expect.poll(async () => (await read(configMap("held"))).metadata.deletionTimestamp).toBeDefined();

it("refuses a flag that it does not understand, and says which", async () => {
  const { ended, stdout, stderr } = controllerProcess(["--colour=blue"]);
  expect(await ended).toBe(2);
  expect(stdout()).toBe("");
  expect(stderr()).toMatch(/^Unknown option '--colour'.*; see --help\n$/s);
});

it("says what is wrong with its kubeconfig, and ends", async () => {
  const KUBECONFIG = path.join(controlPlane.directory, "kubeconfigs", "broken");
  await writeFile(KUBECONFIG, "{{{ not yaml");
  const janus = controllerProcess([], { KUBECONFIG });
  expect(await janus.ended).toBe(1);
  const message = expect.stringContaining(`KUBECONFIG: ${KUBECONFIG} cannot be used as a kubeconfig`) as string;
  expect(janus.log).toMatchObject([{ level: "error", message }]);
});

it("waits for an API server that is not there yet, and goes on when it comes", async () => {
  const place = await workspace();
  await place.submit([creating(configMap("made"))]);
  const [port = 0] = await freePorts(1);
  const janus = start(place, await kubeconfigAt(port));
  await expect.poll(() => messages(janus)).toContain("Transactions cannot be watched; trying again");
  expect(await statusOf(janus, "/healthz")).toBe(200);
  expect(await statusOf(janus, "/readyz")).toBe(503);
  await tunnel({ port: Number(new URL(controlPlane.url).port) }, port);
  await expect.poll(() => statusOf(janus, "/readyz")).toBe(200);
  expect((await place.over()).status.phase).toBe("Committed");
  expect(await statusOf(janus, "/metrics")).toBe(200);
  expect(await statusOf(janus, "/")).toBe(404);
});

it("resumes after an outage of the API server", async () => {
  const place = await workspace();
  await place.create(held("example.com/hold"));
  const way = await tunnel({ port: Number(new URL(controlPlane.url).port) });
  const janus = start(place, await kubeconfigAt(way.port));
  await place.submit(twenty);
  await halfway(place);
  way.close();
  await place.patch(held());
  await expect.poll(() => messages(janus)).toContain("the Transaction cannot be read; trying again");
  way.open();
  expect((await place.over()).status).toMatchObject({ phase: "Committed", progress: "20/20" });
  janus.kill("SIGINT");
  expect(await janus.ended).toBe(0);
});

it("ends cleanly on SIGTERM in the middle of a Transaction, which the next one commits", async () => {
  const place = await workspace();
  await place.create(held("example.com/hold"));
  const first = start(place, await kubeconfigOfController());
  await place.submit(twenty);
  await halfway(place);
  first.kill("SIGTERM");
  expect(await first.ended).toBe(0);
  expect(first.log.filter(({ level }) => level === "error" || level === "warn")).toEqual([]);
  await place.patch(held());
  start(place, await kubeconfigOfController());
  expect((await place.over()).status).toMatchObject({ phase: "Committed", progress: "20/20" });
});

it("that is killed in the middle of twenty changes resumes there, and repeats none", async () => {
  const place = await workspace();
  await place.create(held("example.com/hold"));
  const first = start(place, await kubeconfigOfController());
  await place.submit(twenty);
  await halfway(place);
  first.kill("SIGKILL");
  expect(await first.ended).toBeNull();
  const made = () => Promise.all(twenty.slice(0, 10).map((_, n) => place.read(configMap(`c${n}`))));
  const before = await made();
  expect(await place.exists(configMap("c11"))).toBe(false);

  const second = start(place, await kubeconfigOfController());
  await place.patch(held());
  expect((await place.over()).status).toMatchObject({ phase: "Committed", progress: "20/20" });
  expect(await made()).toEqual(before);
  expect(messages(second).filter((message) => message === "change")).toHaveLength(9);
  expect(await place.names("coordination.k8s.io/v1", "Lease")).toEqual([]);
  expect((await place.names("v1", "ConfigMap")).filter((name) => /rollback|journal/.test(name))).toEqual([]);
});
