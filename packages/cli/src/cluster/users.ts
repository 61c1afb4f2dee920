// The users who created and published a Transaction, as recorded in its status or annotations.
import { APPROVED_BY, REQUESTED_BY, type Transaction } from "@janus/api";

/** The users who created a Transaction and who published it; undefined: it was not recorded. */
export interface Users {
  readonly requestedBy: string | undefined;
  readonly approvedBy: string | undefined;
}

/** The users as the controller recorded them; before it has, as they are written on the Transaction. */
export const usersOf = ({ metadata: { annotations = {} }, status }: Transaction): Users => ({
  requestedBy: status.requestedBy ?? annotations[REQUESTED_BY],
  approvedBy: status.approvedBy ?? annotations[APPROVED_BY],
});
