import { installation } from "./installation.ts";
import { Monitoring } from "./monitoring.ts";
import { render, yaml } from "./render.ts";

const header = "# Printed by packages/deploy: change it there, and run `npm run manifests:write`.\n";

/** The manifests that lie in the repository, for those who have kubectl only: what is in which file. */
export const committed = {
  "deploy/janus.yaml": header + yaml(installation()),
  "deploy/monitoring.yaml": header + yaml(render((chart) => new Monitoring(chart, "Monitoring"))),
} as const;
