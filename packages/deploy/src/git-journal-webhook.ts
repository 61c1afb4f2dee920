// The webhook by which the Git journal learns who has changed an object, and its Service.
import { SYSTEM_NAMESPACE } from "@janus/api";
import { WEBHOOK_NAME } from "@janus/git-journal/authoring";
import { k8s } from "cdk8s-plus-30";
import { Construct } from "constructs";
import { GIT_JOURNAL_NAME, type GitJournalProps, webhookOf } from "./git-journal-props.ts";
import { gitJournalLabels, gitJournalLeaderLabel } from "./labels.ts";
import type { NamespacedProps } from "./namespaced.ts";

export interface GitJournalWebhookProps extends NamespacedProps, GitJournalProps {}

const except = (name: string, expression: string): k8s.MatchCondition => ({ name, expression: `!(${expression})` });

/** Evaluated in the API server: what they leave out costs no request. */
const matchConditions = (namespace: string): readonly k8s.MatchCondition[] => [
  except("own-writes", `request.userInfo.username == 'system:serviceaccount:${namespace}:${GIT_JOURNAL_NAME}'`),
  except("leases", "request.resource.group == 'coordination.k8s.io' && request.resource.resource == 'leases'"),
  except("events", "request.resource.group in ['', 'events.k8s.io'] && request.resource.resource == 'events'"),
  except("reviews", "request.resource.group in ['authentication.k8s.io', 'authorization.k8s.io']"),
];

/**
 * The ValidatingWebhookConfiguration `janus-git-journal`, and the Service that routes to the leader alone.
 *
 * Guarantees: no write of the cluster fails because of it, and none waits longer than two seconds: it never denies, and where it does
 *             not answer, the write goes on without it.
 * Assumes:    the leader writes `rules`, `caBundle` and the path, which are left out here: until then nothing is sent, and an upgrade
 *             leaves them as they are.
 * Source:     https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
 */
export class GitJournalWebhookConfiguration extends Construct {
  constructor(scope: Construct, id: string, props: GitJournalWebhookProps = {}) {
    super(scope, id);
    const { namespace = SYSTEM_NAMESPACE } = props;
    const { excludedNamespaces, certificateSecret } = webhookOf(props);
    const metadata = { name: GIT_JOURNAL_NAME, labels: gitJournalLabels };
    new k8s.KubeService(this, "Service", {
      metadata: { ...metadata, namespace },
      spec: {
        selector: { ...gitJournalLabels, ...gitJournalLeaderLabel },
        ports: [{ name: "webhook", port: 443, targetPort: k8s.IntOrString.fromString("webhook") }],
      },
    });
    // https://cert-manager.io/docs/concepts/ca-injector/#injecting-ca-data-from-a-secret-resource
    const annotations =
      certificateSecret === undefined
        ? {}
        : { annotations: { "cert-manager.io/inject-ca-from-secret": `${namespace}/${certificateSecret}` } };
    new k8s.KubeValidatingWebhookConfiguration(this, "Configuration", {
      metadata: { ...metadata, ...annotations },
      webhooks: [
        {
          name: WEBHOOK_NAME,
          admissionReviewVersions: ["v1"],
          clientConfig: { service: { name: GIT_JOURNAL_NAME, namespace, port: 443 } },
          failurePolicy: "Ignore",
          sideEffects: "None",
          timeoutSeconds: 2,
          matchPolicy: "Equivalent",
          matchConditions: [...matchConditions(namespace)],
          namespaceSelector:
            excludedNamespaces.length === 0
              ? {}
              : {
                  matchExpressions: [
                    { key: "kubernetes.io/metadata.name", operator: "NotIn", values: [...excludedNamespaces] },
                  ],
                },
          objectSelector: {},
        },
      ],
    });
  }
}
