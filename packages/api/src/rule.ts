// The interface of a validation rule: a CEL expression, the same predicate in TypeScript, and a message.

/**
 * A validation rule in two forms: the CEL expression for the API server, and the same predicate for the codec.
 * The message says what to do, and is all that a user of `kubectl apply` sees. A property test compares the two forms.
 */
export interface Rule<A> {
  readonly cel: string;
  readonly message: string;
  readonly holds: (value: A) => boolean;
}
