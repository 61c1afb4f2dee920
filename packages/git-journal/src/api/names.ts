// The names of the API of the Git journal: the kinds of ConfigButler's GitOps Reverser.
import type { Resource } from "@janus/types";

export const GROUP = "configbutler.ai";
export const VERSION = "v1alpha1";
export const API_VERSION = `${GROUP}/${VERSION}`;

/** `kubectl get gitjournal` lists the objects of all four kinds. */
export const CATEGORY = "gitjournal";

const resource = (kind: string, plural: string, namespaced = true): Resource => ({
  group: GROUP,
  version: VERSION,
  plural,
  kind,
  namespaced,
  statusSubresource: true,
});

export const gitRepoConfigs = resource("GitRepoConfig", "gitrepoconfigs");
export const gitDestinations = resource("GitDestination", "gitdestinations");
export const watchRules = resource("WatchRule", "watchrules");
export const clusterWatchRules = resource("ClusterWatchRule", "clusterwatchrules", false);

/** The controller: its Deployment, ServiceAccount and Service. */
export const GIT_JOURNAL_NAME = "janus-git-journal";

/** The Lease of the leader, who serves the webhook, in the namespace of the controller. */
export const GIT_JOURNAL_LEASE = `${GIT_JOURNAL_NAME}-leader`;

/** The names of the admission policies, and of their bindings. */
export const GIT_JOURNAL_POLICIES = {
  rules: `${GIT_JOURNAL_NAME}-rules`,
  secrets: `${GIT_JOURNAL_NAME}-secrets`,
} as const;

/** Annotations with this prefix are of the journal itself: they are never those of the live object. */
export const ANNOTATION_PREFIX = `${GROUP}/`;

/** The annotation of the file of a Secret: a keyed digest of its data, which tells whether they have changed. */
export const CONTENT_DIGEST = `${ANNOTATION_PREFIX}content-digest`;

/** The ValidatingWebhookConfiguration of the webhook that sees who makes changes, and the name of its webhook. */
export const WEBHOOK_CONFIGURATION = GIT_JOURNAL_NAME;
export const WEBHOOK_NAME = "author.git-journal.janus.io";
export const WEBHOOK_PATH = "/process-validating-webhook";

/** The Secret, in the controller's namespace, with the CA and the certificate of the webhook, and its path. */
export const TLS_SECRET = "janus-git-journal-tls";
