import { ControllerRole, LeaderLabelRole, type Manifest, render } from "@janus/deploy";
import { expect, it } from "vitest";
import { page, section } from "./page.ts";

const table = section(page("docs/security.md"), "## Permissions of the controller").toLowerCase();

const roles = render((chart) => [
  new ControllerRole(chart, "Role", { metricsAuth: true }),
  new LeaderLabelRole(chart, "LeaderLabelRole"),
]);

const rulesOf = (manifest: Manifest) =>
  (manifest["rules"] ?? []) as readonly { readonly resources: readonly string[]; readonly verbs: readonly string[] }[];

const rights = roles
  .flatMap(rulesOf)
  .flatMap(({ resources, verbs }) => resources.map((resource) => ({ resource, verbs })));

it.each(rights)("docs/security.md says that the controller may $verbs $resource", ({ resource, verbs }) => {
  const [name = "", subresource = ""] = resource.split("/");
  const what = subresource === "" || name === "userextras" ? subresource || name : subresource;
  const rows = table.split("\n").filter((row) => row.startsWith("|") && row.includes(what));
  expect(verbs.filter((verb) => !rows.some((row) => row.includes(`\`${verb}\``)))).toEqual([]);
});
