// The limits of a Transaction that follow from no other: the number of changes, and the depth of objects.

/**
 * The most changes of a Transaction: the schema, the most names of its snapshot stores, the docs and the tests follow from it.
 *
 * What bounds it, and is tested with this number: the cost limit of the CEL rules (`tests/api/limits.test.ts`), and the room that
 * the size check keeps for the largest status of so many items (`tests/unit/core/pending.test.ts`).
 */
export const MAX_CHANGES = 500;

/**
 * The most levels of objects and lists in a Transaction or a target. The API server accepts ten thousand, which would overflow
 * the stack of recursive functions; real objects have some dozens.
 */
export const MAX_DEPTH = 500;
