// The generated files of the Helm chart, by path.
import { transactionCrd } from "@janus/api";
import { kanisterCrds } from "@janus/blueprints/crds";
import { gitJournalCrds } from "@janus/git-journal/authoring";
import type { JsonObject } from "@janus/types";
import { Yaml } from "cdk8s";
import { alerts } from "../alerts.ts";
import { blueprintChecks } from "../blueprint-validation.ts";
import { dashboard } from "../dashboard.ts";
import { gitJournalPolicies } from "../git-journal-policies.ts";
import { readme } from "./readme.ts";
import { renamed, values } from "./values.ts";
import { valuesSchema } from "./values-schema.ts";
import { valuesYaml } from "./values-yaml.ts";

const printed = (source: string): string => `# Printed from ${source} by \`npm run chart:write\`.\n`;

const rules = alerts.map(({ name, expression, after, severity, summary, description }) => ({
  alert: name,
  expr: expression,
  for: after,
  severity,
  summary,
  description,
}));

/** Their specs, by name. */
const specsOf = (crds: readonly JsonObject[]): object =>
  Object.fromEntries(crds.map(({ metadata, spec }) => [(metadata as { readonly name: string }).name, spec]));

/** The generated files of the Helm chart, by path. The templates include those in `files`. */
export const printedFiles = (): Readonly<Record<string, string>> => ({
  "README.md": readme(values),
  "values.yaml": printed("packages/deploy/src/helm/values.ts") + valuesYaml(values),
  "values.schema.json": valuesSchema(values, renamed),
  "files/crd-spec.yaml": printed("packages/api") + Yaml.stringify({ spec: transactionCrd.spec }),
  "files/kanister-crd-specs.yaml": printed("packages/blueprints") + Yaml.stringify(specsOf(kanisterCrds)),
  "files/git-journal-crd-specs.yaml": printed("packages/git-journal") + Yaml.stringify(specsOf(gitJournalCrds)),
  "files/git-journal-policies.yaml":
    printed("packages/deploy/src/git-journal-policies.ts") + Yaml.stringify(gitJournalPolicies),
  "files/blueprint-validation.yaml":
    printed("packages/deploy/src/blueprint-validation.ts") + Yaml.stringify(blueprintChecks),
  "files/alerts.yaml": printed("packages/deploy/src/alerts.ts") + Yaml.stringify(rules),
  "files/dashboard.json": `${JSON.stringify(dashboard, undefined, 2)}\n`,
});
