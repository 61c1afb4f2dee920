import { installation } from "./installation.ts";
import { Monitoring } from "./monitoring.ts";
import { render, yaml } from "./render.ts";

const header = "# Printed by packages/deploy: change it there, and run `npm run manifests:write`.\n";

/** The manifests in the repository, by file, for an installation with kubectl alone. */
export const committed = {
  "deploy/janus.yaml": header + yaml(installation()),
  "deploy/monitoring.yaml": header + yaml(render((chart) => new Monitoring(chart, "Monitoring"))),
} as const;
