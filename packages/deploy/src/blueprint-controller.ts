// The construct of the Blueprint controller: its Deployment, with all that belongs to it.
import { SYSTEM_NAMESPACE } from "@janus/api";
import { BLUEPRINTS_LEASE, FENCE } from "@janus/blueprints";
import { k8s } from "cdk8s-plus-30";
import { Construct } from "constructs";
import { BlueprintPolicies } from "./blueprint-policies.ts";
import { BlueprintRoles } from "./blueprint-roles.ts";
import { BlueprintValidation } from "./blueprint-validation.ts";
import { BLUEPRINTS_NAME, blueprintsDefaults, type BlueprintsProps } from "./blueprints-props.ts";
import type { ControllerDisruptionBudgetProps } from "./controller-disruption-budget.ts";
import { defaultLogLevel, type LogLevel } from "./controller-flags.ts";
import { type ControllerNetworkPolicyProps, networkPolicySpec } from "./controller-network-policy.ts";
import type { ControllerPodProps } from "./controller-pod.ts";
import { flowControl } from "./flow-control.ts";
import { furtherController } from "./further-controller.ts";
import { blueprintsLabels } from "./labels.ts";
import { fencePolicy } from "./leader-fence.ts";

export interface BlueprintControllerProps
  extends Omit<ControllerPodProps, "resources">,
    ControllerNetworkPolicyProps,
    ControllerDisruptionBudgetProps,
    BlueprintsProps {
  /**
   * What the controller logs: with `debug` each request, with `warn` and `error` only what needs attention.
   * @default "info"
   */
  readonly logLevel?: LogLevel;
  /**
   * Whether there is a NetworkPolicy.
   * @default true
   */
  readonly networkPolicy?: boolean;
}

const flagsOf = (props: BlueprintControllerProps, namespace: string): readonly string[] => {
  const { metricsAuth, logLevel = defaultLogLevel, blueprints = {} } = props;
  const {
    defaultServiceAccount,
    podReadyTimeout,
    maxRunningActions,
    defaultTtlSecondsAfterFinished: ttl,
  } = {
    ...blueprintsDefaults,
    ...blueprints,
  };
  return [
    "--blueprints",
    `--leader-elect-resource-name=${BLUEPRINTS_LEASE}`,
    `--leader-elect-resource-namespace=${namespace}`,
    `--default-service-account=${defaultServiceAccount}`,
    `--pod-ready-timeout=${podReadyTimeout}`,
    ...(blueprints.toolsImage === undefined ? [] : [`--tools-image=${blueprints.toolsImage}`]),
    `--max-running-actions=${maxRunningActions}`,
    ...(ttl === undefined ? [] : [`--default-ttl-seconds-after-finished=${ttl}`]),
    ...(blueprints.watchNamespaces === undefined ? [] : [`--watch-namespace=${blueprints.watchNamespaces.join(",")}`]),
    ...(metricsAuth === true ? ["--metrics-auth=true"] : []),
    ...(logLevel === defaultLogLevel ? [] : [`--log-level=${logLevel}`]),
  ];
};

/**
 * The controller that executes ActionSets: two Pods, of which one leads, from the image of the Transaction controller.
 *
 * It is not given the name of its Pod, so that the leader does not label it: nothing selects the leader, and the controller needs
 * no permission on Pods.
 */
export class BlueprintController extends Construct {
  constructor(scope: Construct, id: string, props: BlueprintControllerProps = {}) {
    super(scope, id);
    const { namespace = SYSTEM_NAMESPACE } = props;
    const { replicas, resources } = { ...blueprintsDefaults, ...props.blueprints };
    const metadata = { name: BLUEPRINTS_NAME, namespace, labels: blueprintsLabels };
    new k8s.KubeServiceAccount(this, "ServiceAccount", { metadata, automountServiceAccountToken: false });
    new BlueprintRoles(this, "Roles", props);
    fencePolicy(new Construct(this, "Fence"), {
      name: FENCE.policy,
      key: FENCE.key,
      labels: blueprintsLabels,
      lease: { name: BLUEPRINTS_LEASE, namespace },
    });
    new BlueprintPolicies(this, "Policies", props);
    new BlueprintValidation(this, "Validation", props);
    flowControl(new Construct(this, "FlowControl"), {
      name: BLUEPRINTS_NAME,
      labels: blueprintsLabels,
      account: { name: BLUEPRINTS_NAME, namespace },
    });
    if (props.networkPolicy !== false)
      new k8s.KubeNetworkPolicy(this, "NetworkPolicy", { metadata, spec: networkPolicySpec(blueprintsLabels, props) });
    furtherController(
      this,
      { ...props, resources },
      {
        metadata,
        settings: "blueprints",
        replicas,
        args: flagsOf(props, namespace),
        namesPod: false,
        labels: blueprintsLabels,
      },
    );
  }
}
