// Renders constructs to manifests, and manifests to YAML.
import { App, Chart, Yaml } from "cdk8s";

/** One object to apply. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

/**
 * The objects of the constructs that `build` creates.
 *
 * Guarantees: they are in the order in which they were created, but after those that they depend on (`node.addDependency`).
 *             The chart has no namespace, because cdk8s would stamp it on cluster-scoped objects too.
 * @param labels More labels of all objects.
 */
export const render = (
  build: (chart: Chart) => unknown,
  labels: Readonly<Record<string, string>> = {},
): readonly Manifest[] => {
  const chart = new Chart(new App(), "janus", { labels });
  build(chart);
  return chart.toJson();
};

/** The objects as one multi-document YAML, for `kubectl apply -f -`. */
export const yaml = (manifests: readonly Manifest[]): string => Yaml.stringify(...manifests);
