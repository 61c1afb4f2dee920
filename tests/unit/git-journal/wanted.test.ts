// Tests what is wanted in Git by the objects of the four kinds, and what is said of those that are wrong.
import type { JsonObject, KubeObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { KINDS, objectKey } from "../../../packages/git-journal/src/core/configured.ts";
import { branchKey, placeOf } from "../../../packages/git-journal/src/core/journaled-branch.ts";
import { notReadyOnes, readinessOf, type Told } from "../../../packages/git-journal/src/core/readiness.ts";
import { repositoryUrl } from "../../../packages/git-journal/src/core/repository-url.ts";
import { branchesOf, resolved } from "../../../packages/git-journal/src/core/wanted.ts";
import { ANNA } from "./age-identities.ts";
import { cluster, clusterWatchRule, config, destination, made, SETTINGS, watchRule } from "./cluster-state.ts";
import { right } from "./right.ts";

const wanted = (...objects: readonly unknown[]) => [
  ...resolved(cluster(...objects), SETTINGS).wanted.branches.values(),
];

/** What became of all objects, while servers and workers say that all is well. */
const allSaid = (objects: readonly unknown[], ingests = true): ReadonlyMap<string, Told> => {
  const resolution = resolved(cluster(...objects), SETTINGS);
  const fine = { type: "ready", reason: "BranchFound", message: "" } as const;
  const report = { readiness: { type: "ready", reason: "Ready", message: "" }, objects: 0, pending: 0 } as const;
  return readinessOf(resolution, {
    repositories: new Map([...resolution.repositories.keys()].map((key) => [key, fine])),
    reports: new Map(
      [...resolution.destinations.keys(), ...resolution.implicit.keys()].map((name) => [
        name,
        { ...report, pushed: { commits: 0, files: 0 } },
      ]),
    ),
    ingests,
  });
};

/** What is said of a destination whose second recipient is none, and of its rule, while its worker says this. */
const saidOfWrongRecipients = (readiness: Told["readiness"] | undefined, ...rules: readonly KubeObject[]) => {
  const wrong = destination("shop/prod", { secrets: { ageRecipients: [ANNA.recipient, "me"] } });
  const report = { objects: 0, pending: 0, pushed: { commits: 0, files: 0 } };
  const told = readinessOf(resolved(cluster(config(), wrong, ...rules), SETTINGS), {
    repositories: new Map(),
    reports: new Map(readiness === undefined ? [] : [["shop/prod", { ...report, readiness }]]),
    ingests: true,
  });
  return ["GitDestination shop/prod", "WatchRule shop/all"].map((id) => told.get(id)?.readiness);
};

const WRONG_RECIPIENT =
  "spec.secrets.ageRecipients[1] is no public key of age: compare it with what age-keygen -y prints";

/** What is said of one of them. */
const said = (id: string, ...objects: readonly unknown[]): string => {
  const told = allSaid(objects).get(id)?.readiness;
  return told === undefined ? "nothing" : `${told.type} ${told.reason}: ${told.message}`;
};

const EVERYBODY = { accessPolicy: { namespacedRules: { mode: "AllNamespaces" }, allowClusterRules: true } };

const writers = (...objects: readonly KubeObject[]) =>
  wanted(...objects).map(({ secret, destinations }) => [secret, destinations.map((one) => one.destination.name)]);

/** All that follows, as plain data. */
const shown = (all: readonly KubeObject[]): unknown => {
  const { wanted: now, gone: _, ...resolution } = { gone: undefined, ...resolved(cluster(...all), SETTINGS) };
  return JSON.parse(
    JSON.stringify({ branches: now.branches, ...resolution }, (__, value: unknown) =>
      value instanceof Map || value instanceof Set ? [...value] : value,
    ),
  );
};

const reasonOf = (all: readonly KubeObject[], one: KubeObject): string | undefined => {
  const { repositories, destinations, rules } = resolved(cluster(...all, one), SETTINGS);
  const of = { GitRepoConfig: repositories, GitDestination: destinations, ...rules };
  const judged = KINDS.filter((each) => each === one.kind).map((each) => of[each].get(objectKey(one)));
  return judged.flatMap((each) => (each !== undefined && E.isLeft(each) ? [each.left.reason] : []))[0];
};

describe("what is wanted", () => {
  it("is of each branch what the rules of its destinations select", () => {
    const [branch, ...others] = wanted(config(), destination(), watchRule());
    expect(others).toEqual([]);
    expect(branch).toMatchObject({ branch: "main", secret: undefined, limits: { maxCommits: 20, maxWait: 20_000 } });
    expect(
      branch?.destinations.map(({ destination: { name, folder }, selected, isBlocked, deletes }) => ({
        name,
        folder,
        selected: selected.map(({ plural }) => plural),
        isBlocked,
        deletes,
      })),
    ).toEqual([{ name: "shop/prod", folder: "prod", selected: ["configmaps"], isBlocked: false, deletes: true }]);
  });

  it("is one branch for all spellings of its repository", () => {
    const second = config("shop/second", { repoUrl: "https://GIT.example.com:443/live.git/" });
    const dev = destination("shop/dev", { repoRef: { name: "second" }, baseFolder: "prod/dev" });
    const [branch, ...others] = wanted(
      config(),
      second,
      destination(),
      dev,
      watchRule(),
      watchRule("shop/dev", { destinationRef: { name: "dev" } }),
    );
    expect(others).toEqual([]);
    expect(branch?.destinations.map((one) => [one.destination.folder, one.otherFolders])).toEqual([
      ["prod", []],
      ["prod/dev", ["prod"]],
    ]);
    const url = right(repositoryUrl("https://git.example.com/live.git"));
    expect(branch?.key).toBe(branchKey(url, "main", "shop/\n"));
  });

  it("does not depend on what other namespaces want in the same branch", () => {
    const own = [config(), destination(), watchRule()];
    const theirs = [
      config("eve/repo", { push: { interval: "1000h" } }, { creationTimestamp: "2020-01-01T00:00:00Z" }),
      destination("eve/prod"),
      watchRule("eve/all"),
    ];
    const [alone] = wanted(...own);
    const together = wanted(...theirs, ...own).find(({ key }) => key === alone?.key);
    const { destinations: _, ...rest } = alone ?? {};
    expect(together).toMatchObject(rest);
    expect(together?.destinations.map(({ destination: { name } }) => name)).toEqual(["shop/prod"]);
  });

  it("is for URLs of one repository written by each as it is, and of what is not another's folder", () => {
    const second = config("shop/second", { repoUrl: "https://git.example.com/live" });
    const dev = destination("shop/dev", { repoRef: { name: "second" }, baseFolder: "prod/dev" });
    const branches = wanted(
      config(),
      second,
      destination(),
      dev,
      watchRule(),
      watchRule("shop/dev", { destinationRef: { name: "dev" } }),
    );
    expect(
      branches.map(({ repository, destinations }) => [repository.url, destinations.map((one) => one.otherFolders)]),
    ).toEqual([
      ["https://git.example.com/live.git", [[]]],
      ["https://git.example.com/live", [["prod"]]],
    ]);
    expect(new Set(branches.map(({ key }) => key)).size).toBe(2);
  });

  it("is without a destination at the root of the repository's branch, in its own namespace", () => {
    const spec = { gitRepoConfigRef: { name: "repo" }, rules: [{ resources: ["configmaps"] }] };
    const [branch] = wanted(config(), made("WatchRule", "shop/all", spec));
    expect(
      branch?.destinations.map(({ destination: { name, folder }, rules }) => [name, folder, rules[0]?.namespace]),
    ).toEqual([["GitRepoConfig shop/repo", "", "shop"]]);
  });

  it("has the settings of the repository above those of the flags", () => {
    const [branch] = wanted(
      config("shop/repo", { push: { interval: "1m", maxCommits: 3 } }),
      destination(),
      watchRule(),
    );
    expect(branch?.limits).toMatchObject({ maxWait: 60_000, maxCommits: 3 });
  });

  it("is nothing where no rule may write", () => {
    expect(
      wanted(config(), destination(), watchRule("bank/all", { destinationRef: { name: "prod", namespace: "shop" } })),
    ).toEqual([]);
  });

  it("is by the same rules as before, however long those of others are: what is not listed again is still known", () => {
    const long = Array.from({ length: 40 }, (_, n) =>
      watchRule(`shop/long${n}`, { rules: [{ resources: [`${n}`.padEnd(500_000, "x")] }] }),
    );
    const all = [config(), destination(), watchRule(), ...long];
    const rules = (): readonly unknown[] => wanted(...all).flatMap(({ destinations }) => destinations[0]?.rules ?? []);
    const [first, second] = [rules(), rules()];
    expect(first).toHaveLength(41);
    expect(first.every((rule, n) => rule === second[n])).toBe(true);
  });

  it("has of one rule no more than can be compared with every object", () => {
    const texts = Array.from({ length: 1_001 }, (_, n) => `r${n}`);
    const tooLarge = [
      watchRule("shop/large", { rules: [{ resources: texts }] }),
      watchRule("shop/large", { rules: texts.map((one) => ({ resources: [one] })) }),
      watchRule("shop/large", {
        objectSelector: { matchExpressions: [{ key: "a", operator: "In", values: texts }] },
      }),
      clusterWatchRule("large", {
        rules: [
          {
            resources: ["configmaps"],
            scope: "Namespaced",
            namespaceSelector: { matchLabels: Object.fromEntries(texts.map((one) => [one, ""])) },
          },
        ],
      }),
    ];
    for (const one of tooLarge)
      expect(said(`${one.kind} ${objectKey(one)}`, config(), destination(), one)).toMatch(
        /failed InvalidSpec: spec.rules: has more than 1000/u,
      );
  });

  it("of a rule whose selector is wrong is not known: nothing of its destination is deleted", () => {
    const wrong = { objectSelector: { matchExpressions: [{ key: "a", operator: "Near" }] } };
    const [branch] = wanted(config(), destination(), watchRule(), watchRule("shop/wrong", wrong));
    expect(branch?.destinations.map(({ rules, deletes }) => [rules.length, deletes])).toEqual([[1, false]]);
  });
});

describe("credentials", () => {
  const shop = config("shop/repo", { secretRef: { name: "cred" } });
  const bank = config("bank/repo", {}, { creationTimestamp: "2025-01-01T00:00:00Z" });
  const both = [
    destination(),
    watchRule(),
    destination("bank/theirs", { baseFolder: "bank" }),
    watchRule("bank/all", { destinationRef: { name: "theirs" } }),
  ];
  it("are never used for what only another's GitRepoConfig may write, even if it names the same repository", () => {
    expect(writers(shop, bank, ...both)).toEqual([
      [undefined, ["bank/theirs"]],
      ["shop/cred", ["shop/prod"]],
    ]);
    expect(new Set(wanted(shop, bank, ...both).map(({ key }) => key)).size).toBe(2);
  });

  it("of a URL are those of its own GitRepoConfig", () => {
    const withUser = config("shop/repo", { repoUrl: "https://alice:secret@git.example.com/live.git" });
    expect(writers(withUser, bank, ...both).length).toBe(2);
    expect(JSON.stringify(wanted(withUser, bank, ...both).map(({ key }) => key))).not.toContain("secret");
  });

  it("of one Secret are used by one worker", () => {
    const second = config("shop/second", { secretRef: { name: "cred" } });
    const dev = destination("shop/dev", { repoRef: { name: "second" }, baseFolder: "dev" });
    const rule = watchRule("shop/dev", { destinationRef: { name: "dev" } });
    expect(writers(shop, second, destination(), dev, watchRule(), rule)).toEqual([
      ["shop/cred", ["shop/prod", "shop/dev"]],
    ]);
  });
});

describe("two destinations with one folder", () => {
  const later = destination("shop/later", {}, { creationTimestamp: "2026-02-02T00:00:00Z" });
  const all = [
    config(),
    destination(),
    later,
    watchRule(),
    watchRule("shop/more", { destinationRef: { name: "later" } }),
  ];

  it("are one that is written, the older, and one that is not", () => {
    expect(wanted(...all)[0]?.destinations.map((one) => [one.destination.name, one.isBlocked])).toEqual([
      ["shop/later", true],
      ["shop/prod", false],
    ]);
    expect(said("GitDestination shop/prod", ...all)).toMatch(/^ready/u);
    expect(said("GitDestination shop/later", ...all)).toBe(
      "failed OwnershipConflict: GitDestination shop/prod, which is older, has the same folder prod of branch main of https://git.example.com/live.git: use another baseFolder or branch, or delete one of the two",
    );
  });

  it("are so as well where they name its repository by two URLs", () => {
    const second = config("shop/second", { repoUrl: "git@git.example.com:live" });
    const created = { creationTimestamp: "2026-02-02T00:00:00Z" };
    const theirs = destination("shop/later", { repoRef: { name: "second" } }, created);
    expect(said("GitDestination shop/later", second, ...all.map((one) => (one === later ? theirs : one)))).toBe(
      "failed OwnershipConflict: GitDestination shop/prod, which is older, has the same folder prod of branch main of git@git.example.com:live, by another URL of that repository: use another baseFolder or branch, or delete one of the two",
    );
  });

  it("are both written where they have other credentials, until the marker of one is there, which then keeps it", () => {
    const open = { accessPolicy: { namespacedRules: { mode: "AllNamespaces" } } };
    const older = { creationTimestamp: "2025-01-01T00:00:00Z" };
    const theirs = [config("evil/repo", open, older), destination("evil/prod", {}, older)];
    const contest = [config("shop/repo"), destination(), watchRule(), ...theirs, watchRule("evil/all")];
    const blocked = (owned: ReadonlyMap<string, string>): readonly unknown[] =>
      [...resolved(cluster(...contest), SETTINGS, { refusedConfigs: new Set(), owned }).wanted.branches.values()]
        .flatMap(({ destinations }) => destinations)
        .map(({ destination: { name }, isBlocked, contest: { yields } = {} }) => [name, isBlocked, yields]);
    expect(blocked(new Map())).toEqual([
      ["evil/prod", false, false],
      ["shop/prod", false, true],
    ]);
    const branches = [...resolved(cluster(...contest), SETTINGS).wanted.branches.values()];
    const place = (name: string): string =>
      branches.flatMap(({ key, destinations }) =>
        destinations.flatMap(({ destination: one }) => (one.name === name ? [placeOf(key, one.folder)] : [])),
      )[0] ?? "";
    expect(blocked(new Map([["shop/prod", place("shop/prod")]]))).toEqual([
      ["evil/prod", true, undefined],
      ["shop/prod", false, undefined],
    ]);
    // What was written with other credentials, or to another place, shows nothing.
    expect(blocked(new Map([["evil/prod", place("shop/prod")]]))).toEqual(blocked(new Map()));
  });

  it("keep the rules of the younger one from being Ready", () => {
    expect(said("WatchRule shop/more", ...all)).toMatch(
      /^failed GitDestinationNotReady: GitDestination shop\/later is not Ready \(OwnershipConflict\): /u,
    );
  });
});

describe("an object", () => {
  const direct = { gitRepoConfigRef: { name: "repo", namespace: "shop" }, rules: [{ resources: ["configmaps"] }] };
  const directOfCluster = { ...direct, rules: [{ resources: ["configmaps"], scope: "Namespaced" }] };
  it.each<readonly [string, string, readonly KubeObject[], string | RegExp]>([
    [
      "that cannot be decoded says which field is wrong",
      "GitRepoConfig shop/repo",
      [made("GitRepoConfig", "shop/repo", { branch: "main", repoUrl: 7 })],
      "failed InvalidSpec: spec.repoUrl: must be a string",
    ],
    [
      "that cannot be decoded is there for those that refer to it",
      "GitDestination shop/prod",
      [made("GitRepoConfig", "shop/repo", { branch: "main" }), destination()],
      /^failed GitRepoConfigNotReady: GitRepoConfig shop\/repo is not Ready \(InvalidSpec\): spec\.repoUrl/u,
    ],
    [
      "with a URL that git must not see",
      "GitRepoConfig shop/repo",
      [config("shop/repo", { repoUrl: "ext::sh -c id" })],
      "failed InvalidURL: GitRepoConfig shop/repo: repoUrl has white space, a control character or a backslash",
    ],
    [
      "with branches that git does not take",
      "GitRepoConfig shop/repo",
      [config("shop/repo", { branch: "a..b" })],
      /^failed InvalidSpec: .*spec\.branch.* must be a name of a branch \(git check-ref-format\): no "\.\."/u,
    ],
    [
      "with one such branch among others",
      "GitRepoConfig shop/repo",
      [config("shop/repo", { allowedBranches: ["main", "a..b"] })],
      /^failed InvalidSpec: .*spec\.allowedBranches.*1.* must be a name of a branch/u,
    ],
    [
      "with a part of a branch that is no name of a file",
      "GitRepoConfig shop/repo",
      [config("shop/repo", { branch: "x".repeat(201) })],
      /^failed InvalidSpec: GitRepoConfig shop\/repo: "x+" is no name of a branch .*, or has a part of more than 200 bytes$/u,
    ],
    [
      "of a branch that git does not take",
      "GitDestination shop/prod",
      [config(), destination("shop/prod", { branch: "bad..name" })],
      /^failed InvalidSpec: .*spec\.branch.* must be a name of a branch/u,
    ],
    [
      "without its repository",
      "GitDestination shop/prod",
      [destination()],
      "failed GitRepoConfigNotFound: there is no GitRepoConfig shop/repo: create it",
    ],
    [
      "of a branch that is not allowed",
      "GitDestination shop/prod",
      [config(), destination("shop/prod", { branch: "dev" })],
      /^failed BranchNotAllowed: /u,
    ],
    [
      "of a folder that was stored before the rule was there",
      "GitDestination shop/prod",
      [config(), destination("shop/prod", { baseFolder: "a/../b" })],
      /^failed (?:InvalidSpec|InvalidBaseFolder): .*baseFolder must not have the segments/u,
    ],
    [
      "without a rule",
      "GitDestination shop/prod",
      [config(), destination()],
      /^failed NoRules: no rule writes to GitDestination shop\/prod: create/u,
    ],
    [
      "whose only rule is wrong",
      "GitDestination shop/prod",
      [
        config(),
        destination(),
        watchRule("shop/all", { objectSelector: { matchExpressions: [{ key: "a", operator: "In" }] } }),
      ],
      "failed NoRules: WatchRule shop/all is not Ready, and no other rule writes to GitDestination shop/prod",
    ],
    [
      "with a recipient that is none",
      "GitDestination shop/prod",
      [config(), destination("shop/prod", { secrets: { ageRecipients: ["me"] } }), watchRule()],
      /^failed InvalidSpec: spec\.secrets\.ageRecipients\[0\] is no public key of age.*; until then no Secret is written$/u,
    ],
    [
      "with an interval that is none",
      "GitRepoConfig shop/repo",
      [config("shop/repo", { push: { interval: "often" } })],
      /push\.interval is no duration such as 1m: the controller's flag --git-batch-max-wait-sec counts$/u,
    ],
    ["with all that it needs", "GitDestination shop/prod", [config(), destination(), watchRule()], /^ready/u],
    [
      "without its destination",
      "WatchRule shop/all",
      [config(), watchRule()],
      "failed GitDestinationNotFound: there is no GitDestination shop/prod: create it",
    ],
    [
      "whose destination is wrong",
      "WatchRule shop/all",
      [destination(), watchRule()],
      "failed GitDestinationNotReady: GitDestination shop/prod is not Ready (GitRepoConfigNotFound): there is no GitRepoConfig shop/repo: create it",
    ],
    [
      "of a namespace that may not write",
      "WatchRule bank/all",
      [config(), made("WatchRule", "bank/all", direct)],
      /^failed AccessDenied: GitRepoConfig shop\/repo does not let namespace bank write/u,
    ],
    [
      "of a namespace that the repository selects",
      "WatchRule bank/all",
      [
        config("shop/repo", {
          accessPolicy: {
            namespacedRules: { mode: "FromSelector", namespaceSelector: { matchLabels: { team: "bank" } } },
          },
        }),
        made("WatchRule", "bank/all", direct),
      ],
      "ready Ready: writes to GitRepoConfig shop/repo",
    ],
    [
      "of the cluster, which may not write",
      "ClusterWatchRule all",
      [config(), made("ClusterWatchRule", "all", directOfCluster)],
      /^failed AccessDenied: GitRepoConfig shop\/repo lets no ClusterWatchRule write/u,
    ],
    [
      "of the cluster, which may",
      "ClusterWatchRule all",
      [config("shop/repo", EVERYBODY), made("ClusterWatchRule", "all", directOfCluster)],
      "ready Ready: writes to GitRepoConfig shop/repo",
    ],
    [
      "of the cluster, through a destination",
      "ClusterWatchRule all",
      [config(), destination(), clusterWatchRule()],
      "ready Ready: writes to GitDestination shop/prod",
    ],
    [
      "whose selector is wrong",
      "WatchRule shop/all",
      [
        config(),
        destination(),
        watchRule("shop/all", { objectSelector: { matchExpressions: [{ key: "a", operator: "In" }] } }),
      ],
      "failed InvalidSpec: spec.objectSelector: In of a needs values",
    ],
    [
      "that names what has no files",
      "WatchRule shop/all",
      [
        config(),
        destination(),
        watchRule("shop/all", {
          rules: [{ resources: ["configmaps", "widgets", "pods/log", "leases", "namespaces"] }],
        }),
      ],
      "ready Ready: writes to GitDestination shop/prod; not written: widgets: not served, or not to be listed and watched, and written once it is; pods/log: subresources have no files: remove it; leases: left out by the controller's flag --discovery-exclude; namespaces: not namespaced, use a ClusterWatchRule with scope Cluster",
    ],
  ])("%s", (_, id, objects, expected) => {
    expect(said(id, ...objects)).toMatch(expected);
  });
});

it("objects are Ready when they are valid, if nothing is to be written", () => {
  expect(allSaid([config(), destination(), watchRule()], false).get("GitDestination shop/prod")?.readiness).toEqual({
    type: "ready",
    reason: "Ready",
    message: "it is valid; nothing is written, by the controller's flag --enable-watch-ingestion=false",
  });
});

it("objects are of the branch that they write to, and all others of none", () => {
  const direct = { destinationRef: null, gitRepoConfigRef: { name: "repo" } };
  const resolution = resolved(
    cluster(
      config(),
      destination(),
      destination("shop/idle", { baseFolder: "idle" }),
      watchRule(),
      watchRule("shop/direct", direct),
      watchRule("shop/lost", { destinationRef: { name: "none" } }),
    ),
    SETTINGS,
  );
  const [key = ""] = resolution.wanted.branches.keys();
  const of = branchesOf(resolution);
  expect([...resolution.observed.keys()].filter((id) => of.has(id))).toEqual([
    "GitDestination shop/prod",
    "WatchRule shop/all",
    "WatchRule shop/direct",
  ]);
  expect(new Set(of.values())).toEqual(new Set([key]));
});

it("those that are not Ready are counted by kind and reason", () => {
  const rules = [watchRule("shop/a"), watchRule("shop/b")];
  expect(notReadyOnes(allSaid([config(), config("shop/no", { repoUrl: "/etc" }), ...rules]))).toEqual([
    { kind: "GitRepoConfig", reason: "InvalidURL", stalled: true, count: 1 },
    { kind: "WatchRule", reason: "GitDestinationNotFound", stalled: false, count: 2 },
  ]);
});

describe("what is said of wrong recipients", () => {
  it.each<readonly [string, Told["readiness"] | undefined]>([
    ["before its worker has said anything", undefined],
    ["while it is compared", { type: "progressing", reason: "Validating", message: "" }],
    ["when all else is written", { type: "ready", reason: "Ready", message: "" }],
  ])("is that the spec is wrong until somebody changes it: %s", (_, report) => {
    const message: unknown = expect.stringContaining(WRONG_RECIPIENT);
    const invalid = { type: "failed", reason: "InvalidSpec", message, lasts: true };
    expect(saidOfWrongRecipients(report)[0]).toMatchObject(invalid);
    expect(saidOfWrongRecipients(report, watchRule())).toMatchObject([
      invalid,
      { ...invalid, reason: "GitDestinationNotReady" },
    ]);
  });

  it("is what fails besides, too", () => {
    const message = "configmaps: 403 no";
    const [said] = saidOfWrongRecipients(
      { type: "failed", reason: "ListIncomplete", message, lasts: false },
      watchRule(),
    );
    expect(said).toMatchObject({
      reason: "InvalidSpec",
      lasts: true,
      message: expect.stringMatching(/until then no Secret is written; ListIncomplete: configmaps: 403 no$/u),
    });
  });
});

describe("whatever objects there are", () => {
  const text = fc.constantFrom("shop", "bank", "repo", "prod", "all", "main", "", "a/../b", "*", "In", "https://g/r");
  const json = fc.letrec<{ readonly value: unknown; readonly object: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      text,
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie("value"), { maxLength: 3 }),
      tie("object"),
    ),
    object: fc.dictionary(
      fc.constantFrom(
        "rules",
        "resources",
        "repoRef",
        "name",
        "namespace",
        "branch",
        "baseFolder",
        "destinationRef",
        "repoUrl",
        "scope",
        "objectSelector",
        "accessPolicy",
        "mode",
      ),
      tie("value"),
      { maxKeys: 5 },
    ),
  })).object;
  const kind = fc.constantFrom(...KINDS);
  const broken = fc
    .tuple(kind, fc.constantFrom("shop/x", "bank/y", "z"), json)
    .map(([one, at, spec]) => made(one, at, spec as JsonObject));
  const valid = fc
    .record({
      kind,
      namespace: fc.constantFrom("shop", "bank"),
      name: fc.constantFrom("repo", "prod", "all"),
      refers: fc.constantFrom("shop", "bank"),
      at: fc.constantFrom("2026-01-01T00:00:00Z", "2026-02-02T00:00:00Z"),
    })
    .map(({ kind: one, namespace, name, refers, at }) => {
      const of = {
        GitRepoConfig: () => config(`${namespace}/${name}`, EVERYBODY, { creationTimestamp: at }),
        GitDestination: () =>
          destination(
            `${namespace}/${name}`,
            { repoRef: { name: "repo", namespace: refers } },
            { creationTimestamp: at },
          ),
        WatchRule: () => watchRule(`${namespace}/${name}`, { destinationRef: { name: "prod", namespace: refers } }),
        ClusterWatchRule: () => clusterWatchRule(name, { destinationRef: { name: "prod", namespace: refers } }),
      };
      return of[one]();
    });
  const objects = fc.uniqueArray(valid, {
    selector: (one) => `${one.kind} ${one.metadata.namespace}/${one.metadata.name}`,
    maxLength: 12,
  });
  it("what follows is the same in whatever order they are read", () => {
    fc.assert(
      fc.property(
        objects.chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length }))),
        ([all, shuffled]) => {
          expect(shown(shuffled)).toEqual(shown(all));
        },
      ),
    );
  });

  it("nothing is thrown, and one that is wrong changes nothing of the others", () => {
    fc.assert(
      fc.property(objects, broken, (all, one) => {
        fc.pre(reasonOf(all, one) === "InvalidSpec");
        const names = new RegExp(`"(?:${one.kind} )?${objectKey(one)}",`, "u");
        const others = (shownOnes: unknown): readonly string[] =>
          Object.values(Object(shownOnes) as Record<string, unknown>)
            .flatMap((each) => (Array.isArray(each) ? each : Object.values(Object(each) as object).flat()))
            .map((entry) => JSON.stringify(entry))
            .filter((entry) => !names.test(entry));
        expect(others(shown([...all, one]))).toEqual(others(shown(all)));
      }),
    );
  });
});
