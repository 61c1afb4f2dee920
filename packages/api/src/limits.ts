/**
 * The most changes that a Transaction can have. The schema, the size that a Transaction may have, the names of its snapshot stores
 * and the docs follow from it. CEL's cost limit fits it, and so does the worst status of so many items in one object.
 */
export const MAX_CHANGES = 500;

/**
 * The most levels of objects and lists in a Transaction or a target. The API server takes ten thousand, which whatever
 * is done by recursion has no room for on the stack; real objects have some dozens.
 */
export const MAX_DEPTH = 500;
