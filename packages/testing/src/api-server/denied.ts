// Decides in the model what the ServiceAccount may not do.

/** Requests that the ServiceAccount may not make, although it may make all others. */
export interface Denied {
  /**
   * Verbs as in RBAC: `get`, `create`, `update`, `patch`, `delete`, `list`, `watch`.
   *
   * @default - all
   */
  readonly verbs?: readonly string[];
  /** @default - objects of all kinds */
  readonly kind?: string;
  /** @default - in all namespaces */
  readonly namespace?: string;
  /** @default - objects of all names */
  readonly name?: string;
}

/** The object that is asked for: without a name, all objects of the kind. */
export type Place = Omit<Denied, "verbs">;

export const isDenied = (denied: readonly Denied[], verb: string, { kind, namespace, name }: Place): boolean =>
  denied.some(
    (one) =>
      (one.verbs === undefined || one.verbs.includes(verb)) &&
      (one.kind === undefined || one.kind === kind) &&
      (one.namespace === undefined || one.namespace === namespace) &&
      // A request about all objects of a kind is about that one, too.
      (one.name === undefined || name === undefined || one.name === name),
  );
