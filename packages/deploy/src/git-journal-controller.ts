// The construct of the controller of the Git journal: its Deployment, with all that belongs to it.
import { SYSTEM_NAMESPACE } from "@janus/api";
import { k8s } from "cdk8s-plus-30";
import { Construct } from "constructs";
import type { ControllerDisruptionBudgetProps } from "./controller-disruption-budget.ts";
import { type ControllerNetworkPolicyProps, networkPolicySpec } from "./controller-network-policy.ts";
import type { ControllerPodProps } from "./controller-pod.ts";
import { flowControl } from "./flow-control.ts";
import { furtherController } from "./further-controller.ts";
import {
  CERTIFICATE_DIRECTORY,
  gitJournalFlags,
  type GitJournalFlagsProps,
  MEMORY_DIRECTORY,
  WEBHOOK_PORT,
  WORK_DIRECTORY,
} from "./git-journal-flags.ts";
import { GitJournalPolicies } from "./git-journal-policies.ts";
import { GIT_JOURNAL_NAME, gitJournalDefaults, gitJournalImage, webhookOf } from "./git-journal-props.ts";
import { GitJournalRoles } from "./git-journal-roles.ts";
import { GitJournalWebhookConfiguration } from "./git-journal-webhook.ts";
import { gitJournalLabels } from "./labels.ts";

export interface GitJournalControllerProps
  extends Omit<ControllerPodProps, "resources">,
    ControllerNetworkPolicyProps,
    ControllerDisruptionBudgetProps,
    GitJournalFlagsProps {
  /**
   * Whether there is a NetworkPolicy.
   * @default true
   */
  readonly networkPolicy?: boolean;
}

/** Keys and known hosts, of one repository at a time. */
const MEMORY_SIZE = "16Mi";

const OWN_VOLUMES = [
  { volume: { name: "clones", emptyDir: {} }, mountPath: WORK_DIRECTORY },
  {
    volume: {
      name: "memory",
      emptyDir: { medium: "Memory", sizeLimit: k8s.Quantity.fromString(MEMORY_SIZE) },
    },
    mountPath: MEMORY_DIRECTORY,
  },
];

const volumesOf = (secretName: string | undefined) => [
  ...OWN_VOLUMES,
  ...(secretName === undefined
    ? []
    : [{ volume: { name: "certificate", secret: { secretName } }, mountPath: CERTIFICATE_DIRECTORY }]),
];

/**
 * The controller that writes the live cluster to Git: two Pods from an image with git. The leader serves the webhook; the branches belong
 * to who holds their Lease.
 *
 * Clones are in a volume of the Pod: what is lost with it is fetched again.
 */
export class GitJournalController extends Construct {
  constructor(scope: Construct, id: string, props: GitJournalControllerProps = {}) {
    super(scope, id);
    const { namespace = SYSTEM_NAMESPACE } = props;
    const { replicas, shards, podResources, gitPorts, validateAuthors } = {
      ...gitJournalDefaults,
      ...props.gitJournal,
    };
    if (gitPorts.length === 0)
      throw new Error("gitJournal.gitPorts: none is named. Name those of your git servers, or leave it out.");
    const metadata = { name: GIT_JOURNAL_NAME, namespace, labels: gitJournalLabels };
    new k8s.KubeServiceAccount(this, "ServiceAccount", { metadata, automountServiceAccountToken: false });
    new GitJournalRoles(this, "Roles", props);
    if (validateAuthors) new GitJournalPolicies(this, "Policies", props);
    flowControl(new Construct(this, "FlowControl"), {
      name: GIT_JOURNAL_NAME,
      labels: gitJournalLabels,
      account: { name: GIT_JOURNAL_NAME, namespace },
    });
    if (props.networkPolicy !== false)
      new k8s.KubeNetworkPolicy(this, "NetworkPolicy", {
        metadata,
        spec: networkPolicySpec(gitJournalLabels, props, {
          served: ["webhook"],
          reached: gitPorts,
          peers: shards ? ["webhook"] : [],
        }),
      });
    new GitJournalWebhookConfiguration(this, "Webhook", props);
    furtherController(
      this,
      { ...props, image: gitJournalImage(props.gitJournal?.image, props.image), resources: podResources },
      {
        metadata,
        settings: "gitJournal",
        replicas,
        args: gitJournalFlags(props),
        namesPod: true,
        labels: gitJournalLabels,
        ports: [{ name: "webhook", containerPort: WEBHOOK_PORT }],
        volumes: volumesOf(webhookOf(props).certificateSecret),
      },
    );
  }
}
