import { APPROVED_BY, REQUESTED_BY, type Transaction } from "@janus/api";

/** Who created a Transaction, and who published it; undefined: nobody recorded it. */
export interface Users {
  readonly requestedBy: string | undefined;
  readonly approvedBy: string | undefined;
}

export const usersOf = ({ metadata: { annotations = {} } }: Transaction): Users => ({
  requestedBy: annotations[REQUESTED_BY],
  approvedBy: annotations[APPROVED_BY],
});
