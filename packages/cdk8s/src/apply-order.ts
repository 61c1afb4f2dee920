// Sorts the objects of a cdk8s app by dependencies and kinds, as a Transaction has to apply them.
import { inOrder, kindOrder } from "@janus/authoring";
import { type ApiObject, Chart } from "cdk8s";
import { dependenciesOf, isWithin } from "./objects.ts";

/**
 * Sorts objects as they have to be applied: what others depend on first, otherwise by kind, such as Namespaces first.
 * As in cdk8s, a dependency on a chart is one on its own objects, without those of charts in it.
 *
 * @throws if objects depend on each other in a circle, with their paths.
 */
export const applyOrder = (objects: readonly ApiObject[]): readonly ApiObject[] => {
  const sorted = inOrder(objects, {
    rank: kindOrder,
    after: (object) => {
      const dependencies = dependenciesOf(object);
      return objects.filter(
        (other) =>
          other !== object && dependencies.some((whole) => isWithin(other, whole) && Chart.of(whole) === other.chart),
      );
    },
  });
  if ("order" in sorted) return sorted.order;
  throw new Error(`these depend on each other: ${sorted.cycle.map(({ node }) => node.path).join(", ")}`);
};
