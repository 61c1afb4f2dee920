import { readdirSync } from "node:fs";
import { Spec } from "@janus/api";
import { ControllerDeployment, render } from "@janus/deploy";
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import { placed } from "../../../packages/deploy/src/helm/value.ts";
import { values } from "../../../packages/deploy/src/helm/values.ts";
import { HELP } from "../../../packages/controller/src/shell/flags.ts";
import { GitDestination, GitRepoConfig, WatchRule } from "../../../packages/git-journal/src/index.ts";
import { parseFlags as parseJournalFlags } from "../../../packages/git-journal/src/shell/flags.ts";
import { firstCells, page, root, section } from "./page.ts";

const configuration = page("docs/configuration.md");

/** Those that can be left out, of what is set by people: each has a `@default`. */
const props = (file: string): readonly string[] =>
  [...page(`packages/deploy/src/${file}`).matchAll(/@default[^*]*\*\/\n {2}readonly (\w+)\?:/gu)].flatMap(
    ([, name = ""]) => [name],
  );

it("docs/configuration.md has every flag of --help, and no other", () => {
  const flags = [...HELP.matchAll(/^ {2}(--[a-z-]+)/gmu)].map(([, flag = ""]) => flag);
  expect(flags.length).toBeGreaterThan(10);
  expect(firstCells(section(configuration, "## Flags of the controller"))).toEqual(flags);
});

it("docs/git-journal.md has every flag of the Git journal that the other controllers have not, and no other", () => {
  const help = parseJournalFlags(["--help"], {});
  const named = E.isLeft(help)
    ? [...help.left.text.matchAll(/--[a-z][a-z-]*[a-z](?=[ [,)])/gu)].map(([flag]) => flag)
    : [];
  const common = new Set([...HELP.matchAll(/--[a-z][a-z-]*[a-z]/gu)].map(([flag]) => flag));
  const own = new Set(named.filter((flag) => !common.has(flag) && flag !== "--git-journal"));
  expect(own.size).toBeGreaterThan(10);
  const said = section(page("docs/git-journal.md"), "## Flags").matchAll(/(?<=^\| .*)`(--[a-z-]+)`/gmu);
  expect(new Set([...said].map(([, flag]) => flag))).toEqual(own);
});

it.each([
  ["GitRepoConfig", GitRepoConfig],
  ["GitDestination", GitDestination],
  ["WatchRule", WatchRule],
])("docs/git-journal.md has every field of the spec of a %s", (kind, { schema }) => {
  const { spec } = schema["properties"] as { readonly spec: { readonly properties: object } };
  const cells = firstCells(section(page("docs/git-journal.md"), `## ${kind}`)).join(" ");
  expect(Object.keys(spec.properties).filter((field) => !new RegExp(`\\b${field}\\b`, "u").test(cells))).toEqual([]);
});

it("docs/configuration.md has every prop of the constructs", () => {
  const files = readdirSync(new URL("packages/deploy/src/", root)).filter((file) => file.endsWith(".ts"));
  const all = new Set(files.flatMap(props));
  expect(all.size).toBeGreaterThan(15);
  const said = new Set(
    [...section(configuration, "## The installation").matchAll(/`(\w+)`/gu)].map(([, name]) => name),
  );
  expect([...all].filter((name) => !said.has(name) && name !== "serviceAccounts")).toEqual([]);
});

it("docs/configuration.md has what a controller asks of its node", () => {
  const printed = JSON.stringify(render((chart) => new ControllerDeployment(chart, "Deployment")));
  const quantities = [...printed.matchAll(/"(?:cpu|memory)":"(\w+)"/gu)].map(([, quantity = ""]) => quantity);
  expect(quantities).toHaveLength(3);
  const [row = ""] = /^\| `resources` .*$/mu.exec(configuration) ?? [];
  expect(quantities.filter((quantity) => !row.includes(quantity))).toEqual([]);
});

it("docs/configuration.md has every field of a Transaction's spec", () => {
  const fields = Object.keys(Spec.schema["properties"] as object);
  expect(firstCells(section(configuration, "## A Transaction")).filter((cell) => !cell.includes("/"))).toEqual(
    expect.arrayContaining(fields),
  );
});

/** As `--set` calls them; leader election has a table of its own. */
const valuePaths = new Set(placed(values).map(({ path }) => path.replace(/^(controller\.leaderElection)\..*$/u, "$1")));

it("docs/configuration.md has every value of the Helm chart, and no other", () => {
  const [tables = ""] = section(configuration, "## The installation").split("\n### ");
  const [ofBoth = "", ofChart = ""] = tables.split("Only the Helm chart");
  const rows = [...ofBoth.matchAll(/^\| `(\w+)` \| (the same|`[^|]+`) \|/gmu)];
  const shared = rows.flatMap(([, prop = "", same = ""]) =>
    same === "the same" ? [prop] : [...same.matchAll(/`([\w.]+)`/gu)].map(([, value = ""]) => value),
  );
  const said = [...shared, ...firstCells(ofChart)];
  expect(said.toSorted()).toEqual([...valuePaths].toSorted());
});
