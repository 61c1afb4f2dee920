// Tests against a model that any interleaving of changes, Transactions, pushes, foreign commits and crashes ends with a branch that says
// what is live, and that nobody is ever the author of what somebody else has changed.
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { OPERATIONS } from "../../../packages/git-journal/src/api/watch-rule.ts";
import { commitsOf, type PlannedCommit } from "../../../packages/git-journal/src/core/batch.ts";
import { canonicalYaml } from "../../../packages/git-journal/src/core/canonical.ts";
import { contentOf as contentOfText } from "../../../packages/git-journal/src/core/file-content.ts";
import {
  authorKey,
  type By,
  type History,
  NO_HISTORY,
  recorded,
  settled,
  withoutPushed,
} from "../../../packages/git-journal/src/core/history.ts";
import { type FilePath, objectPath, ROOT } from "../../../packages/git-journal/src/core/path.ts";
import { pendingFiles } from "../../../packages/git-journal/src/core/pending-files.ts";
import { type IndexedObject, planned } from "../../../packages/git-journal/src/core/plan.ts";
import {
  heldFiles,
  type Hold,
  type JournaledTransaction,
  resumed,
} from "../../../packages/git-journal/src/core/transactions.ts";
import type { Tree } from "../../../packages/git-journal/src/core/tree.ts";

const ALL = new Set(OPERATIONS);
const LIMITS = { maxFiles: 2, maxBytes: 1_000, maxWait: 0 };
const NAMES = ["a", "b", "c"] as const;

const pathOf = (name: string): FilePath =>
  objectPath(ROOT, { group: "", version: "v1", resource: "configmaps", namespace: "shop", name });
const textOf = (name: string, value: string): string =>
  canonicalYaml({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "shop" }, data: { value } });
/** All that files say in the model is read once. */
const contents = new Map<string, ReturnType<typeof contentOfText>>();
const contentOf = (text: string): ReturnType<typeof contentOfText> => {
  if (!contents.has(text)) contents.set(text, contentOfText(text));
  return contents.get(text);
};

const versions = NAMES.flatMap((name) => ["1", "2", "3"].map((value) => ({ name, value, text: textOf(name, value) })));
const textBy = new Map(versions.map(({ text }) => [contentOf(text)?.fingerprint ?? "", text]));
const valueBy = new Map(versions.map(({ text, value }) => [contentOf(text)?.fingerprint ?? "", value]));
const objects = new Map(
  versions.map(({ name, value, text }): readonly [string, IndexedObject] => [
    `${name} ${value}`,
    { operations: ALL, blob: text, fingerprint: contentOf(text)?.fingerprint ?? "", bytes: text.length },
  ]),
);
const indexed = (name: string, value: string): IndexedObject => {
  const object = objects.get(`${name} ${value}`);
  if (object === undefined) throw new Error(`${name} never has ${value}`);
  return object;
};

type Command =
  | { readonly do: "change"; readonly by: string; readonly name: string; readonly value: string | undefined }
  /** Of the Transaction that is active, if there is one: else it begins. */
  | { readonly do: "transact"; readonly name: string; readonly value: string | undefined }
  | { readonly do: "end" }
  /** Somebody else commits to the branch. */
  | { readonly do: "meddle"; readonly name: string; readonly text: string | undefined }
  /** So many commits arrive, and then the push fails; `isHeard`: the answer arrives, too. */
  | { readonly do: "push"; readonly most: number; readonly isHeard: boolean }
  | { readonly do: "crash" };

const name = fc.constantFrom(...NAMES);
const value = fc.option(fc.constantFrom("1", "2", "3"), { nil: undefined });
const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("change" as const), by: fc.constantFrom("alice", "bob"), name, value }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("transact" as const), name, value }) },
  { weight: 1, arbitrary: fc.constant({ do: "end" as const }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("meddle" as const),
      name,
      text: fc.constantFrom(undefined, "nonsense", `# kept\n${textOf("a", "1")}`, textOf("b", "2")),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("push" as const),
      most: fc.integer({ min: 0, max: 3 }),
      isHeard: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ do: "crash" as const }) },
);

/** What is true, and what a process knows of it. */
interface World {
  live: ReadonlyMap<string, string>;
  /** Who has changed each file last, of all whom the commits of it may name. */
  authors: ReadonlyMap<FilePath, ReadonlySet<string>>;
  tree: Tree;
  history: History;
  transactions: readonly JournaledTransaction[];
  commits: readonly PlannedCommit[];
}

const active = ({ transactions }: World): JournaledTransaction | undefined =>
  transactions.find(({ phase }) => phase === "Committing");

const changed = (world: World, by: By, name: string, value: string | undefined): World => {
  if (world.live.get(name) === value) return world;
  const live = new Map(world.live);
  if (value === undefined) live.delete(name);
  else live.set(name, value);
  const path = pathOf(name);
  const version = value === undefined ? undefined : indexed(name, value);
  return {
    ...world,
    live,
    authors: new Map([
      ...world.authors,
      [path, new Set([...(world.authors.get(path) ?? []), `${authorKey(by)} ${value}`])],
    ]),
    history: recorded(world.history, { path, version, operations: ALL, by, at: 0 }),
  };
};

const transacted = (world: World, name: string, value: string | undefined): World => {
  const known = active(world);
  const uid = known?.uid ?? `t${world.transactions.length}`;
  const next: JournaledTransaction = known ?? {
    namespace: "shop",
    name: uid,
    uid,
    phase: "Committing",
    completedAt: undefined,
    users: {},
    targets: NAMES.map((one) => ({ path: pathOf(one), sign: { type: "mark" } })),
  };
  const transactions = [...world.transactions.filter((one) => one !== known), next];
  return changed({ ...world, transactions }, { type: "transaction", uid }, name, value);
};

const holdOf = ({ phase }: JournaledTransaction): Hold =>
  phase === "Committing" ? { type: "held" } : { type: "due", isIncomplete: false };

const pushed = (world: World, most: number, isHeard: boolean): World => {
  const index = new Map([...world.live].map(([name, value]) => [pathOf(name), indexed(name, value)] as const));
  const read = new Map([...world.tree.values()].map(({ id }) => [id, contentOf(id)] as const));
  const compared = {
    folder: ROOT,
    otherFolders: [],
    spared: new Set<FilePath>(),
    index,
    tree: world.tree,
    read,
    mayDelete: () => true,
    isWritten: () => true,
  };
  const held = heldFiles(
    world.transactions.map((transaction) => ({ transaction, hold: holdOf(transaction) })),
    world.history.touches,
  );
  const all = commitsOf(pendingFiles(planned(compared), compared, held), world.history, LIMITS);
  const arrived = all.slice(0, most);
  const files = arrived.flatMap(({ files }) => files);
  const tree = new Map(world.tree);
  for (const { path, version } of files)
    if (version === undefined) tree.delete(path);
    else tree.set(path, { kind: "file", id: textBy.get(version.fingerprint) ?? "" });
  const left = isHeard ? withoutPushed(world.history, files) : world.history;
  const history =
    isHeard && arrived.length === all.length
      ? settled(left, left.touches.at(-1)?.number ?? 0, (path) => held.has(path))
      : left;
  return { ...world, tree, history, commits: [...world.commits, ...arrived] };
};

const step = (world: World, command: Command): World => {
  switch (command.do) {
    case "change":
      return changed(world, { type: "user", name: command.by }, command.name, command.value);
    case "transact":
      return transacted(world, command.name, command.value);
    case "end":
      return { ...world, transactions: world.transactions.map((one) => ({ ...one, phase: "Committed" as const })) };
    case "meddle": {
      const tree = new Map(world.tree);
      if (command.text === undefined) tree.delete(pathOf(command.name));
      else tree.set(pathOf(command.name), { kind: "file", id: command.text });
      return { ...world, tree };
    }
    case "push":
      return pushed(world, command.most, command.isHeard);
    case "crash":
      return { ...world, history: NO_HISTORY };
  }
};

const START: World = {
  live: new Map(),
  authors: new Map(),
  tree: new Map(),
  history: NO_HISTORY,
  transactions: [],
  commits: [],
};

const run = (commands: readonly Command[]): World => {
  const world = commands.reduce(step, START);
  const ended = step(world, { do: "end" });
  return pushed(pushed(ended, Number.POSITIVE_INFINITY, true), Number.POSITIVE_INFINITY, true);
};

/** An object of another name in its file is nobody's business, as long as there is none of this name. */
const said = (tree: Tree, name: string): string | undefined => {
  const id = tree.get(pathOf(name))?.id;
  const content = id === undefined ? undefined : contentOf(id);
  return content?.name === name ? content.fingerprint : undefined;
};

const commands = fc.array(command, { maxLength: 25 });

it("in the end the branch says what is live, and the next push has nothing to do", () => {
  fc.assert(
    fc.property(commands, (commands) => {
      const world = run(commands);
      expect(NAMES.map((name) => said(world.tree, name))).toEqual(
        NAMES.map((name) => {
          const value = world.live.get(name);
          return value === undefined ? undefined : indexed(name, value).fingerprint;
        }),
      );
      expect(pushed(world, Number.POSITIVE_INFINITY, true).commits).toEqual(world.commits);
      expect(world.history.touches).toEqual([]);
    }),
    { numRuns: 500 },
  );
});

it("nobody is the author of a version that somebody else has made", () => {
  fc.assert(
    fc.property(commands, (commands) => {
      const { commits, authors } = run(commands);
      const claimed = commits
        .filter(({ by }) => by.type !== "unknown")
        .flatMap(({ by, files }) =>
          files.map(({ path, version }) => ({
            path,
            claim: `${authorKey(by)} ${version && valueBy.get(version.fingerprint)}`,
          })),
        );
      expect(claimed.filter(({ path, claim }) => authors.get(path)?.has(claim) !== true)).toEqual([]);
    }),
    { numRuns: 500 },
  );
});

it("nothing of a Transaction is in the branch before it has ended, and its commit is one, if every answer is heard", () => {
  fc.assert(
    fc.property(commands, (commands) => {
      const heard = commands
        .map((one) => (one.do === "push" ? { ...one, isHeard: true, most: Number.POSITIVE_INFINITY } : one))
        .filter(({ do: what }) => what !== "meddle");
      let world = START;
      for (const command of heard) {
        const before = world;
        world = step(world, command);
        const running = active(before)?.uid;
        const fresh = world.commits.slice(before.commits.length);
        expect(fresh.filter(({ by }) => by.type === "transaction" && by.uid === running)).toEqual([]);
      }
      const uids = run(heard).commits.flatMap(({ by }) => (by.type === "transaction" ? [by.uid] : []));
      expect(new Set(uids).size).toBe(uids.length);
    }),
    { numRuns: 500 },
  );
});

it("after a crash a Transaction that has ended gets its commit from what is left on the objects", () => {
  const world = [{ do: "transact", name: "a", value: "1" }, { do: "end" }, { do: "crash" }].reduce(
    (world, one) => step(world, one as Command),
    START,
  );
  const [transaction] = world.transactions;
  const index = new Map([[pathOf("a"), indexed("a", "1")]]);
  const compared = {
    folder: ROOT,
    otherFolders: [],
    spared: new Set<FilePath>(),
    index,
    tree: world.tree,
    read: new Map(),
    mayDelete: () => true,
    isWritten: () => true,
  };
  const files = pendingFiles(planned(compared), compared, new Set());
  const touches = resumed(files, world.transactions, {
    newest: () => transaction?.uid,
    tipDate: Number.NEGATIVE_INFINITY,
  });
  const history = touches.reduce((all, touch) => recorded(all, { ...touch, at: 0 }), NO_HISTORY);
  expect(commitsOf(files, history, LIMITS).map(({ by }) => by)).toEqual([
    { type: "transaction", uid: transaction?.uid },
  ]);
});
