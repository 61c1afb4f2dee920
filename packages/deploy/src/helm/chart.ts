import { Yaml } from "cdk8s";
import { version } from "../defaults.ts";
import { checks } from "./checks.ts";
import { notes } from "./notes.ts";
import { templates } from "./templates.ts";
import { values } from "./values.ts";
import { valuesSchema } from "./values-schema.ts";
import { valuesYaml } from "./values-yaml.ts";

const about = {
  apiVersion: "v2",
  name: "janus",
  description: "Makes a set of Kubernetes changes happen together or not at all.",
  type: "application",
  version,
  appVersion: version,
  // The first that serves ValidatingAdmissionPolicy in v1.
  kubeVersion: ">=1.30.0-0",
};

const printed = "Printed by packages/deploy/src/helm: change it there, and run `npm run chart:write`.";
const yaml = `# ${printed}\n`;
const template = `{{- /* ${printed} */ -}}\n`;

/** The files of the Helm chart, by their paths in it. */
export const chart = (): Readonly<Record<string, string>> => ({
  "Chart.yaml": yaml + Yaml.stringify(about),
  "values.yaml": yaml + valuesYaml(values),
  "values.schema.json": valuesSchema(values),
  "templates/NOTES.txt": notes,
  "templates/checks.yaml": template + checks,
  ...Object.fromEntries(Object.entries(templates()).map(([file, text]) => [`templates/${file}`, template + text])),
});
