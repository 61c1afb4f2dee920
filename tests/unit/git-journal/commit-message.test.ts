// Tests what a commit says, and that no name of a user makes it say anything else.
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CommittedFile, PlannedCommit } from "../../../packages/git-journal/src/core/batch.ts";
import { authorOf, BOT, commitAuthor } from "../../../packages/git-journal/src/core/commit-author.ts";
import { type CommitContext, commitMessage } from "../../../packages/git-journal/src/core/commit-message.ts";
import { type By, UNKNOWN } from "../../../packages/git-journal/src/core/history.ts";
import { baseFolder, objectPath, ROOT } from "../../../packages/git-journal/src/core/path.ts";
import type { JournaledTransaction } from "../../../packages/git-journal/src/core/transactions.ts";
import { right } from "./right.ts";
import { anyCharacter } from "../core/arbitrary-text.ts";

const FOLDER = right(baseFolder("prod"));
const INSTALLATION = { clusterUid: "c", namespace: "janus-system", name: "janus-git-journal", instance: "pod-0" };
const context = (more: Partial<CommitContext> = {}): CommitContext => ({
  folders: [FOLDER],
  installation: INSTALLATION,
  ...more,
});

const file = (name: string, operation: CommittedFile["operation"] = "UPDATE", folder = FOLDER): CommittedFile => ({
  operation,
  path: objectPath(folder, { group: "", version: "v1", resource: "configmaps", namespace: "shop", name }),
  version: { fingerprint: "1", bytes: 1 },
  touch: 1,
});
const commit = (by: By, ...files: readonly CommittedFile[]): PlannedCommit => ({ by, files });
const ALICE: By = { type: "user", name: "alice" };

const TRANSACTION: JournaledTransaction = {
  namespace: "shop",
  name: "deploy-v2",
  uid: "u",
  phase: "Committed",
  completedAt: 0,
  users: { requestedBy: "alice", approvedBy: "bob" },
  targets: [],
};

const TRAILERS = [
  "X-ConfigButler-ClusterUID: c",
  "X-ConfigButler-ControllerNS: janus-system",
  "X-ConfigButler-ControllerName: janus-git-journal",
  "X-ConfigButler-InstanceID: pod-0",
  "",
].join("\n");

const subject = (...args: Parameters<typeof commitMessage>): string => commitMessage(...args).split("\n")[0] ?? "";

describe("a message", () => {
  it("of one object", () => {
    expect(commitMessage(commit(ALICE, file("app")), context())).toBe(
      `[UPDATE] core/v1/configmaps/shop/app by user/alice\n\nUPDATE prod/core/v1/configmaps/shop/app.yaml\n\nChanged-by: alice\n${TRAILERS}`,
    );
  });

  it("of several, by nobody who is known", () => {
    expect(commitMessage(commit(UNKNOWN, file("a", "CREATE"), file("b")), context())).toBe(
      `Update 2 objects\n\nCREATE prod/core/v1/configmaps/shop/a.yaml\nUPDATE prod/core/v1/configmaps/shop/b.yaml\n\n${TRAILERS}`,
    );
  });

  it("says what was done, if it is the same to all", () => {
    expect(subject(commit(ALICE, file("a", "DELETE"), file("b", "DELETE")), context())).toBe(
      "Delete 2 objects by user/alice",
    );
  });

  it("counts objects, one of which may have a file in the folders of several destinations", () => {
    const folders = [ROOT, FOLDER, right(baseFolder("prod/eu"))];
    const files = (name: string) => folders.map((folder) => file(name, "UPDATE", folder));
    const both = [...files("a"), ...files("b")];
    expect(subject(commit(ALICE, ...both), context({ folders }))).toBe("Update 2 objects by user/alice");
    expect(subject(commit(ALICE, ...files("a")), context({ folders }))).toBe(
      "[UPDATE] core/v1/configmaps/shop/a by user/alice",
    );
    expect(subject(commit(ALICE, ...files("a"), file("a", "CREATE")), context({ folders }))).toBe(
      "Update 1 object by user/alice",
    );
    const by: By = { type: "transaction", uid: "u" };
    expect(subject(commit(by, ...both), context({ folders, transaction: TRANSACTION }))).toBe(
      "Transaction shop/deploy-v2: Committed, 2 changes",
    );
  });

  it("lists fifty files", () => {
    const lines = commitMessage(
      commit(ALICE, ...Array.from({ length: 200 }, (_, at) => file(`${at}`))),
      context(),
    ).split("\n");
    expect(lines.filter((line) => line.startsWith("UPDATE "))).toHaveLength(50);
    expect(lines).toContain("… and 150 more");
  });

  it("of the bot names all whose changes could not be told apart", () => {
    expect(commitMessage(commit(UNKNOWN, file("a")), context({ others: new Set(["bob", "alice"]) }))).toContain(
      "\n\nChanged-by: alice\nChanged-by: bob\nX-",
    );
  });

  it("of a Transaction names it, and all who had to do with it", () => {
    const transaction = TRANSACTION;
    const by: By = { type: "transaction", uid: "u" };
    const message = commitMessage(commit(by, file("a"), file("b"), file("c")), context({ transaction }));
    expect(message.split("\n")[0]).toBe("Transaction shop/deploy-v2: Committed, 3 changes");
    expect(message).toContain(
      `\n\nTransaction: shop/deploy-v2\nTransaction-UID: u\nTransaction-Phase: Committed\nRequested-by: alice\nApproved-by: bob\n${TRAILERS}`,
    );
    expect(subject(commit(by, file("a")), context({ transaction }))).toBe(
      "Transaction shop/deploy-v2: Committed, 1 change",
    );
    expect(commitMessage(commit(by, file("a")), context({ transaction, isIncomplete: true }))).toContain(
      "\nTransaction-Incomplete: true\n",
    );
  });

  it("of a Transaction names the commit that it takes back, or to which it goes back", () => {
    const transaction = {
      namespace: "shop",
      name: "undo",
      uid: "u",
      phase: "Committed",
      completedAt: 0,
      users: {},
      targets: [],
    } as const;
    const by: By = { type: "transaction", uid: "u" };
    const id = "1f3a9c2b".repeat(5);
    const said = (reverts: boolean): string =>
      commitMessage(
        commit(by, file("a")),
        context({ transaction: { ...transaction, fromGit: { commit: id, reverts } } }),
      );
    expect(said(true)).toContain(`\nReverts: ${id}\n`);
    expect(said(false)).toContain(`\nFrom-git: ${id}\n`);
  });

  it("has no more lines, whatever the name of the user is", () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (name) => {
        const lines = commitMessage(commit({ type: "user", name: `a${name}` }, file("a")), context()).split(
          /[\n\r\u0085\u2028\u2029]/u,
        );
        expect(lines).toHaveLength(10);
        expect(lines.filter((line) => line.startsWith("Changed-by: a"))).toHaveLength(1);
      }),
    );
  });
});

describe("an author", () => {
  it.each([
    ["alice", "alice", "alice@users.noreply.invalid"],
    ["alice@example.com", "alice@example.com", "alice@example.com"],
    [
      "system:serviceaccount:ci:deployer",
      "system:serviceaccount:ci:deployer",
      "system-serviceaccount-ci-deployer@users.noreply.invalid",
    ],
    [
      "Mallory <root@example.com>\nauthor x",
      "Mallory root@example.comauthor x",
      "mallory-root-example.comauthor-x@users.noreply.invalid",
    ],
    ["日本", "日本", "user@users.noreply.invalid"],
  ])("%j", (username, name, email) => {
    expect(authorOf(username)).toEqual({ name, email });
  });

  it("of an empty name is the bot", () => {
    expect(authorOf("<\n>")).toEqual(BOT);
  });

  it("of the commit of a Transaction is who has requested it, if that is known", () => {
    const by: By = { type: "transaction", uid: "u" };
    expect(commitAuthor(by, { users: { requestedBy: "alice" } })).toEqual(authorOf("alice"));
    expect(commitAuthor(by, { users: {} })).toEqual(BOT);
    expect(commitAuthor(by, undefined)).toEqual(BOT);
    expect(commitAuthor(ALICE, { users: { requestedBy: "bob" } })).toEqual(authorOf("alice"));
    expect(commitAuthor(UNKNOWN, undefined)).toEqual(BOT);
  });

  it("never ends early, and is never too long", () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (username) => {
        const { name, email } = authorOf(username.repeat(20));
        expect(`${name}${email}`).not.toMatch(/[\p{Cc}<>]/u);
        expect(email).toMatch(/^[^\s]+@[^\s]+$/u);
        expect(Array.from(name).length).toBeLessThanOrEqual(256);
      }),
    );
  });
});
