// The generated files that are committed in deploy/, by path.
import { jsonSchema } from "./json-schema.ts";
import { argoCdConfig } from "./argo-cd.ts";
import { installation } from "./installation.ts";
import { Monitoring } from "./monitoring.ts";
import { render, yaml } from "./render.ts";

const header = "# Printed by packages/deploy: change it there, and run `npm run manifests:write`.\n";

const printedFromLua = "# Printed from the Lua beside it: change it there, and run `npm run manifests:write`.\n";

/** The generated files of the repository, by their paths. */
export const committed = {
  "deploy/janus.yaml": header + yaml(installation()),
  "deploy/monitoring.yaml": header + yaml(render((chart) => new Monitoring(chart, "Monitoring"))),
  "deploy/argocd/argocd-cm.yaml": printedFromLua + yaml([argoCdConfig()]),
  "deploy/transaction.schema.json": jsonSchema(),
} as const;
