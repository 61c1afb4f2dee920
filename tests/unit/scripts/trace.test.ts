// What `npm run trace` prints, and the page that is printed from it.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { page, root } from "../docs/page.ts";

// In a process of its own: how Node loads the core is another one in a trace.
const runNode = async (...args: readonly string[]): Promise<string> => {
  const { stdout } = await promisify(execFile)(process.execPath, ["--conditions=source", ...args], {
    cwd: fileURLToPath(root),
    encoding: "utf8",
  });
  return stdout;
};

const trace = (...args: readonly string[]): Promise<string> => runNode("scripts/trace/main.ts", ...args);

const PATCHES = "docs/examples/two-patches.yaml";
const BEFORE = "docs/examples/before.yaml";

/** The decisions, each with what is below it. */
const decisionsIn = (text: string): readonly string[] =>
  text
    .split(/^(?=\d+\. )/mu)
    .slice(1)
    .map((entry) => entry.replace(/\n\n[#[].*$/su, "").trim());

const decisionWith = (text: string, words: string): string =>
  decisionsIn(text).find((entry) => entry.includes(words)) ?? `no decision has ${words}`;

const changesOf = (file: string): readonly { readonly type: string }[] =>
  parseAllDocuments(page(file)).flatMap(
    (document) =>
      (document.toJS() as { readonly spec: { readonly changes: { readonly type: string }[] } }).spec.changes,
  );

describe("docs/life-of-a-transaction.md", () => {
  it("is what is printed now: else run npm run trace:write", async () => {
    const program = `
      (await import("./scripts/trace/load-traced.ts")).loadTraced();
      const { page } = await import("./scripts/trace/page.ts");
      process.stdout.write(page());`;
    expect(page("docs/life-of-a-transaction.md")).toBe(await runNode("--input-type=module", "--eval", program));
  });

  it("shows the life that ends as Committed, and from where it differs the one that ends as RolledBack", () => {
    const text = page("docs/life-of-a-transaction.md");
    const recorded = text.match(/(?<=recorded in the )(?:status: phase \w+|journal: (?:forward|back), cursor -?\d)/gu);
    expect(recorded?.map((fact) => fact.replace(/.*: (?:phase )?/u, "")).join("; ")).toBe(
      "Preparing; forward, cursor 0; Committing; Committed; forward, cursor 1; RollingBack; back, cursor 0; back, cursor -1; RolledBack",
    );
  });

  it("follows the Transaction of the README without its Delete", () => {
    expect(changesOf(PATCHES)).toEqual(
      changesOf("docs/examples/deploy-v2.yaml").filter(({ type }) => type === "Patch"),
    );
    expect(changesOf(PATCHES)).toHaveLength(2);
  });

  it("can be read in one go", () => {
    expect(page("docs/life-of-a-transaction.md").split("\n").length).toBeLessThan(200);
  });
});

describe("npm run trace", () => {
  it("names for each decision the file that made it, whatever happens", async () => {
    const lives = await Promise.all([
      trace("docs/examples/deploy-v2.yaml", BEFORE),
      trace(PATCHES, BEFORE, "--fail-at", "1"),
      trace(PATCHES, BEFORE, "--crash-at", "18"),
    ]);
    const unnamed = lives.flatMap(decisionsIn).filter((entry) => !/^\d+\. \[[\w/-]+\.ts\] `\w+`/u.test(entry));
    const others = unnamed.filter(
      (entry) => !/Nothing is left to do|Beside the decisions[^\n]*\n[^\n]*`renew-lock`/u.test(entry),
    );
    expect(lives.flatMap(decisionsIn).length).toBeGreaterThan(60);
    expect(others).toEqual([]);
  });

  it("shows what is recorded: the phase, the items, and the journal before the first window of changes", async () => {
    const life = await trace(PATCHES, BEFORE);
    expect(life.match(/(?<=status: phase )\w+/gu)).toEqual(["Preparing", "Committing", "Committed"]);
    expect(life.match(/(?<=the journal: forward, cursor )\d/gu)).toEqual(["0"]);
  });

  it("--fail-at: the change is refused, and the files of the rollback decide", async () => {
    const life = await trace(PATCHES, BEFORE, "--fail-at", "1");
    expect(decisionWith(life, "phase RollingBack")).toContain("[transitions/abort.ts] `abort`");
    expect(decisionWith(life, "`restore`")).toContain("[undo/undo-edit.ts] `undoEdit`");
    expect(life).toContain("phase RolledBack; items RolledBack, NotApplied");
  });

  it("--crash-at: a new process reads the journal, writes the status, reads the targets, and does not send the change again", async () => {
    const life = await trace(PATCHES, BEFORE, "--crash-at", "17");
    const killed = decisionsIn(life).findIndex((entry) => entry.includes("**the controller is killed**"));
    expect(decisionsIn(life)[killed]).toContain("request 17, `change`: server-side apply ConfigMap app-config");
    expect(decisionsIn(life)[killed + 1]).toContain("`read-journal`");
    expect(decisionsIn(life)[killed + 2]).toContain("`record`");
    expect(decisionWith(life, "cursor 1")).toContain("`resolveWindow`");
    expect(decisionWith(life, "`trace-read`")).toContain("[forward/find-progress.ts] `findProgress`");
    expect(life.match(/`change`: server-side apply ConfigMap app-config/gu)).toHaveLength(1);
    expect(life).toContain("phase Committed; items Applied, Applied");
  });

  it.each([
    [[BEFORE], "0 Transactions, and there must be one"],
    [[PATCHES, "docs/examples/deploy-v2.yaml"], "2 Transactions, and there must be one"],
    [[PATCHES, BEFORE, "--crash-at", "999"], "there is no request 999: the Transaction ends after 25"],
    [[PATCHES, BEFORE, "--crash-at", "0"], "--crash-at must be a whole number from 1 on"],
    [[PATCHES, BEFORE, "--fail-at", "2"], "failAt"],
    [["nothing.yaml"], "nothing.yaml"],
  ])("%j: fails, and says %s", async (args, why) => {
    await expect(trace(...args)).rejects.toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining(why) });
  });
});
