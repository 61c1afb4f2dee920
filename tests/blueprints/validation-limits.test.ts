// The limits of the policy on Blueprints: what it admits, and what it costs.
import { expect, it } from "vitest";
import type { BlueprintAction } from "../../packages/blueprints/src/api/blueprint.ts";
import { kubectlWith, type Outcome } from "../fixtures/cluster.ts";
import { created, guarded, probe, task, told } from "./guarded-namespace.ts";
import { blueprint } from "./objects.ts";
import { prepared } from "./world.ts";

it("admits what only Kanister has, what costs too much to look at, and all in namespaces that are not watched", async () => {
  const namespace = await guarded();
  const costly = Object.fromEntries(
    Array.from({ length: 30 }, (_, at) => {
      const args = Object.fromEntries(Array.from({ length: 1500 }, (__, arg) => [`a${arg}`, 1]));
      return [`a${at}`, { phases: [task("one", args)] }];
    }),
  );
  const rds = { backup: { phases: [{ func: "CreateRDSSnapshot", name: "snapshot", args: { instanceID: "db" } }] } };
  expect(await created(namespace, blueprint("costly", costly), blueprint("rds", rds))).toMatchObject({ code: 0 });
  expect(await created(await prepared(), probe)).toMatchObject({ code: 0 });
});

/** 5,000 phases, of which in each action so many are wrong. */
const many = (wrong: number): Readonly<Record<string, BlueprintAction>> =>
  Object.fromEntries(
    Array.from({ length: 50 }, (_, at) => [
      `a${at}`,
      { phases: Array.from({ length: 100 }, (__, one) => task(`p${one}`, one < wrong ? { imgae: "a" } : {})) },
    ]),
  );

it("judges a Blueprint of 5,000 phases, and shortens what it says of many", async () => {
  const namespace = await guarded();
  const said = await told(
    namespace,
    blueprint("one", { ...many(0), last: { phases: [{ func: "KubeTsk", name: "dump" }] } }),
    blueprint("many", many(20)),
  );
  expect(said["one"]).toMatch(/^action last, phase dump: function "KubeTsk" does not exist/u);
  expect(said["many"]).toMatch(/^action a\d+, phase p\d+: argument "imgae" is not supported by KubeTask; .* …$/u);
});

it("only warns with Warn", async () => {
  const { code, stderr } = await created(await guarded({ validation: "Warn" }), probe);
  expect(stderr).toMatch(/^Warning: .*action probe, phase only: function "Probe" does not exist/mu);
  expect(code).toBe(0);
});

it("admits edits of a Blueprint that was there before it, but for those of its actions", async () => {
  const namespace = await guarded({}, probe);
  const patched = (patch: object): Promise<Outcome> =>
    kubectlWith({}, "patch", "blueprint", "probe", "-n", namespace, "--type=merge", `-p=${JSON.stringify(patch)}`);
  expect(await patched({ metadata: { labels: { team: "shop" } } })).toMatchObject({ code: 0 });
  expect(await patched({ actions: { probe: { kind: "Deployment" } } })).toMatchObject({ code: 1 });
});
