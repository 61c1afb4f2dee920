import type { UndoContext } from "./undo-context.ts";

/** The uids of all objects that this Transaction has created. */
export const createdUids = ({
  journal,
  context: { txn },
}: Pick<UndoContext, "journal" | "context">): ReadonlySet<string> => {
  const made = txn.status.items.flatMap(({ state }) => ("created" in state ? (state.created ?? []) : []));
  return new Set([...journal.created.values(), ...made]);
};
