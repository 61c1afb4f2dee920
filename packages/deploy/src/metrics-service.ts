// The headless Service through which Prometheus finds every controller.
import { k8s } from "cdk8s-plus-30";
import { Construct } from "constructs";
import { CONTROLLER_NAME, SYSTEM_NAMESPACE } from "@janus/api";
import { httpPort } from "./defaults.ts";
import { BLUEPRINTS_NAME } from "./blueprints-props.ts";
import { GIT_JOURNAL_NAME } from "./git-journal-props.ts";
import { blueprintsLabels, controllerLabels, gitJournalLabels, metricsLabels } from "./labels.ts";
import type { NamespacedProps } from "./namespaced.ts";

export interface MetricsServiceProps extends NamespacedProps {
  /**
   * The controllers that are found: those of Transactions, of Blueprints, or of the Git journal.
   * @default "controller"
   */
  readonly component?: "controller" | "blueprints" | "git-journal";
}

const FOUND = {
  controller: [CONTROLLER_NAME, controllerLabels],
  blueprints: [BLUEPRINTS_NAME, blueprintsLabels],
  "git-journal": [GIT_JOURNAL_NAME, gitJournalLabels],
} as const;

/** A headless Service with which Prometheus finds every controller, also standbys and those that are not ready. */
export class MetricsService extends Construct {
  constructor(scope: Construct, id: string, props: MetricsServiceProps = {}) {
    super(scope, id);
    const [name, selector] = FOUND[props.component ?? "controller"];
    new k8s.KubeService(this, "Resource", {
      metadata: {
        name: `${name}-metrics`,
        namespace: props.namespace ?? SYSTEM_NAMESPACE,
        labels: metricsLabels,
      },
      spec: {
        clusterIp: "None",
        publishNotReadyAddresses: true,
        selector,
        ports: [{ name: "http", port: httpPort, targetPort: k8s.IntOrString.fromString("http") }],
      },
    });
  }
}
