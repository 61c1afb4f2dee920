// The group, finalizers, labels, annotations and object names of Transactions, as users see them.
import { fitted } from "./shorten.ts";

export const GROUP = "backup.janus.io";
export const VERSION = "v1alpha1";
export const API_VERSION = `${GROUP}/${VERSION}`;
export const KIND = "Transaction";
export const PLURAL = "transactions";

/** The finalizer of a Transaction, from before its first lock until its last one is released. */
export const FINALIZER = `${GROUP}/lease-cleanup`;
/** The finalizer of a snapshot store as long as a rollback may need it. */
export const SNAPSHOT_FINALIZER = `${GROUP}/snapshot`;

/**
 * Requests a rollback: of an active Transaction, or of a Committed one within its rollbackWindow. Any value; on a finished one the
 * controller removes it when it has answered.
 */
export const REQUEST_ROLLBACK = `${GROUP}/request-rollback`;
/** Requests, on a Failed Transaction, a retry of the incomplete rollback. Any value; the controller removes it when it starts. */
export const RETRY_ROLLBACK = `${GROUP}/retry-rollback`;

/** The user who created the Transaction. Nobody can change it. */
export const REQUESTED_BY = `${GROUP}/requested-by`;
/** The user who edited `spec` last, its creation included; a move of `lifecycle` alone is no edit. */
export const LAST_EDITED_BY = `${GROUP}/last-edited-by`;
/** The user who moved `spec.lifecycle` last. */
export const LIFECYCLE_CHANGED_BY = `${GROUP}/lifecycle-changed-by`;
/** The user who published a Draft or a proposed Transaction. */
export const APPROVED_BY = `${GROUP}/approved-by`;
/** The user who requested the rollback. */
export const ROLLBACK_REQUESTED_BY = `${GROUP}/rollback-requested-by`;
/** Says on a Namespace who may publish its Transactions. `four-eyes`; any other value, also an unknown one, means `required`. */
export const APPROVAL_LABEL = `${GROUP}/approval`;
/** Why a proposed Transaction was set back to Draft. */
export const REJECTION_REASON = `${GROUP}/rejection-reason`;

/** The holder identity of a Transaction that has applied changes and requests the locks of this one, which has not. */
export const REQUEST_YIELD = `${GROUP}/give-way-to`;

/** The commit to which the Transaction goes back, as kubectl janus plan --from-git writes it; `revert COMMIT`: it takes that one back. */
export const FROM_GIT = "janus.io/from-git";
/** The uids of the clusters whose mirror that commit has, where it is not this one; separated by commas. */
export const FROM_CLUSTER = "janus.io/from-cluster";

export const MANAGED_BY_LABEL = "app.kubernetes.io/managed-by";
export const MANAGED_BY = "janus";
export const TRANSACTION_LABEL = "janus.io/transaction";
/** The uid of the Transaction, on every snapshot store and on the journal. A label, so that `kubectl -l` finds them. */
export const UID_LABEL = "janus.io/transaction-uid";
/** Marks what is kept after its Transaction was deleted while it was active. */
export const ORPHANED_LABEL = "janus.io/orphaned";

interface Named {
  readonly name: string;
  readonly uid: string;
}

const managerNamed = (sign: string, { name, uid }: Named): string =>
  `janus-${sign}${name.slice(0, 128 - `janus-${sign}-`.length - uid.length)}-${uid}`;

/** No name of a Transaction has a colon. */
const APPLY_SIGN = "apply:";

/** The field manager of a Transaction's writes: at most 128 characters, unique by its uid. */
export const fieldManager = (transaction: Named): string => managerNamed("", transaction);

/** The same for the write of an Apply, so that a later Apply removes what this one has set, but nothing that a Patch has. */
export const applyManager = (transaction: Named): string => managerNamed(APPLY_SIGN, transaction);

/** Whether it is the field manager of an Apply of some Transaction. */
export const isApplyManager = (manager: string): boolean =>
  manager.startsWith(`janus-${APPLY_SIGN}`) && isFieldManager(manager);

/** Whether this is the field manager of the Transaction with that uid, whatever its name is. */
export const marks = (manager: string, uid: string): boolean =>
  uid !== "" && manager.startsWith("janus-") && manager.endsWith(`-${uid}`);

/** The value of {@link TRANSACTION_LABEL}: the name if it is a valid label value, otherwise a unique short form. */
export const transactionLabel = (name: string): string => fitted(name, 63);

const UUID_PATTERN = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}";
const FIELD_MANAGER = new RegExp(`^janus-(?:${APPLY_SIGN})?(?<name>.*)-(?<uid>${UUID_PATTERN})$`, "u");

/** Whether this is the field manager of some Transaction. */
export const isFieldManager = (manager: string): boolean => FIELD_MANAGER.test(manager);

/** The Transaction with this field manager, of a long name the beginning; undefined if it is no Transaction's. */
export const transactionOf = (manager: string): Named | undefined => {
  const { name, uid } = FIELD_MANAGER.exec(manager)?.groups ?? {};
  return name === undefined || uid === undefined ? undefined : { name, uid };
};

export interface Holder {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** The holder identity of a lock. No part can contain a slash. */
export const holderIdentity = ({ namespace, name, uid }: Holder): string => `${namespace}/${name}/${uid}`;

/** https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#uids */
const UUID = new RegExp(`^${UUID_PATTERN}$`, "u");

/** Undefined if the holder is no Transaction: other identities may have slashes, too, but no uid. */
export const parseHolder = (identity: string): Holder | undefined => {
  const [namespace = "", name = "", uid = "", ...more] = identity.split("/");
  return namespace !== "" && name !== "" && UUID.test(uid) && more.length === 0 ? { namespace, name, uid } : undefined;
};

/** The n-th store for snapshots of the Transaction: `<txn>-rollback`, `<txn>-rollback-1`, ... */
export const storeName = (transaction: string, n: number): string => {
  const suffix = n === 0 ? "-rollback" : `-rollback-${n}`;
  return `${fitted(transaction, 253 - suffix.length)}${suffix}`;
};

export const journalName = (uid: string): string => `janus-journal-${uid}`;
