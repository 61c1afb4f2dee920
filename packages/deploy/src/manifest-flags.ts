// Parses the flags of npm run manifests.
import { parseArgs } from "node:util";
import { isDnsLabel } from "@janus/types";
import type { JanusProps } from "./janus.ts";

export const HELP = `Usage: npm run -s manifests -- --image=<image> [flags] | kubectl apply --server-side -f -

Prints everything that a cluster needs to run Transactions. More can be set in a cdk8s app: see JanusProps.

Flags:
  --image <image>          Image of the controller, with tag or digest. Required: there is no public one.
  --namespace <name>       Namespace of the controller. Default: janus-system.
  --readiness <any|leader> Which controllers are ready: all that work, or the leader alone. Default: any.
  --metrics-auth           /metrics answers only those who may get it, by their token.
  --stamp-users            Each Transaction says in annotations who created, edited and approved it (Kubernetes 1.36 or newer).
  --monitoring             With ServiceMonitor, alerts and dashboard (Prometheus Operator).
  --blueprints             With the controller of Blueprints, and the CRDs of Kanister's kinds.
  --git-journal            With the controller of the Git journal, and the CRDs of its kinds.
  --help                   Shows this text.
`;

/**
 * Parses the flags; undefined: the help was requested.
 *
 * Errors: throws a message about an invalid flag.
 */
export const propsOf = (args: readonly string[]): JanusProps | undefined => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      image: { type: "string" },
      namespace: { type: "string" },
      readiness: { type: "string" },
      "metrics-auth": { type: "boolean", default: false },
      "stamp-users": { type: "boolean", default: false },
      monitoring: { type: "boolean", default: false },
      blueprints: { type: "boolean", default: false },
      "git-journal": { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return undefined;
  const { image, namespace, readiness } = values;
  if (readiness !== undefined && readiness !== "any" && readiness !== "leader")
    throw new Error("--readiness takes any or leader");
  if (image === undefined)
    throw new Error("--image is required: there is no public image, docs/install.md says how to build one");
  if (!/^\S+$/u.test(image)) throw new Error("--image takes the name of an image");
  if (namespace !== undefined && !isDnsLabel(namespace))
    throw new Error("--namespace takes lower case letters, digits and -, at most 63 of them, no - at the ends");
  return {
    image,
    ...(namespace === undefined ? {} : { namespace }),
    ...(readiness === undefined ? {} : { readiness }),
    metricsAuth: values["metrics-auth"],
    stampsUsers: values["stamp-users"],
    monitoring: values.monitoring,
    ...(values.blueprints ? { blueprints: {} } : {}),
    ...(values["git-journal"] ? { gitJournal: {} } : {}),
  };
};
