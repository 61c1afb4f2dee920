/**
 * One refusal with two faces: the CEL text for the API server, and the same predicate for the codec.
 * The message says what to do, and is all that a user of `kubectl apply` sees. A property test holds the faces together.
 */
export interface Rule<A> {
  readonly cel: string;
  readonly message: string;
  readonly holds: (value: A) => boolean;
}
