// Two writers of one branch, one of which rewrites its history, and a server that is away for a while: in the end it says what is live.
import { setTimeout as sleep } from "node:timers/promises";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { canonicalYaml } from "../../packages/git-journal/src/core/canonical.ts";
import { sanitised } from "../../packages/git-journal/src/core/sanitise.ts";
import { administrator } from "../fixtures/administrator.ts";
import { within } from "../fixtures/manifests.ts";
import { isExhaustive, seed } from "../fixtures/sample.ts";
import { configMap, configuration, controllerOf, place } from "./mirror-world.ts";

/** In ms. */
const LASTS = isExhaustive ? 600_000 : 4_000;
const PAUSES = isExhaustive ? { objects: 300, foreign: 1_000 } : { objects: 100, foreign: 150 };
/** The part of the time in which the server answers nobody. */
const AWAY = { from: 0.4, to: 0.5 };
const NAMES = Array.from({ length: 20 }, (_, n) => `m${n}`);

const often = <A>(weight: number, value: A) => ({ weight, arbitrary: fc.constant(value) });

/** What the other writer does: to its own file, to one of the journal, or to the history. */
const foreignTurn = fc.record({
  does: fc.oneof(
    often(10, "writes its own file"),
    often(3, "changes a file of the journal"),
    often(2, "deletes a file of the journal"),
    often(2, "drops commits"),
    often(1, "begins anew"),
  ),
  name: fc.constantFrom(...NAMES),
  value: fc.nat(1_000_000).map(String),
  back: fc.integer({ min: 1, max: 5 }),
});

const written = (at: string, text: string): string => `M 100644 inline ${at}\ndata ${text.length}\n${text}\n`;

const objectTurn = fc.record({
  name: fc.constantFrom(...NAMES),
  value: fc.nat(1_000_000).map(String),
  isRemoved: fc.boolean(),
});

/** Beyond the end of the time. */
const turns = <A>(arbitrary: fc.Arbitrary<A>, pause: number): readonly A[] =>
  fc.sample(arbitrary, { seed, numRuns: Math.ceil(LASTS / pause) });

it("a branch that another one writes, too, says in the end what is live, and keeps all that is the other one's", {
  timeout: LASTS + 600_000,
}, async () => {
  const clock = { began: Number.POSITIVE_INFINITY };
  const passed = (): number => (Date.now() - clock.began) / LASTS;
  const isAway = (): boolean => passed() >= AWAY.from && passed() < AWAY.to;
  const { url, namespace, git, files, have, create, patch, remove } = await place({
    fault: () => (isAway() ? { answers: 503 } : undefined),
  });
  const path = (name: string): string => `prod/core/v1/configmaps/${namespace}/${name}.yaml`;
  await create(...configuration(url));
  await controllerOf(namespace, { flags: { discoveryRefresh: 2_000 } });
  await create(configMap("first"));
  await have([path("first")]);

  const live = new Map([["first", "1"]]);
  const changeObjects = async (): Promise<void> => {
    for (const { name, value, isRemoved } of turns(objectTurn, PAUSES.objects)) {
      if (passed() >= 1) return;
      const isThere = live.has(name);
      if (isThere && isRemoved) {
        await remove(configMap(name));
        live.delete(name);
      } else {
        await (isThere ? patch : create)(configMap(name, { a: value }));
        live.set(name, value);
      }
      await sleep(PAUSES.objects);
    }
  };

  const own = new Map<string, string>();
  let last: string | undefined;
  const tip = (): string => git(["for-each-ref", "--format=%(objectname)", "refs/heads/main"]);
  const ancestor = (of: string, back: number): string =>
    git(["rev-list", `--max-count=${back + 1}`, "--first-parent", of])
      .split("\n")
      .at(-1) ?? of;

  /** As a push with a lease: nothing is done where the branch has moved meanwhile. */
  const push = (head: string, base: string, changes: readonly string[]): boolean => {
    const from = base === "" ? "" : `from ${base}\n`;
    git(
      ["fast-import", "--quiet", "--force"],
      `reset refs/foreign\n${from}\ncommit refs/foreign\ncommitter Eve <eve@example.com> 1700000000 +0000\ndata 4\nelse\n${from}${changes.join("")}\n`,
    );
    const made = git(["rev-parse", "refs/foreign"]);
    try {
      git(["update-ref", "refs/heads/main", made, head]);
    } catch {
      return false;
    }
    last = made;
    return true;
  };
  const allOwn = (): readonly string[] => [...own].map(([at, text]) => written(at, text));

  const writeElsewhere = async (): Promise<void> => {
    for (const [n, { does, name, value, back }] of turns(foreignTurn, PAUSES.foreign).entries()) {
      if (passed() >= 1) return;
      const head = tip();
      // Nobody but itself drops what it has pushed.
      if (last !== undefined) git(["merge-base", "--is-ancestor", last, head]);
      const at = `${n % 2 === 0 ? "prod/notes" : "notes"}/${n % 10}.md`;
      if (does === "writes its own file" && push(head, head, [written(at, value)])) own.set(at, value);
      if (does === "changes a file of the journal") push(head, head, [written(path(name), `foreign: ${value}\n`)]);
      if (does === "deletes a file of the journal" && git(["ls-tree", "--name-only", head, path(name)]) !== "")
        push(head, head, [`D ${path(name)}\n`]);
      if (does === "drops commits") push(head, ancestor(head, back), allOwn());
      if (does === "begins anew" && own.size > 0) push(head, "", allOwn());
      await sleep(PAUSES.foreign);
    }
  };

  clock.began = Date.now();
  await Promise.all([changeObjects(), writeElsewhere()]);
  expect(last).toBeDefined();
  const wanted: Record<string, string> = Object.fromEntries(own);
  for (const name of live.keys()) {
    const object = await administrator.read(within(namespace, configMap(name)));
    wanted[path(name)] = canonicalYaml(sanitised(object as Parameters<typeof sanitised>[0])).trim();
  }
  await expect
    .poll(() => {
      const { "prod/.configbutler/owner.yaml": marker, ...rest } = files();
      return { isMarked: marker !== undefined, files: rest };
    })
    .toEqual({ isMarked: true, files: wanted });
  expect(git(["merge-base", "--is-ancestor", last ?? "", "main"])).toBe("");
  expect(git(["fsck", "--strict", "--no-dangling"])).toBe("");
});
