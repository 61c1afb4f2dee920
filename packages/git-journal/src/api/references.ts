// Codecs of references to other objects, and of label selectors.
import { described, excerpt, list, optional, string, strings, type TypeOf } from "@janus/api/codec";

const name = string({ minLength: 1, maxLength: 253 });

export const NamespacedName = excerpt({
  name: described("Name of the object.", name),
  namespace: optional(described("Its namespace. Default: that of the object that refers to it.", string())),
});
export type NamespacedName = TypeOf<typeof NamespacedName>;

export const LocalReference = excerpt({ name: described("Name of the object, in the same namespace.", name) });

const texts = list(string(), { atomic: true });

/** https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#resources-that-support-set-based-requirements */
export const LabelSelector = excerpt({
  matchLabels: optional(described("Labels that must be there with these values.", strings)),
  matchExpressions: optional(
    described(
      "Requirements that must all be met.",
      list(
        excerpt({
          key: described("The key of the label.", string()),
          operator: described("In, NotIn, Exists or DoesNotExist.", string()),
          values: optional(described("The values for In and NotIn.", texts)),
        }),
        { atomic: true },
      ),
    ),
  ),
});
export type LabelSelector = TypeOf<typeof LabelSelector>;
