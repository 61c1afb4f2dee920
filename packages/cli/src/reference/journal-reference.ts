// Generates the reference page of the kinds of the Git journal from their CustomResourceDefinitions.
import type { JsonObject } from "@janus/api";
import { API_VERSION, gitJournalCrds } from "@janus/git-journal/authoring";
import { asObject } from "@janus/types";
import { asSchema, refusalsIn, tableOf } from "./field-reference.ts";

const ofKind = ({ spec }: JsonObject): readonly string[] => {
  const { names, scope, versions } = asObject(spec);
  const [version] = Array.isArray(versions) ? versions : [];
  const whole = asSchema(asSchema(asSchema(version)["schema"])["openAPIV3Schema"]);
  const { spec: wanted, status } = asSchema(whole["properties"]);
  const refusals = refusalsIn(wanted);
  return [
    `## ${String(asSchema(names)["kind"])}`,
    "",
    scope === "Namespaced" ? "In a namespace." : "Of the cluster.",
    "",
    ...tableOf(asSchema(wanted), "spec"),
    ...(refusals.length === 0 ? [] : ["The API server refuses, with these messages:", "", ...refusals, ""]),
    "Written by the controller only:",
    "",
    ...tableOf(asSchema(status), "status"),
  ];
};

/** The page of all fields of the four kinds. */
export const journalReference = (): string =>
  [
    "<!-- Printed from packages/git-journal/src/api: change it there, and run `npm run reference:write`. -->",
    "",
    "# Reference of the kinds of the Git journal",
    "",
    `\`${API_VERSION}\`, category \`gitjournal\`: \`kubectl get gitjournal -A\` lists all. [The Git journal](../git-journal.md) says more about each field.`,
    "Where there is no default, the field may be left out, unless it is required. `kubectl explain` prints the same.",
    "",
    ...gitJournalCrds.flatMap(ofKind),
  ].join("\n");
