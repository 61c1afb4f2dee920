// The state of each change in a word, with its error or the reason why it waits.
import { groupOf, isBuiltIn, type Transaction } from "@janus/api";
import { resourceOf } from "@janus/authoring";
import { fromOne } from "../output/from-one.ts";

/** How far a change has come, in a word, and what there is to say about it. */
export interface ChangeState {
  /** The number of the change, from 0. */
  readonly index: number;
  /** `Patch Deployment shop/web` */
  readonly change: string;
  readonly state: string;
  readonly colour: "green" | "red" | "yellow" | "cyan" | "dim";
  /** Why, or what it waits for. */
  readonly detail: string;
}

const WORDS = {
  untouched: ["pending", "dim"],
  refused: ["refused", "red"],
  prepared: ["pending", "dim"],
  unknown: ["unknown", "red"],
  rejected: ["not applied", "red"],
  committed: ["applied", "green"],
  "rollback-failed": ["not rolled back", "red"],
  restored: ["rolled back", "yellow"],
} as const;

/**
 * `Deployment shop/web`, `Namespace shop`, `Service.serving.knative.dev shop/web`: with the group, if it is not one of Kubernetes; and of
 * these with the namespace of the Transaction, where the target is in one and names none.
 */
export const nameOfTarget = ({ metadata, spec, status }: Transaction, index: number): string => {
  const target = spec.changes[index]?.target;
  if (target === undefined) return "";
  const { apiVersion, kind, name } = target;
  const group = groupOf(apiVersion);
  const isPlaced = isBuiltIn(group) && resourceOf(target, []).namespaced;
  const { namespace = isPlaced ? metadata.namespace : undefined } = target;
  const recorded = status.items[index]?.target ?? `${kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`;
  return isBuiltIn(group) ? recorded : recorded.replace(kind, `${kind}.${group}`);
};

/** Every change, in order. */
export const changeStates = (txn: Transaction): readonly ChangeState[] => {
  const { phase, items } = txn.status;
  const current = phase === "Committing" ? items.findIndex(({ state }) => state.type === "prepared") : -1;
  return txn.spec.changes.map(({ type }, index): ChangeState => {
    const item = items[index];
    const [word, colour] = WORDS[item?.state.type ?? "untouched"];
    const error = fromOne((item === undefined || !("error" in item.state) ? item?.gateError : item.state.error) ?? "");
    const waiting = item?.waiting;
    const change = `${type} ${nameOfTarget(txn, index)}`;
    if (waiting !== undefined) return { index, change, state: "waiting", colour: "cyan", detail: waiting.gate };
    const isCurrent = index === current && items.every(({ waiting }) => waiting === undefined);
    if (isCurrent) return { index, change, state: "applying", colour: "cyan", detail: error };
    return { index, change, state: word, colour, detail: error };
  });
};
