// A branch with one destination of ConfigMaps, its worker's state, and a server in memory, for tests of what the worker does next.
import type { Transaction } from "@janus/api";
import type { KubeObject } from "@janus/types";
import { blobId } from "../../../packages/git-journal/src/core/blob-id.ts";
import {
  blobsToRead,
  compared,
  comparedFolders,
  readBlob,
} from "../../../packages/git-journal/src/core/branch-comparison.ts";
import type { BranchEvent, SeenFile } from "../../../packages/git-journal/src/core/branch-event.ts";
import { afterEvent } from "../../../packages/git-journal/src/core/branch-fold.ts";
import { type BranchState, initialBranch } from "../../../packages/git-journal/src/core/branch-state.ts";
import { type BranchStep, nextStep } from "../../../packages/git-journal/src/core/branch-step.ts";
import type { Destination } from "../../../packages/git-journal/src/core/destinations.ts";
import { resourceKey } from "../../../packages/git-journal/src/core/discovery.ts";
import { branchName } from "../../../packages/git-journal/src/core/git/branch-name.ts";
import type { Commit } from "../../../packages/git-journal/src/core/git/commit.ts";
import type { Outcome } from "../../../packages/git-journal/src/core/git/cycle.ts";
import type { ObjectId } from "../../../packages/git-journal/src/core/git/object-id.ts";
import { type By, UNKNOWN } from "../../../packages/git-journal/src/core/history.ts";
import type { JournaledBranch } from "../../../packages/git-journal/src/core/journaled-branch.ts";
import { identityOf, ingested } from "../../../packages/git-journal/src/core/kept-object.ts";
import { baseFolder, objectPath } from "../../../packages/git-journal/src/core/path.ts";
import { repositoryUrl } from "../../../packages/git-journal/src/core/repository-url.ts";
import {
  rulesOfWatchRule,
  selectedResources,
  type SelectionRule,
} from "../../../packages/git-journal/src/core/selection.ts";
import type { Tree } from "../../../packages/git-journal/src/core/tree.ts";
import { right } from "./right.ts";

export const FOLDER = right(baseFolder("prod"));
export const SETTINGS = { watchAll: false, excludes: [], secrets: true };
export const LIMITS = { maxFiles: 2, maxBytes: 10_000, maxWait: 100, maxCommits: 2 };
const TIMING = { refresh: 1_000_000, idle: 5_000 };
const SERVED = ["configmaps", "secrets"].map((plural) => ({
  group: "",
  plural,
  kind: plural === "configmaps" ? "ConfigMap" : "Secret",
  namespaced: true,
  versions: ["v1"],
}));
export const CONFIG_MAPS = resourceKey({ group: "", plural: "configmaps" });
export const SECRETS = resourceKey({ group: "", plural: "secrets" });
const INSTALLATION = { clusterUid: "u1", namespace: "janus", name: "journal", instance: "i" };
const repository = right(repositoryUrl("https://git.example.com/live.git"));

export const ALL: readonly SelectionRule[] = right(
  rulesOfWatchRule({ rules: [{ resources: ["configmaps"] }] }, "shop"),
);

export const branchOf = (rules: readonly SelectionRule[] = ALL, more: Partial<Destination> = {}): JournaledBranch => ({
  key: "0123456789abcdef",
  repository,
  branch: right(branchName("main")),
  secret: undefined,
  namespace: "shop",
  limits: LIMITS,
  destinations: [
    {
      destination: {
        name: "shop/prod",
        repository,
        branch: "main",
        folder: FOLDER,
        exclusiveMode: false,
        ageRecipients: [],
        config: {} as Destination["config"],
        ...more,
      },
      rules,
      selected: selectedResources(rules, SERVED, SETTINGS),
      isBlocked: false,
      deletes: rules.length > 0,
      otherFolders: [],
    },
  ],
});

const NOBODY: ReadonlySet<string> = new Set();

export const configMap = (name: string, value: string, more: Partial<KubeObject["metadata"]> = {}): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "shop", uid: `uid-${name}`, resourceVersion: value, ...more },
  data: { value },
});

export const pathOf = (name: string) =>
  objectPath(FOLDER, { group: "", version: "v1", resource: "configmaps", namespace: "shop", name });

export interface BranchWorld {
  now: number;
  state: BranchState;
  /** Texts by path. */
  tree: ReadonlyMap<string, string>;
  commits: readonly Commit[];
  readonly texts: Map<string, Uint8Array>;
  /** When the tip was committed. */
  tipDate: number | undefined;
}

export const fold = (world: BranchWorld, event: BranchEvent): void => {
  world.state = afterEvent(world.state, event, world.now);
};

const resourceOf = ({ state }: BranchWorld) => {
  const [destination] = [...state.destinations.values()];
  const selected = destination?.wanted.selected.find((one) => resourceKey(one) === CONFIG_MAPS);
  if (selected === undefined) throw new Error("ConfigMaps are not selected");
  return selected;
};

export const fileOf = (world: BranchWorld, object: KubeObject): SeenFile => {
  const resource = resourceOf(world);
  const result = ingested(object, {
    resource,
    folder: FOLDER,
    namespaceLabels: {},
    secrets: { key: new Uint8Array(), recipients: [] },
    format: "sha1",
  });
  if (result.type === "kept" && result.file.type === "plain")
    world.texts.set(result.object.fingerprint, Buffer.from(result.file.text));
  return {
    destination: "shop/prod",
    resource: CONFIG_MAPS,
    path: objectPath(FOLDER, identityOf(resource, object)),
    ingested: result.type === "kept" ? { type: "kept", object: result.object } : result,
  };
};

export const seen = (world: BranchWorld, object: KubeObject, by: By = UNKNOWN): void =>
  fold(world, { type: "seen", file: fileOf(world, object), by });

export const gone = (world: BranchWorld, name: string, by: By = UNKNOWN): void =>
  fold(world, {
    type: "seen",
    file: { destination: "shop/prod", resource: CONFIG_MAPS, path: pathOf(name), ingested: { type: "unselected" } },
    by,
  });

export const listed = (world: BranchWorld, objects: readonly KubeObject[]): void =>
  fold(world, {
    type: "listed",
    resource: CONFIG_MAPS,
    version: "v1",
    files: objects.map((object) => fileOf(world, object)),
  });

export const transaction = (world: BranchWorld, one: Transaction): void =>
  fold(world, { type: "transaction", transaction: one });

export const want = (world: BranchWorld, branch: JournaledBranch): void =>
  fold(world, { type: "wanted", branch, gone: NOBODY, settings: SETTINGS });

/** A process that begins; the branch may be there. */
export const newWorld = (tree: BranchWorld["tree"] = new Map(), isTransactionsKnown = true): BranchWorld => {
  const world: BranchWorld = {
    now: 1_000,
    state: initialBranch(branchOf(), SETTINGS),
    tree,
    commits: [],
    texts: new Map(),
    tipDate: undefined,
  };
  want(world, branchOf());
  if (isTransactionsKnown) fold(world, { type: "transactionsKnown" });
  return world;
};

const treeOf = (files: BranchWorld["tree"]): Tree =>
  new Map([...files].map(([path, text]) => [path, { kind: "file", id: blobId(text, "sha1") }]));

let made = 0;
const newId = (): ObjectId => (made += 1).toString(16).padStart(40, "0") as ObjectId;

const told = { conflicts: [], rewritten: false, replays: 0, next: "clone" } as const;

/** What becomes of a push: the server has it or not, and its answer arrives or not. */
export interface Fate {
  readonly arrives: boolean;
  readonly isHeard: boolean;
}

const applied = (world: BranchWorld, commits: readonly Commit[]): void => {
  const tree = new Map(world.tree);
  for (const { changes } of commits)
    for (const change of changes)
      if (change.to === "content") tree.set(change.path, Buffer.from(change.content).toString());
      else tree.delete(change.path);
  world.tree = tree;
  world.commits = [...world.commits, ...commits];
};

const sync = (
  world: BranchWorld,
  isFresh: boolean,
  { arrives, isHeard }: Fate,
  landed: ObjectId | undefined,
): ObjectId | undefined => {
  const tree = treeOf(world.tree);
  const texts = new Map([...world.tree].map(([, text]) => [blobId(text, "sha1"), text]));
  const folders = new Set(comparedFolders(world.state));
  const read = new Map(blobsToRead(world.state, tree).map((id) => [id, readBlob(Buffer.from(texts.get(id) ?? ""))]));
  fold(world, { type: "landed", head: landed });
  const { comparison, commits } = compared(world.state, {
    tree,
    folders,
    read,
    textOf: (fingerprint) => world.texts.get(fingerprint),
    installation: INSTALLATION,
    tipDate: world.tipDate,
    now: world.now,
  });
  fold(world, { type: "compared", comparison });
  const end = (outcome: Outcome): void => fold(world, { type: "ended", outcomes: [outcome], isFresh });
  if (commits.length === 0) {
    end({ ...told, is: "current", tip: undefined });
    return undefined;
  }
  const ids = commits.map(newId);
  const head = ids.at(-1) ?? newId();
  fold(world, { type: "made", head, commits: comparison.commits });
  if (arrives) applied(world, commits);
  if (arrives && isHeard) {
    end({ ...told, is: "pushed", tip: head, commits: ids });
    return undefined;
  }
  end({ ...told, is: "failed", trouble: { reason: "ConnectionFailed", message: "no", lasts: false } });
  return arrives ? head : undefined;
};

/** Does what is next, until there is a wait that is not over at this time. Returns the steps. */
export const work = (world: BranchWorld, fates: readonly Fate[] = []): readonly BranchStep[] => {
  const steps: BranchStep[] = [];
  let landed: ObjectId | undefined;
  for (let n = 0; n < 100; n += 1) {
    const step = nextStep(world.state, TIMING, world.now);
    steps.push(step);
    switch (step.do) {
      case "wait":
        return steps;
      case "acquire":
        fold(world, { type: "lease", is: "held" });
        break;
      case "release":
        fold(world, { type: "lease", is: "none" });
        break;
      case "load":
        fold(world, { type: "loaded", lost: new Set(step.missing.values()) });
        break;
      case "readTargets":
        return steps;
      case "sync": {
        const pushes = steps.filter((one) => one.do === "sync").length;
        landed = sync(world, step.isFresh, fates[pushes - 1] ?? { arrives: true, isHeard: true }, landed);
      }
    }
  }
  throw new Error("it does not come to an end");
};

/** All waits are over that have an end. */
export const later = (world: BranchWorld, ms = 60_000): void => {
  world.now += ms;
};
