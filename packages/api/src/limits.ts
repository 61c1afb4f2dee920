/**
 * The most changes that a Transaction can have. The schema, the size that a Transaction may have, the names of its snapshot stores
 * and the docs follow from it. CEL's cost limit fits it, and so does the worst status of so many items in one object.
 */
export const MAX_CHANGES = 500;
