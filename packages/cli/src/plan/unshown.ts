// Lists what a render does not show: concealed, truncated and unreadable values.
import {
  type Change,
  CONCEALED,
  type FieldDifference,
  groupOf,
  type Render,
  type RenderedChange,
  type Transaction,
} from "@janus/api";
import { stringify } from "yaml";
import { KUBERNETES_YAML } from "../manifests/kubernetes-yaml.ts";
import { nameOfTarget } from "../progress/change-state.ts";

/** The parts of a render that an approver does not see. */
export interface Unshown {
  /** The contents of changes of which it does not show all, as text. */
  readonly contents: readonly string[];
  /** Fields that are in no content either: of the object that is there now, or added by the API server or a webhook. */
  readonly fields: readonly string[];
  /** Parts that nobody is to see on a terminal, or can know yet. */
  readonly others: readonly string[];
}

const isConcealed = ({ before, after }: FieldDifference): boolean => before === CONCEALED || after === CONCEALED;

/** Values are shown as JSON, of which none ends or begins so. */
const isCut = ({ path, before = "", after = "" }: FieldDifference): boolean =>
  path.includes("…") || [before, after].some((value) => value.startsWith("…") || value.endsWith("…"));

const contentOf = (txn: Transaction, index: number): string => {
  const change = txn.spec.changes[index];
  if (change === undefined || change.type === "Delete" || change.contentFrom !== undefined) return "";
  return stringify(change.content, { ...KUBERNETES_YAML, lineWidth: 0, aliasDuplicateObjects: false });
};

/** The effect of a change on what only an earlier change lets it read, if it does more than set what its content says. */
const DONE_UNSEEN: Readonly<Partial<Record<Change["type"], string>>> = {
  Delete: "it deletes it, whatever is in it then",
  Replace: "it deletes it, whatever is in it then, and creates it from its content",
  Update: "it replaces all of it, whatever is in it then",
  Apply: "it removes what an earlier Apply has set and its content leaves out",
};

const isSecret = ({ apiVersion, kind }: Change["target"]): boolean => kind === "Secret" && groupOf(apiVersion) === "";

const unshownOf = (txn: Transaction, { result, diff = [], more = 0 }: RenderedChange, index: number): Unshown => {
  const name = `change ${index + 1} (${nameOfTarget(txn, index)})`;
  const cut = diff.filter(isCut);
  const change = txn.spec.changes[index];
  const isHidden = diff.some(isConcealed) || (change !== undefined && isSecret(change.target));
  const isLater = result === "DependsOnEarlier";
  const isWhole = cut.length === 0 && more === 0 && !isLater;
  const content = isWhole || isHidden ? "" : contentOf(txn, index);
  const elsewhere = isWhole || isHidden || change?.type === "Delete" ? undefined : change?.contentFrom;
  // All of what is created is in the content.
  const isMissing = (result === "Change" || result === "Replace") && !isHidden;
  const unseen = isLater && change !== undefined ? DONE_UNSEEN[change.type] : undefined;
  return {
    contents: content === "" ? [] : [`Content of ${name}:\n${content}`],
    fields: [
      ...(isMissing ? cut.map(({ path }) => `${name}: the whole value of ${path}`) : []),
      ...(isMissing && more > 0 ? [`${name}: ${more} more fields`] : []),
      ...(elsewhere === undefined
        ? []
        : [`${name}: its content, which is in ${elsewhere.kind} ${elsewhere.name}, key ${elsewhere.key}`]),
      ...(unseen === undefined ? [] : [`${name}: ${unseen}, which depends on an earlier change`]),
    ],
    others: [
      ...(isHidden ? [`${name}: the values`] : []),
      ...(isLater && unseen === undefined
        ? [`${name}: what its content changes, which depends on an earlier change`]
        : []),
      ...(result === "Delete" || result === "Replace" ? [`${name}: what is deleted together with it`] : []),
    ],
  };
};

/** Finds what {@link renderReport} leaves out of this render. */
export const unshown = (txn: Transaction, { changes = [] }: Render): Unshown => {
  const all = changes.map((change, index) => unshownOf(txn, change, index));
  return {
    contents: all.flatMap(({ contents }) => contents),
    fields: all.flatMap(({ fields }) => fields),
    others: all.flatMap(({ others }) => others),
  };
};
