import type { Manifest } from "@janus/deploy";

const text = { type: "string" };
const texts = { type: "object", additionalProperties: text };
const object = (properties: object) => ({ type: "object", properties });
const list = (items: object) => ({ type: "array", items });

const crd = (kind: string, plural: string, spec: object): Manifest => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${plural}.monitoring.coreos.com` },
  spec: {
    group: "monitoring.coreos.com",
    scope: "Namespaced",
    names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: object({ spec }) } }],
  },
});

/**
 * As much of two kinds of the Prometheus Operator as we use, so that a field that they do not have is refused.
 * Source: https://prometheus-operator.dev/docs/api-reference/api/
 */
export const prometheusCrds: readonly Manifest[] = [
  crd(
    "ServiceMonitor",
    "servicemonitors",
    object({
      selector: object({ matchLabels: texts }),
      endpoints: list(object({ port: text, path: text, bearerTokenFile: text })),
    }),
  ),
  crd(
    "PrometheusRule",
    "prometheusrules",
    object({
      groups: list(
        object({
          name: text,
          rules: list(
            object({
              alert: text,
              expr: { "x-kubernetes-int-or-string": true },
              for: { type: "string", pattern: "^([0-9]+(ms|[smhdwy]))+$" },
              labels: texts,
              annotations: texts,
            }),
          ),
        }),
      ),
    }),
  ),
];
