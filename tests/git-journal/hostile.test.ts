// A repository whose content wants to lead elsewhere: nothing of it is executed, followed or written through.
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { gitOf, startGitServer } from "../fixtures/git-server.ts";
import { type Live, live, newDirectory, planOf, sideOf } from "./world.ts";

/** A server whose branch has these entries: as git fast-import writes them. */
const world = async (entries: string) => {
  const server = await startGitServer({ tls: false });
  onTestFinished(server.stop);
  const git = gitOf(server.directory);
  git(
    ["fast-import", "--quiet"],
    `commit refs/heads/main\ncommitter Eve <eve@example.com> 1700000000 +0000\ndata 4\nelse\n${entries}`,
  );
  return { git, side: await sideOf({ url: server.url }), server };
};

const entry = (mode: string, at: string, content: string): string =>
  `M ${mode} inline ${at}\ndata ${Buffer.byteLength(content)}\n${content}\n`;
const symlink = (at: string, to: string): string => entry("120000", at, to);
const submodule = (at: string): string => `M 160000 ${"1".repeat(40)} ${at}\n`;

it.each([
  ["a symlink in place of the folder", symlink("prod", "../../etc"), "prod", "symlink"],
  ["a symlink on the way", symlink("prod/core", "/etc"), "prod/core", "symlink"],
  ["a symlink in place of the file", symlink("prod/core/a.yaml", "/etc/passwd"), "prod/core/a.yaml", "symlink"],
  ["a submodule on the way", submodule("prod/core"), "prod/core", "submodule"],
  ["a submodule in place of the file", submodule("prod/core/a.yaml"), "prod/core/a.yaml", "submodule"],
  ["a file in place of a folder", entry("100644", "prod/core", "text"), "prod/core", "file"],
  ["a folder in place of the file", entry("100644", "prod/core/a.yaml/b", "text"), "prod/core/a.yaml", "folder"],
])("%s is neither followed nor replaced, and all else is written", async (_, entries, at, is) => {
  const { git, side } = await world(entries);
  const before = git(["rev-parse", `main:${at}`]);
  const outcome = await side.cycle({
    plan: {
      ...planOf(() => live({ "prod/core/a.yaml": "a", "other/b.yaml": "b" }), "other"),
      folders: ["prod", "other"],
    },
  });
  expect(outcome).toMatchObject({
    is: "pushed",
    conflicts: [{ path: "prod/core/a.yaml", because: `${at} is a ${is}` }],
  });
  expect(git(["rev-parse", `main:${at}`])).toBe(before);
  expect(git(["cat-file", "blob", "main:other/b.yaml"])).toBe("b");
});

it("neither filters, attributes, hooks nor settings of a repository do anything", async () => {
  const traces = newDirectory();
  const touch = (name: string): string => `touch ${path.join(traces, name)}`;
  const { git, side } = await world(
    [
      entry("100644", ".gitattributes", "* filter=evil diff=evil merge=evil text eol=crlf ident\n"),
      entry("100644", "prod/.gitattributes", "* filter=lfs export-subst\n"),
      entry("100644", ".gitmodules", '[submodule "a"]\n\tpath = a\n\turl = ext::sh -c evil\n'),
      submodule("a"),
      entry("100755", "hooks/post-checkout", `#!/bin/sh\n${touch("hook")}\n`),
      entry("100644", ".lfsconfig", "[lfs]\n\turl = http://127.0.0.1:1/\n"),
    ].join(""),
  );
  await side.cycle({ wanted: live({ "prod/a.yaml": "$Id$\n" }) });
  // A hook that got into the clone in whatever way is not executed either.
  mkdirSync(path.join(side.clone, "hooks"));
  for (const hook of ["reference-transaction", "pre-push", "post-update"])
    writeFileSync(path.join(side.clone, "hooks", hook), `#!/bin/sh\n${touch(hook)}\n`, { mode: 0o755 });
  await side.cycle({ wanted: live({ "prod/a.yaml": "$Id$\nb\n" }), start: "clone" });
  expect(git(["cat-file", "blob", "main:prod/a.yaml"])).toBe("$Id$\nb");
  expect(readdirSync(traces)).toEqual([]);
});

it.each(["../outside", "prod/../../outside", ".git/hooks/post-update", "prod/.GIT/config", "prod/git~1/config"])(
  "a branch with the name %s is not taken, which is told with what to do",
  async (at) => {
    const { side } = await world(entry("100644", at, "x"));
    const outcome = await side.cycle({ wanted: live({ "prod/a.yaml": "a" }) });
    expect(outcome).toMatchObject({
      is: "failed",
      trouble: {
        message: expect.stringMatching(
          /^branch main of http:\S+ has an object that git does not take: remove it there \(object \w+: hasDot(?:dot|git)/u,
        ),
        lasts: true,
      },
    });
    const owner = readdirSync(side.directory).filter((name) => name.startsWith("owner-"));
    expect(readdirSync(side.directory).toSorted()).toEqual(
      [path.basename(side.clone), "askpass", "home", "memory", ...owner].toSorted(),
    );
  },
);

it("no author, message, name or content is read as a command", async () => {
  const { git, side } = await world(entry("100644", "README.md", "x"));
  const injection = "x\nM 100644 inline .git/config\ndata 4\nevil\n\ndone\n";
  const wanted: Live = { 'prod/"a".yaml': { text: injection, by: "mallory" } };
  const names = [`\nD README.md\n`, "<>", "a> 1 +0000\nD README.md", "", "\0"];
  for (const [n, name] of names.entries()) {
    const plan = planOf(() => ({ ...wanted, "prod/n.yaml": { text: `${n}`, by: "mallory" } }));
    const outcome = await side.cycle({
      plan: {
        ...plan,
        commits: (...seen) =>
          plan.commits(...seen).map((commit) => ({ ...commit, author: { name, email: name }, message: injection })),
      },
      start: n === 0 ? "disk" : "clone",
    });
    expect(outcome.is).toBe("pushed");
  }
  expect(
    git(["ls-tree", "-r", "--name-only", "-z", "main"])
      .split("\0")
      .filter((at) => at !== ""),
  ).toEqual(["README.md", 'prod/"a".yaml', "prod/n.yaml"]);
  expect(git(["cat-file", "blob", 'main:prod/"a".yaml'])).toBe(injection.trim());
  expect(git(["log", "-1", "--format=%B", "main"])).toBe(injection.trim());
  expect(git(["rev-list", "--count", "main"])).toBe(`${names.length + 1}`);
  expect(git(["fsck", "--strict"])).toBe("");
});
