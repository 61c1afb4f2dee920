// Generates the README of the Helm chart.
import { placed, type Values } from "./value.ts";

const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("<", "&lt;");

const rows = (values: Values): string =>
  placed(values)
    .map(
      ({ path, value: { about, byDefault } }) => `| \`${path}\` | \`${JSON.stringify(byDefault)}\` | ${cell(about)} |`,
    )
    .join("\n");

/** The page about the chart, with a row for each value. */
export const readme = (values: Values): string => `# janus

Janus applies a set of changes to Kubernetes objects atomically: all of them are applied, or all are rolled back. This
chart installs its controller. Requires Kubernetes 1.30 or newer, Helm 4, and a user with the role
cluster-admin. Install it once in a cluster.

## Install

There is no public image: build it from the repository, and push it to a registry that your cluster reads from. The tag
defaults to the \`appVersion\` of the chart.

\`\`\`sh
kubectl create namespace janus-system
kubectl label namespace janus-system pod-security.kubernetes.io/enforce=restricted
helm install janus charts/janus -n janus-system --set image.repository=registry.example.com/janus --wait
\`\`\`

Then \`helm test janus -n janus-system\` asks the leader whether it is ready, from a Pod with the same image.

## Upgrade

Keeps the values that you have set, takes the new defaults for all others, and the image of the new version:

\`\`\`sh
helm upgrade janus charts/janus -n janus-system --reset-then-reuse-values --wait
\`\`\`

## Uninstall

The CustomResourceDefinition, with all Transactions, and the admission policies \`janus-fence\` and \`janus-blueprints-fence\` stay. Let active
Transactions finish first: the repository's \`docs/uninstall.md\` says how.

\`\`\`sh
helm uninstall janus -n janus-system --wait
\`\`\`

## Values

| value | default | |
|---|---|---|
${rows(values)}
`;
