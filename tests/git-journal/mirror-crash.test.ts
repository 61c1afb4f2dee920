// Any instant may be the last of the running journal, and any answer an error: in the end the branch says what is live, once.
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Hook } from "@janus/kube";
import { describe, expect, it } from "vitest";
import { deleting, patching } from "../fixtures/changes.ts";
import type { Phase } from "../fixtures/git-server.ts";
import { sampled, share, showShare } from "../fixtures/sample.ts";
import { workspace } from "../fixtures/workspace.ts";
import { configMap, configuration, controllerOf, place, workDirectory } from "./mirror-world.ts";

const fileOf = (namespace: string, name: string, resource = "configmaps"): string =>
  `prod/core/v1/${resource}/${namespace}/${name}.yaml`;

const secret = {
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "s" },
  stringData: { password: "correct-horse" },
};

type When = "before" | "after";
/** What becomes of a request that the process survives: the server does not take it, or its answer never arrives. */
type Mishap = "refused" | "lost";
type Point =
  | { readonly at: "answer"; readonly n: number; readonly mishap: Mishap }
  | { readonly at: "request"; readonly n: number; readonly when: When }
  | { readonly at: "process"; readonly n: number; readonly when: When }
  | { readonly at: "phase"; readonly n: number; readonly phase: Phase };

/** A program `git` that stops where the process is to die: before or after the n-th git, and says so. */
const stoppingGit = (directory: string, { n, when }: { readonly n: number; readonly when: When }): string => {
  const bin = path.join(directory, "bin");
  mkdirSync(bin);
  const count = path.join(directory, "count");
  const stopped = path.join(directory, "stopped");
  const real = `PATH="${process.env["PATH"]}" git "$@"`;
  writeFileSync(
    path.join(bin, "git"),
    `#!/bin/sh\necho x >> "${count}"\nif [ "$(wc -l < "${count}")" -ne ${n} ]; then PATH="${process.env["PATH"]}" exec git "$@"; fi\n${
      when === "before" ? `touch "${stopped}"\nexec sleep 60\n` : `${real}\ntouch "${stopped}"\nexec sleep 60\n`
    }`,
  );
  chmodSync(path.join(bin, "git"), 0o755);
  return bin;
};

const dead: ReturnType<Hook> = Promise.resolve({
  _tag: "Left",
  left: { type: "unanswered", cause: "aborted", message: "this process is dead" },
});

const unavailable: ReturnType<Hook> = Promise.resolve({
  _tag: "Left",
  left: { type: "refused", code: 500, reason: "InternalError", message: "not now", causes: [] },
});
const lost: ReturnType<Hook> = Promise.resolve({
  _tag: "Left",
  left: { type: "unanswered", cause: "connection", message: "the answer was lost" },
});

/** @param shards whether it shares branches with others, of which there are none */
const killedAt = async (point: Point, shards = false): Promise<void> => {
  const death = { isArmed: false, isOver: false, requests: 0, phases: 0 };
  const over = Promise.withResolvers<void>();
  const die = (): void => {
    death.isOver = true;
    over.resolve();
  };
  const txns = await workspace();
  const { url, namespace, git, files, have, log, create } = await place({
    namespace: txns.namespace,
    onPhase: (_, phase) => {
      if (!death.isArmed || point.at !== "phase" || phase !== point.phase) return;
      death.phases += 1;
      if (death.phases === point.n) die();
    },
  });
  const directory = workDirectory();
  await create(...configuration(url, ["configmaps", "secrets"]), configMap("a"), configMap("b"));
  const first = await controllerOf(namespace, { directory });
  await have([fileOf(namespace, "a"), fileOf(namespace, "b")]);
  await first.stop();
  const before = log().length;
  // Times of commits and of Transactions are in whole seconds: what it deletes is its own only if it ends later than the tip.
  const tipDate = Number(git(["log", "-1", "--format=%ct", "main"]));
  await expect.poll(() => Date.now() / 1000, { interval: 50 }).toBeGreaterThan(tipDate + 1);
  await txns.janus();
  const { status } = await txns.run([patching(configMap("a", { a: "2" })), deleting(configMap("b"))]);
  expect(status.phase).toBe("Committed");
  await create(configMap("c"), secret);

  const hook: Hook = async (request, next) => {
    if (death.isOver) return dead;
    death.requests += 1;
    const isMeant = death.requests === (point.at === "phase" ? 0 : point.n);
    if (point.at === "answer" && isMeant) {
      if (point.mishap === "refused") return unavailable;
      await next(request);
      return lost;
    }
    const isLast = point.at === "request" && isMeant;
    if (isLast && point.when === "before") {
      die();
      return dead;
    }
    const answer = await next(request);
    if (isLast) die();
    return death.isOver ? dead : answer;
  };
  const shim = path.join(directory, "shim");
  mkdirSync(shim);
  const bin = point.at === "process" ? `${stoppingGit(shim, point)}:` : "";
  const wanted = [fileOf(namespace, "a"), fileOf(namespace, "c"), fileOf(namespace, "s", "secrets")];
  death.isArmed = true;
  const second = await controllerOf(namespace, {
    directory,
    flags: { shards },
    hooks: [hook],
    env: { ...process.env, PATH: `${bin}${process.env["PATH"]}` },
  });
  const looked = setInterval(() => {
    if (existsSync(path.join(shim, "stopped"))) die();
  }, 5);
  // Where the point is never reached, it lives to its end.
  await Promise.race([over.promise, have(wanted)]);
  clearInterval(looked);
  death.isOver = true;
  await second.stop();

  await controllerOf(namespace, { directory, flags: { shards } });
  await have(wanted);
  await expect.poll(() => files()[fileOf(namespace, "a")]).toContain('a: "2"');
  // A Secret comes later where the key of its digest could not be read at once.
  const created = [
    ["Create 2 objects"],
    [`[CREATE] core/v1/configmaps/${namespace}/c`, `[CREATE] core/v1/secrets/${namespace}/s`],
  ];
  const expected = (point.at === "answer" ? created : created.slice(0, 1)).map((subjects) =>
    [...subjects, `Transaction ${namespace}/txn: Committed, 2 changes`].toSorted().join(),
  );
  expect(expected).toContain(log("%s").slice(0, -before).toSorted().join());
  expect(git(["fsck", "--strict", "--no-dangling"])).toBe("");
  expect(git(["log", "--all", "-S", "correct-horse", "--format=%h"])).toBe("");
};

const MISHAPS: readonly Mishap[] = ["refused", "lost"];
const BOTH: readonly When[] = ["before", "after"];
const numbers = (most: number): readonly number[] => Array.from({ length: most }, (_, n) => n + 1);

/** More than there are: what is beyond the end kills nobody. */
const points: readonly Exclude<Point, { readonly at: "answer" }>[] = [
  ...numbers(45).flatMap((n) => BOTH.map((when) => ({ at: "request" as const, n, when }))),
  ...numbers(12).flatMap((n) => BOTH.map((when) => ({ at: "process" as const, n, when }))),
  ...numbers(5).flatMap((n) =>
    (["asked", "done", "answered"] as const).map((phase) => ({ at: "phase" as const, n, phase })),
  ),
];

const shown = (point: Exclude<Point, { readonly at: "answer" }>): readonly [string, Point] => [
  point.at === "phase" ? `when request ${point.n} of git is ${point.phase}` : `${point.when} ${point.at} ${point.n}`,
  point,
];

const every = share({ npmTest: 40, ci: 40 });

describe(`the running journal${showShare("point", every)}`, () => {
  it.each(sampled(points, every).map(shown))(
    "that is killed %s loses nothing, and does nothing twice",
    async (_, point) => {
      await expect(killedAt(point)).resolves.toBeUndefined();
    },
  );

  it.each(
    sampled(
      numbers(45).flatMap((n) => MISHAPS.map((mishap) => [n, mishap] as const)),
      every,
    ),
  )("whose request %d is %s loses nothing, and does nothing twice", async (n, mishap) => {
    await expect(killedAt({ at: "answer", n, mishap })).resolves.toBeUndefined();
  });
});

/** With requests for its own Lease, and for those of others. */
const shared = numbers(60).flatMap((n): readonly Point[] => [
  ...BOTH.map((when) => ({ at: "request" as const, n, when })),
  ...MISHAPS.map((mishap) => ({ at: "answer" as const, n, mishap })),
]);
const few = share({ npmTest: 240, ci: 240 });

describe(`the running journal that shares branches${showShare("point", few)}`, () => {
  it.each(sampled(shared, few).map((point) => [Object.values(point).join(" "), point] as const))(
    "loses nothing, and does nothing twice: %s",
    async (_, point) => {
      await expect(killedAt(point, true)).resolves.toBeUndefined();
    },
  );
});
