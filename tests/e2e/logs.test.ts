import { expect, it } from "vitest";
import { creating, patching } from "../fixtures/changes.ts";
import { controlPlane } from "../fixtures/cluster.ts";
import { controllerProcess } from "../fixtures/controller-process.ts";
import { configMap } from "../fixtures/manifests.ts";
import { allowOneService, oneServiceIsFree, oneTooMany } from "../fixtures/quota.ts";
import { workspace } from "../fixtures/workspace.ts";

interface Line {
  readonly level: string;
  readonly message: string;
  readonly transaction?: string;
  readonly reconcile?: string;
  readonly phase?: string;
  readonly item?: number;
  readonly event?: string;
}

it("tells of each Transaction which turn it was, in which phase, and of which change", async () => {
  const place = await workspace();
  await place.create(configMap("config", { a: "1" }));
  await allowOneService(place);
  const { log, stop } = await place.janus();
  const run = (name: string) => place.run([patching(configMap("config", { a: name })), ...oneTooMany], { name });
  await run("one");
  await oneServiceIsFree(place);
  await run("two");
  await stop();
  const lines = log.map((line) => JSON.parse(line) as Line);
  const of = (name: string) => lines.filter(({ transaction }) => transaction === `${place.namespace}/${name}`);

  for (const name of ["one", "two"]) {
    const own = of(name);
    expect(own.filter(({ reconcile }) => !/^[0-9a-f]{8}$/.test(reconcile ?? ""))).toEqual([]);
    expect(own.filter(({ phase }) => phase === undefined)).toEqual([]);
    const told = own
      .filter(({ level }) => level !== "debug")
      .map(({ level, message, item }) => ({ level, message, item }));
    expect(told).toContainEqual({ level: "info", message: "Preparing → Committing", item: undefined });
    const applied = `2/3 Patch ConfigMap ${place.namespace}/config, Create Service ${place.namespace}/allowed`;
    const done = { level: "info", message: applied, item: undefined };
    expect(told).toContainEqual(done);
    const refused = expect.stringContaining("refused to create Service") as string;
    expect(told).toContainEqual({ level: "warn", message: refused, item: 2 });
    const undone = { level: "info", message: `Patch ConfigMap ${place.namespace}/config was rolled back`, item: 0 };
    expect(told).toContainEqual(undone);
    // Every request for a change says for which.
    const requests = own.filter(({ message }) => ["change", "restore", "read-target", "lock"].includes(message));
    expect(requests.length).toBeGreaterThan(5);
    expect(requests.filter(({ item }) => item === undefined)).toEqual([]);
  }
  // A turn is of one Transaction alone.
  const turns = (name: string) => new Set(of(name).map(({ reconcile }) => reconcile));
  expect([...turns("one")].filter((turn) => turns("two").has(turn))).toEqual([]);
});

it("is JSON, line by line, from the beginning of the process to its end", async () => {
  const place = await workspace();
  const janus = controllerProcess([
    "--http-port=0",
    "--log-level=debug",
    `--namespace=${place.namespace}`,
    `--watch-namespace=${place.namespace}`,
    `--kubeconfig=${controlPlane.kubeconfig}`,
  ]);
  await place.run([creating(configMap("made"))]);
  janus.kill("SIGTERM");
  expect(await janus.ended).toBe(0);
  const lines = janus.stderr().trimEnd().split("\n");
  expect(lines.length).toBeGreaterThan(20);
  for (const line of lines)
    expect(JSON.parse(line)).toMatchObject({
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
      level: expect.stringMatching(/^(debug|info|warn|error)$/) as string,
      message: expect.any(String) as string,
    });
  expect(janus.stdout()).toBe("");
});
