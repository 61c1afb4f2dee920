// A backup of a folder of a Pod is made once, wherever its controller crashes: the next one finds it by its tag, and waits for restic.
import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { crashEverywhere, type Subject } from "../crash/any-controller.ts";
import { type Asked, crashingProcess } from "../crash/crashing-process.ts";
import { administrator, type Manifest } from "../fixtures/administrator.ts";
import { within } from "../fixtures/manifests.ts";
import type { RunningNode } from "../fixtures/node/start-node.ts";
import { hasObjectStorage, type ObjectStorage, startObjectStorage } from "../fixtures/object-storage.ts";
import { share, showShare } from "../fixtures/sample.ts";
import { type ActionSetObject, actionOn, actionSet, actionSetRef, blueprint } from "./objects.ts";
import { pod, podsRun } from "./running-pods.ts";
import { createProfile, tagsIn } from "./stored-data.ts";
import { client, controllerOf, isOver, nodeFor, prepared } from "./world.ts";

const folder = await mkdtemp(path.join(os.tmpdir(), "janus-backed-up-"));
await writeFile(path.join(folder, "file"), "x");

const nodes = new Map<string, RunningNode>();

interface PodOf {
  readonly spec: { readonly containers: readonly object[] };
}

const recipe = (namespace: string) =>
  blueprint("recipe", {
    do: {
      phases: [
        {
          func: "BackupData",
          name: "backup",
          args: { namespace, pod: "db-0", container: "tools", includePath: folder, backupArtifactPrefix: "crash" },
        },
      ],
    },
  });

/** A Pod whose containers find programs here first. */
const withPath = (one: Manifest, programs: string): Manifest => {
  const { containers } = (one as unknown as PodOf).spec;
  const env = [{ name: "PATH", value: `${programs}:${process.env["PATH"] ?? ""}` }];
  return { ...one, spec: { containers: containers.map((container) => ({ ...container, env })) } };
};

/**
 * How it ended, and how many backups have its tag.
 *
 * @param programs of the container. Default: those of this machine
 */
const subject = (storage: () => ObjectStorage, programs = "/usr/bin"): Subject<object> => ({
  start: controllerOf,
  prepare: async () => {
    const namespace = await prepared();
    nodes.set(namespace, await nodeFor(namespace));
    await createProfile(namespace, storage());
    await administrator.create(within(namespace, withPath(pod("db-0", "tools"), programs)));
    await podsRun(namespace, "db-0");
    await administrator.create(within(namespace, recipe(namespace)));
    await administrator.create(
      within(namespace, actionSet("run", actionOn("do", "recipe", { profile: { name: "s3" } }))),
    );
    return namespace;
  },
  ended: async (namespace) => {
    const found = (await administrator.read(within(namespace, actionSetRef("run")))) as ActionSetObject | undefined;
    if (found === undefined || !isOver(found)) return undefined;
    // The journal is gone: what is left is the Secret of the Profile.
    if ((await administrator.list({ apiVersion: "v1", kind: "Secret" }, namespace)).length > 1) return undefined;
    await nodes.get(namespace)?.stop();
    const { state, error, actions } = found.status;
    const { backupTag, fileCount, size } = actions[0]?.phases[0]?.output ?? {};
    const tags = (await tagsIn(storage(), "crash")) ?? [];
    return { state, error, fileCount, size, backups: tags.filter((tag) => tag === backupTag).length };
  },
});

/** The first one says that the command is on its way. */
const isResult = ({ text, nth }: Pick<Asked, "text" | "nth">): boolean => text.includes("write-journal") && nth === 2;

const RIGHT = { state: "complete", fileCount: "1", size: "1 B", backups: 1 };

const SHARE = share({ npmTest: 48, ci: 32 });

describe.runIf(hasObjectStorage)("a backup", () => {
  let storage: ObjectStorage;
  beforeAll(async () => {
    storage = await startObjectStorage();
  });
  afterAll(() => storage.stop());

  it("whose result is lost with its controller is what the next one tells", async () => {
    const { start, prepare, ended } = subject(() => storage);
    const namespace = await prepare();
    const { hook, crashed, discard } = crashingProcess((asked) => (isResult(asked) ? "before" : undefined));
    const first = start({ ...client, send: (request) => hook(request, client.send) }, namespace);
    await crashed;
    discard();
    await first.stop();
    expect(await tagsIn(storage, "crash")).toHaveLength(1);
    const second = start(client, namespace);
    onTestFinished(second.stop);
    await expect.poll(() => ended(namespace)).toEqual(RIGHT);
    expect(await tagsIn(storage, "crash")).toHaveLength(1);
  });

  it("that restic still makes when the controller ends is waited for by the next one, and not made twice", async () => {
    const place = await mkdtemp(path.join(os.tmpdir(), "janus-slow-restic-"));
    const program = (name: string, script: string): Promise<void> =>
      writeFile(path.join(place, name), `#!/bin/sh\necho ${name} "$1" >> ${place}/calls\n${script}\n`, { mode: 0o755 });
    const real = execFileSync("sh", ["-c", "command -v restic"]).toString().trim();
    const held = `if [ "$1" = backup ]; then until [ -e ${place}/go ]; do /bin/sleep 0.05; done; fi`;
    await program("restic", `${held}\nexec ${real} "$@"`);
    await program("sleep", 'exec /bin/sleep "$1"');
    const calls = (): Promise<string> => readFile(path.join(place, "calls"), "utf8").catch(() => "");

    const { start, prepare, ended } = subject(() => storage, place);
    const namespace = await prepare();
    const first = start(client, namespace);
    await expect.poll(calls).toContain("restic backup");
    await first.stop();
    const second = start(client, namespace);
    onTestFinished(second.stop);
    await expect.poll(calls).toMatch(/^sleep 1$|backup[^]*backup/mu);
    await writeFile(path.join(place, "go"), "");
    await expect.poll(() => ended(namespace)).toEqual(RIGHT);
  });

  it(`is made once, wherever the controller crashes${showShare("crash", SHARE)}`, async () => {
    const { wrong, runs } = await crashEverywhere(
      client,
      subject(() => storage),
      SHARE,
    );
    expect(wrong).toEqual([]);
    expect(runs).toBeGreaterThan(0);
  }, 1_800_000);
});
