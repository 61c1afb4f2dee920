// A worker's side of one branch, for tests with real git: its clone on the disk, and what it wants to be in the branch.
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import * as E from "fp-ts/lib/Either.js";
import { onTestFinished } from "vitest";
import { type BranchName, branchName } from "../../packages/git-journal/src/core/git/branch-name.ts";
import type { Commit, FileChange } from "../../packages/git-journal/src/core/git/commit.ts";
import { begin, type Job, type Outcome, type Plan, type Start } from "../../packages/git-journal/src/core/git/cycle.ts";
import type { Authentication } from "../../packages/git-journal/src/core/credentials.ts";
import { filePath } from "../../packages/git-journal/src/core/path.ts";
import { repositoryUrl } from "../../packages/git-journal/src/core/repository-url.ts";
import { scrubber } from "../../packages/git-journal/src/core/scrub.ts";
import { DEADLINES, type Deadlines, perform } from "../../packages/git-journal/src/shell/bare-clone.ts";
import { withAccess } from "../../packages/git-journal/src/shell/credentials.ts";
import { runCycle } from "../../packages/git-journal/src/shell/cycle.ts";
import { type Git, gitIn } from "../../packages/git-journal/src/shell/git.ts";
import { gitEnvironment } from "../../packages/git-journal/src/shell/git-environment.ts";
import { takeWorkDirectory } from "../../packages/git-journal/src/shell/work-directory.ts";

export const branch = (name: string): BranchName => {
  const checked = branchName(name);
  if (E.isLeft(checked)) throw new Error(checked.left);
  return checked.right;
};

/** A new directory, gone when the test has ended. */
export const newDirectory = (): string => {
  const directory = mkdtempSync(path.join(os.tmpdir(), "git-journal-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true, maxRetries: 3 }));
  return directory;
};

/** What is live: texts by path, and who wrote them. */
export type Live = Readonly<Record<string, { readonly text: string; readonly by: string }>>;

export const live = (texts: Readonly<Record<string, string>>, by = "alice"): Live =>
  Object.fromEntries(Object.entries(texts).map(([at, text]) => [at, { text, by }]));

const checkedPath = (text: string) => {
  const checked = filePath(text);
  if (checked === undefined) throw new Error(`not a path: ${text}`);
  return checked;
};

const blobOf = (text: string): string =>
  createHash("sha1")
    .update(`blob ${Buffer.byteLength(text)}\0${text}`)
    .digest("hex");

/** One commit for each author, and one for what is there and not wanted. */
export const planOf = (wanted: () => Live, folder = "prod"): Plan<unknown> => ({
  folders: [folder],
  blobsToRead: () => [],
  read: () => null,
  commits: (tree) => {
    const now = wanted();
    const changes = new Map<string, FileChange[]>();
    const add = (by: string, change: FileChange): void => void changes.set(by, [...(changes.get(by) ?? []), change]);
    for (const [at, { text, by }] of Object.entries(now))
      if (tree.get(at)?.id !== blobOf(text))
        add(by, { path: checkedPath(at), to: "content", content: Buffer.from(text) });
    for (const [at, { kind }] of tree)
      if (at.startsWith(`${folder}/`) && kind === "file" && now[at] === undefined)
        add("nobody", { path: checkedPath(at), to: "absent" });
    return [...changes].map(
      ([by, all]): Commit => ({
        author: { name: by, email: `${by}@example.com` },
        at: 1_700_000_000,
        message: `Update ${all.length} objects by user/${by}\n\nChanged-by: ${by}\n`,
        changes: all,
      }),
    );
  },
});

export interface Side {
  readonly directory: string;
  readonly clone: string;
  readonly memory: string;
  readonly cycle: (options: CycleOptions) => Promise<Outcome>;
}

export interface CycleOptions {
  readonly wanted?: Live;
  readonly plan?: Plan<unknown> | "recover";
  readonly start?: Start;
  readonly repack?: boolean;
  readonly deadlines?: Partial<Deadlines>;
  readonly largest?: number;
  readonly mayPushFor?: () => number;
  /** Stands between the worker and git. */
  readonly around?: (git: Git) => Git;
  readonly env?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Told before each effect, and after it. */
  readonly onEffect?: (what: string, when: "before" | "after") => unknown;
}

export interface Remote {
  readonly url: string;
  readonly branch?: string;
  readonly authentication?: Partial<Authentication>;
  readonly secret?: string;
}

/** Makes the worker's side. @param directory where an earlier one was, after its crash */
export const sideOf = async (
  { url, branch: name = "main", authentication = {}, secret }: Remote,
  directory: string = newDirectory(),
): Promise<Side> => {
  const memory = path.join(directory, "memory");
  const taken = await takeWorkDirectory(directory, memory);
  if (E.isLeft(taken)) throw new Error(taken.left);
  const work = taken.right;
  const clone = work.clone("live");
  const parsed = repositoryUrl(url);
  if (E.isLeft(parsed)) throw new Error(parsed.left);
  const { protocol, host, port } = parsed.right;
  const authenticated = { protocol, credentials: { by: "nothing" }, ca: undefined, ...authentication } as const;
  const place = { url: parsed.right.url, host, port, branch: branch(name), secret, scrub: scrubber(authenticated) };
  return {
    directory,
    clone,
    memory,
    cycle: ({
      wanted = {},
      plan = planOf(() => wanted),
      start = "disk",
      repack = false,
      deadlines = {},
      largest = 1024 * 1024 * 1024,
      mayPushFor = () => 1000,
      around = (git) => git,
      env = process.env as Record<string, string>,
      signal,
      onEffect = () => undefined,
    }) =>
      withAccess(authenticated, work.places, (access) => {
        const git = around(
          gitIn(gitEnvironment({ directory: clone, home: work.home, url: place.url, access, env }), signal),
        );
        const at = {
          git,
          directory: clone,
          place,
          deadlines: { ...DEADLINES, fetch: 20, push: 20, ...deadlines },
          largest,
          mayPushFor,
        };
        const job: Job<unknown> = { place, plan, repack };
        return runCycle(begin(job, start), async (effect) => {
          await onEffect(effect.do, "before");
          const answer = await perform(at, effect);
          await onEffect(effect.do, "after");
          return answer;
        });
      }),
  };
};
