// CEL expressions about a Transaction that the admission policies share.
import { REQUEST_ROLLBACK } from "@janus/api";
import type { k8s } from "cdk8s-plus-30";

/** An annotation of the Transaction as it is now, as an optional. */
export const annotation = (name: string): string => `object.metadata.?annotations[?'${name}']`;

/** The same before the write, on {@link writeVariables}. */
export const annotationBefore = (name: string): string => `variables.annotationsBefore[?'${name}']`;

/** Of a Transaction from before the field it is what the CRD's default says. */
const lifecycleOf = (object: string): string => `${object}.?spec.?lifecycle.orValue('Published')`;

/** Without the schema's types, so that every field of spec counts, also one that a later version adds. */
const specOf = (object: string): string => `dyn(${object}).?spec.orValue({})`;

/** Any field of spec but for those that move it through its lifecycle is set, changed or removed. A creation is an edit. */
export const isEdited: k8s.Variable = {
  name: "isEdited",
  expression:
    `oldObject == null || [${specOf("object")}, ${specOf("oldObject")}].exists(spec, spec.exists(field, ` +
    `!(field in ['lifecycle', 'approvedDigest']) && ${specOf("object")}[?field] != ${specOf("oldObject")}[?field]))`,
};

/**
 * What a write of a Transaction does, as variables of an admission policy. They hold for objects that the API server has not
 * validated yet (without spec), and for old ones (without lifecycle or annotations).
 *
 * - `isEdited`: see there.
 * - `isMoved`: `lifecycle` changes. A creation is no move.
 * - `isPublished`: it is Published from now on, by its creation or by a move.
 * - `asksRollback`: the annotation `request-rollback` is added or changed.
 */
export const writeVariables: k8s.Variable[] = [
  {
    name: "annotationsBefore",
    expression: "oldObject == null ? {} : oldObject.metadata.?annotations.orValue({})",
  },
  { name: "lifecycleBefore", expression: `oldObject == null ? '' : ${lifecycleOf("oldObject")}` },
  { name: "lifecycle", expression: lifecycleOf("object") },
  isEdited,
  { name: "isMoved", expression: "oldObject != null && variables.lifecycle != variables.lifecycleBefore" },
  {
    name: "isPublished",
    expression: "variables.lifecycle == 'Published' && variables.lifecycleBefore != 'Published'",
  },
  {
    name: "asksRollback",
    expression:
      `${annotation(REQUEST_ROLLBACK)}.hasValue() && ` +
      `${annotation(REQUEST_ROLLBACK)} != ${annotationBefore(REQUEST_ROLLBACK)}`,
  },
];
