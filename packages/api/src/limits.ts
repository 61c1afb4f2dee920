/**
 * The most changes of a Transaction. The schema, the maximum size of a Transaction, the names of its snapshot stores and the docs
 * depend on it. It is within CEL's cost limit, and the largest status of so many items fits into one object.
 */
export const MAX_CHANGES = 500;

/**
 * The most levels of objects and lists in a Transaction or a target. The API server accepts ten thousand, which would overflow
 * the stack of recursive functions; real objects have some dozens.
 */
export const MAX_DEPTH = 500;
