// Evaluates label selectors.
import * as E from "fp-ts/lib/Either.js";
import type { LabelSelector } from "../api/references.ts";

export type Labels = Readonly<Record<string, string>>;

/** Tells whether an object with these labels is selected. */
export type LabelPredicate = (labels: Labels) => boolean;

type Requirement = NonNullable<LabelSelector["matchExpressions"]>[number];

const valueOf = (labels: Labels, key: string): string | undefined =>
  Object.hasOwn(labels, key) ? labels[key] : undefined;

const required = ({ key, operator, values = [] }: Requirement): E.Either<string, LabelPredicate> => {
  const demands = operator === "In" || operator === "NotIn";
  if (demands !== values.length > 0 && ["In", "NotIn", "Exists", "DoesNotExist"].includes(operator))
    return E.left(
      demands ? `${operator} of ${key} needs values` : `${operator} of ${key} takes no values: remove them`,
    );
  const isIn: LabelPredicate = (labels) => values.some((value) => value === valueOf(labels, key));
  const exists: LabelPredicate = (labels) => valueOf(labels, key) !== undefined;
  switch (operator) {
    case "In":
      return E.right(isIn);
    case "NotIn":
      return E.right((labels) => !isIn(labels));
    case "Exists":
      return E.right(exists);
    case "DoesNotExist":
      return E.right((labels) => !exists(labels));
    default:
      return E.left(`${operator} is no operator of a label selector: use In, NotIn, Exists or DoesNotExist`);
  }
};

/**
 * Makes the predicate of a selector; without one, all are selected. On the left: why the API server would refuse it.
 * https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors
 */
export const labelPredicate = ({
  matchLabels = {},
  matchExpressions = [],
}: LabelSelector = {}): E.Either<string, LabelPredicate> => {
  const equals = Object.entries(matchLabels).map(([key, value]) => required({ key, operator: "In", values: [value] }));
  return E.map(
    (all: readonly LabelPredicate[]): LabelPredicate =>
      (labels) =>
        all.every((holds) => holds(labels)),
  )(E.sequenceArray([...equals, ...matchExpressions.map(required)]));
};
