// A bare clone of one branch on the disk, without a work tree: carries out the effects of a cycle.
import { randomInt } from "node:crypto";
import { readdir, rm, stat } from "node:fs/promises";
import path from "node:path";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { reasonOf } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import * as O from "fp-ts/lib/Option.js";
import { refOf } from "../core/git/branch-name.ts";
import type { Effect, Results } from "../core/git/effect.ts";
import { fastImport } from "../core/git/fast-import.ts";
import { type GitFailure, type Place, TOO_LARGE, TOO_MANY_FILES } from "../core/git/git-answer.ts";
import { concerns, parseEntry } from "../core/git/ls-tree.ts";
import { type ObjectId, objectId } from "../core/git/object-id.ts";
import { LOG_FORMAT, parseLog } from "../core/git/pending.ts";
import { FETCHED, parseRefs, PENDING, REFS_FORMAT, TIP } from "../core/git/refs.ts";
import type { Tree, TreeEntry } from "../core/tree.ts";
import { eachBlob } from "./batch-output.ts";
import { type Git, printed } from "./git.ts";

/** The deadlines of git processes, in s. */
export interface Deadlines {
  readonly fetch: number;
  readonly push: number;
  /** The deadline of what needs no server. */
  readonly local: number;
}

export const DEADLINES: Deadlines = { fetch: 300, push: 120, local: 300 };

export interface BareClone {
  readonly git: Git;
  readonly directory: string;
  readonly place: Place;
  readonly deadlines: Deadlines;
  /** The most bytes that the clone may take. */
  readonly largest: number;
  /** The most s that a push may last, since afterwards another process may write the branch. */
  readonly mayPushFor: () => number;
}

type Answered<A> = Promise<E.Either<GitFailure, A>>;

/** The least time for a push, in s: one that has less is not begun. */
const LEAST_PUSH = 1;

/** Files that a killed process leaves; `.keep` files of packs, too, since nothing here keeps a pack. */
const LEFT = /\.lock$|^tmp_|^incoming-|^tmp_objdir-|^fast_import_crash_|\.keep$/u;

const fileSystem = <A>(work: () => Promise<A>): Answered<A> =>
  work().then(E.right, (error: unknown) =>
    E.left({ ended: { by: "error", message: reasonOf(error) }, stderr: "", stdout: "" }),
  );

const exists = (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    () => false,
  );

const nothing = async (stdout: Readable): Promise<null> => {
  await printed(stdout);
  return null;
};

const prepare = async (directory: string): Promise<"present" | "absent"> => {
  if (!(await exists(path.join(directory, "HEAD")))) return "absent";
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  for (const { parentPath, name } of entries)
    if (LEFT.test(name)) await rm(path.join(parentPath, name), { recursive: true, force: true });
  return "present";
};

/** Returns the bytes of all files that are still there: they come and go meanwhile. */
const sizeOf = async (directory: string): Promise<number> => {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => []);
  const sizes = entries.map(({ parentPath, name }) =>
    stat(path.join(parentPath, name)).then(
      (found) => (found.isFile() ? found.size : 0),
      () => 0,
    ),
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
};

/** Yields records that end with NUL. */
async function* records(stdout: Readable): AsyncGenerator<string> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of stdout as AsyncIterable<Buffer>) {
    const all: Buffer = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let from = 0;
    for (let to = all.indexOf(0); to >= 0; to = all.indexOf(0, from)) {
      yield all.toString("utf8", from, to);
      from = to + 1;
    }
    rest = all.subarray(from);
  }
}

/** The most entries of a tree that are kept in memory, and that are read: folders within each other have any number of them. */
const LARGEST = { kept: 500_000, read: 5_000_000 };

/** Reads the tree that `ls-tree -r -z` prints, as far as it concerns these folders; fails where that is more than fits into memory. */
export const treeOf =
  (folders: readonly string[], largest = LARGEST) =>
  async (stdout: Readable): Promise<Tree> => {
    const tree = new Map<string, TreeEntry>();
    let read = 0;
    for await (const record of records(stdout)) {
      read += 1;
      if (tree.size > largest.kept || read > largest.read) throw new Error(TOO_MANY_FILES);
      const entry = parseEntry(record);
      if (O.isSome(entry) && concerns(folders, entry.value[0])) tree.set(...entry.value);
    }
    return tree;
  };

export const ids = async (stdout: Readable): Promise<readonly ObjectId[]> =>
  (await printed(stdout)).split("\n").flatMap((line) => O.toUndefined(objectId(line)) ?? []);

/** Takes exit code 1 for the answer no. */
const asAnswer = (answer: E.Either<GitFailure, null>): E.Either<GitFailure, boolean> => {
  if (E.isRight(answer)) return E.right(true);
  const { ended } = answer.left;
  return ended.by === "exit" && ended.code === 1 ? E.right(false) : answer;
};

const LOCATION = /<= Recv header: location: (\S+)/iu;

/**
 * Carries out an effect.
 *
 * Guarantees: one git process at most, and no hook, filter or attribute of the repository, since there is no work tree; a push ends
 *             before `mayPushFor` does; a fetch that makes the clone larger than it may be is ended while it does. Never rejects.
 */
export const perform = async <Read>(
  { git, directory, place, deadlines, largest, mayPushFor }: BareClone,
  effect: Effect<Read>,
): Answered<Results<Read>[keyof Results<Read>]> => {
  const ref = refOf(place.branch);
  const local = <A>(args: readonly string[], read: (stdout: Readable) => Promise<A>, input?: Iterable<Uint8Array>) =>
    git({ args, read, deadline: deadlines.local, ...(input === undefined ? {} : { input }) });
  switch (effect.do) {
    case "prepare":
      return fileSystem(() => prepare(directory));
    case "check":
      return local(["fsck", "--connectivity-only", "--no-dangling", "--no-progress"], nothing);
    case "discard":
      return fileSystem(async () => {
        await rm(directory, { recursive: true, force: true });
        return null;
      });
    case "make": {
      const removed = await fileSystem(() => rm(directory, { recursive: true, force: true }));
      return E.isLeft(removed)
        ? removed
        : local(["init", "--quiet", "--bare", "--template=", `--object-format=${effect.format}`], nothing);
    }
    case "fetch":
      return git({
        args: [
          "fetch",
          "--quiet",
          "--no-tags",
          "--no-write-fetch-head",
          "--no-recurse-submodules",
          `--depth=${effect.depth}`,
          "origin",
          `+${ref}:${FETCHED}`,
        ],
        deadline: deadlines.fetch,
        failsFor: async () => ((await sizeOf(directory)) > largest ? TOO_LARGE : undefined),
        read: nothing,
      });
    case "locate": {
      // The trace leaves out what is sent; only the address is read from it.
      const trace = { GIT_TRACE_CURL: "1", GIT_TRACE_CURL_NO_DATA: "1", GIT_TRACE_REDACT: "1" };
      const answer = await git({ args: ["ls-remote", "origin", ref], deadline: 30, env: trace, read: nothing });
      return E.right(E.isLeft(answer) ? LOCATION.exec(answer.left.stderr)?.[1] : undefined);
    }
    case "readRefs":
      return E.map(parseRefs)(await local(["for-each-ref", `--format=${REFS_FORMAT}`, "refs/journal/"], printed));
    case "isAncestor":
      return asAnswer(await local(["merge-base", "--is-ancestor", effect.commit, FETCHED], nothing));
    case "readPending": {
      const { head, base } = effect.pending;
      const range = base === undefined ? head : `${base}..${head}`;
      const args = [
        "-z",
        "--reverse",
        "--topo-order",
        "--raw",
        "--no-abbrev",
        "--no-renames",
        `--format=${LOG_FORMAT}`,
      ];
      return E.map(parseLog)(await local(["log", ...args, range, "--"], printed));
    }
    case "list":
      return local(["ls-tree", "-r", "-z", "--full-tree", effect.commit], treeOf(effect.folders));
    case "readBlobs":
      return local(
        ["cat-file", "--batch"],
        async (stdout) => {
          const blobs = new Map<string, Read>();
          for await (const [id, content] of eachBlob(stdout)) blobs.set(id, effect.read(content));
          return blobs;
        },
        effect.ids.flatMap((id) => (O.isSome(objectId(id)) ? [Buffer.from(`${id}\n`)] : [])),
      );
    case "import":
      return local(["fast-import", "--quiet", "--force", "--done"], ids, fastImport(effect.base, effect.commits));
    case "push": {
      const deadline = Math.min(deadlines.push, mayPushFor());
      if (deadline < LEAST_PUSH) return E.right("not sent");
      const lease = `--force-with-lease=${ref}:${effect.base ?? ""}`;
      const args = ["push", "--porcelain", "--no-progress", "--no-verify", "--no-recurse-submodules", lease];
      const answer = await git({
        args: [...args, "origin", `${effect.head}:${ref}`],
        deadline,
        read: printed,
      });
      return E.map(() => "accepted" as const)(answer);
    }
    case "wait":
      await sleep(randomInt(effect.least, effect.most + 1));
      return E.right(null);
    case "settle": {
      const tip = effect.tip === undefined ? `delete ${TIP}\ndelete ${FETCHED}` : `update ${TIP} ${effect.tip}`;
      return local(["update-ref", "--stdin"], nothing, [Buffer.from(`start\n${tip}\ndelete ${PENDING}\ncommit\n`)]);
    }
    case "repack":
      return local(["repack", "-a", "-d", "-q"], nothing);
    case "prune":
      return local(["prune", "--expire=now"], nothing);
  }
};
