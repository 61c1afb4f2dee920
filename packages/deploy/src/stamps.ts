// The annotations of a Transaction that name the users who did something to it.
import {
  APPROVAL_LABEL,
  APPROVED_BY,
  LAST_EDITED_BY,
  LIFECYCLE_CHANGED_BY,
  REQUESTED_BY,
  ROLLBACK_REQUESTED_BY,
} from "@janus/api";
import type { k8s } from "cdk8s-plus-30";
import { writeVariables } from "./transaction-cel.ts";

/** An annotation of a Transaction that names the user who did something to it. */
export interface Stamp {
  readonly name: string;
  /** What the annotation says, for messages. */
  readonly says: string;
  /** CEL on {@link stampVariables}: whether it is set anew, to the current user. Otherwise it stays as it is. */
  readonly isSet: string;
}

export const stamps: readonly Stamp[] = [
  { name: REQUESTED_BY, says: "who created the Transaction", isSet: "oldObject == null" },
  { name: LAST_EDITED_BY, says: "who edited spec last", isSet: "variables.isEdited" },
  { name: LIFECYCLE_CHANGED_BY, says: "who moved spec.lifecycle last", isSet: "variables.isMoved" },
  {
    name: APPROVED_BY,
    says: "who published the Transaction",
    isSet: "variables.isPublished && (oldObject != null || variables.takesApproval)",
  },
  { name: ROLLBACK_REQUESTED_BY, says: "who requested the rollback", isSet: "variables.asksRollback" },
];

export const stampVariables: k8s.Variable[] = [
  ...writeVariables,
  { name: "takesApproval", expression: `'${APPROVAL_LABEL}' in namespaceObject.metadata.?labels.orValue({})` },
];
