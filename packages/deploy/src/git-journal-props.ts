// The settings of the controller of the Git journal, and their defaults.
import type { k8s } from "cdk8s-plus-30";
import { defaultImage } from "./defaults.ts";
import { defaultResources } from "./controller-pod.ts";

/** Resources that the controller may read, besides those that `*` selects. */
export interface JournaledResources {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
}

export interface GitJournalWebhook {
  /**
   * Which writes of the cluster the webhook is told of: "Selected", those of resources that a rule selects; "All", all.
   * @default "Selected"
   */
  readonly rules?: "Selected" | "All";
  /**
   * Namespaces whose writes it is not told of: their commits have no author.
   * @default kube-system, kube-public and kube-node-lease
   */
  readonly excludedNamespaces?: readonly string[];
  /**
   * Secret of type kubernetes.io/tls with its certificate, as cert-manager makes it, which then also says in the configuration whom to
   * trust.
   * @default - the controller makes and renews its own
   */
  readonly certificateSecret?: string;
}

export interface GitJournal {
  /**
   * Image of the controller, with git and ssh: the stage `git-journal` of the Dockerfile.
   * @default - that of the others, with `-git` behind its tag
   */
  readonly image?: string;
  /**
   * Resources that it may read besides those that `*` selects: those that a rule names, and of `--watch-all`.
   * @default - none
   */
  readonly resources?: readonly JournaledResources[];
  /**
   * Whether it may list Secrets, and `*` selects them. Their data are never written in plain.
   * @default true
   */
  readonly secrets?: boolean;
  /**
   * Whether who writes a rule must be allowed to list what it selects, and who names recipients or credentials to get Secrets.
   * @default true
   */
  readonly validateAuthors?: boolean;
  /**
   * The webhook that says who has changed an object.
   * @default - of what is selected, but for the namespaces of Kubernetes itself
   */
  readonly webhook?: GitJournalWebhook;
  /**
   * Ports of the git servers, for the NetworkPolicy.
   * @default 22, 80 and 443
   */
  readonly gitPorts?: readonly number[];
  /**
   * More flags of the controller, such as `--git-batch-max-wait-sec=60`; `janus-controller --git-journal --help` lists all.
   * @default - none
   */
  readonly flags?: readonly string[];
  /**
   * Number of controllers, of which one leads and serves the webhook; at least 1.
   * @default 2
   */
  readonly replicas?: number;
  /**
   * Whether the controllers share the branches, and not the leader alone writes.
   * @default false
   */
  readonly shards?: boolean;
  /**
   * Resource requests and limits of a controller. `resources` are those that it reads.
   * @default requests of 100m CPU and 256Mi memory, a limit of 512Mi memory
   */
  readonly podResources?: k8s.ResourceRequirements;
}

export interface GitJournalProps {
  /**
   * The controller of the Git journal.
   * @default the settings' own defaults
   */
  readonly gitJournal?: GitJournal;
}

export const gitJournalDefaults = {
  resources: [],
  secrets: true,
  validateAuthors: true,
  webhook: { rules: "Selected", excludedNamespaces: ["kube-system", "kube-public", "kube-node-lease"] },
  gitPorts: [22, 80, 443],
  flags: [],
  replicas: 2,
  shards: false,
  podResources: defaultResources,
} as const satisfies GitJournal;

/** With the defaults. */
export const webhookOf = ({
  gitJournal,
}: GitJournalProps): GitJournalWebhook & Required<Omit<GitJournalWebhook, "certificateSecret">> => ({
  ...gitJournalDefaults.webhook,
  ...gitJournal?.webhook,
});

export { GIT_JOURNAL_LEASE, GIT_JOURNAL_NAME } from "@janus/git-journal/authoring";

/**
 * The image with git.
 *
 * Throws: where its name does not follow from that of the others.
 */
export const gitJournalImage = (own: string | undefined, image = defaultImage): string => {
  if (own !== undefined) return own;
  if (image.includes("@"))
    throw new Error("gitJournal.image is required where the image has a digest: it is another one, with git");
  return /:[^:/]+$/u.test(image) ? `${image}-git` : `${image}:latest-git`;
};
