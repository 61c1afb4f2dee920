/** A gate as in `spec.waitFor`, so that the compiler finds a misspelt one. */
export type Gate =
  | "ready"
  | "create"
  | "delete"
  | `condition=${string}`
  | `jsonpath={${string}}`
  | `jsonpath={${string}}=${string}`
  | `jsonpath=.${string}`
  | `cel=${string}`;
