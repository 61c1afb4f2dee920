// Finds the reason why a Transaction is in its phase, and the commands that help.
import { type Item, LIFECYCLE_CHANGED_BY, REJECTION_REASON, type Transaction } from "@janus/api";
import { isTerminal, isUnread, readyIn, WAITING } from "@janus/controller";
import { fromOne } from "../output/from-one.ts";
import { currentRender } from "../plan/render-report.ts";
import { changeStates, nameOfTarget } from "../progress/change-state.ts";
import { messageOfTransaction } from "../progress/progress-text.ts";
import type { Holder } from "./locks.ts";

/** Each is one line of the answer; without a value, the line is left out. */
export interface Explanation {
  /** The situation. */
  readonly what: string;
  /** Why, in the words of the controller. */
  readonly why: string;
  /** The change or object that it is about. */
  readonly where?: string;
  /** The changes that are applied. */
  readonly state: string;
  /** The command to run next. */
  readonly next: string;
}

/** Facts beside the Transaction itself. */
export interface Facts {
  readonly locks: ReadonlyMap<number, Holder>;
  readonly now: number;
}

/** Matches only legal names: whoever can write the Lease chooses them, and they become part of a command to paste. */
const HELD_BY_ANOTHER = /^Transaction ([a-z0-9][a-z0-9-]*)\/([a-z0-9][a-z0-9.-]*)$/u;
/** Milliseconds: a controller starts a Transaction within a second. */
const PATIENCE = 10_000;

const condition = ({ status }: Transaction, name: string) => status.conditions.find(({ type }) => type === name);

const noneApplied = (all: number): string =>
  all === 1 ? "its change is not applied" : `none of the ${all} changes is applied`;

const counted = ({ status, spec }: Transaction): string => {
  const count = (...types: readonly Item["state"]["type"][]): number =>
    status.items.filter(({ state }) => types.includes(state.type)).length;
  const applied = count("committed", "rollback-failed");
  const restored = count("restored");
  const unknown = count("unknown");
  const all = spec.changes.length;
  if (applied === 0 && restored === 0 && unknown === 0) return noneApplied(all);
  return [
    `${applied} of ${all} changes are applied`,
    ...(restored === 0 ? [] : [`${restored} ${restored === 1 ? "is" : "are"} rolled back`]),
    ...(unknown === 0 ? [] : [`of ${unknown} it is unknown whether ${unknown === 1 ? "it was" : "they were"} applied`]),
  ].join(", ");
};

/** Explains a Draft or a proposed Transaction: nothing is wrong, but a user has to move it. */
const ofUnpublished = (txn: Transaction): Explanation => {
  const { metadata, spec } = txn;
  const { annotations = {} } = metadata;
  const on = `${metadata.name} -n ${metadata.namespace}`;
  const render = currentRender(txn);
  const isBad = render?.result === "Problems";
  const refused = render?.changes?.findIndex(({ result }) => result === "Refused") ?? -1;
  const where = refused < 0 ? {} : { where: `change ${refused + 1}, ${nameOfTarget(txn, refused)}` };
  const state = noneApplied(spec.changes.length);
  const mover = annotations[LIFECYCLE_CHANGED_BY] ?? "an unknown user";
  const reason = annotations[REJECTION_REASON];
  const rejected = reason === undefined ? "" : `, set back by ${mover}: ${reason}`;
  return spec.lifecycle === "Draft"
    ? {
        what: `It is a Draft${rejected}${rejected === "" && isBad ? ", and would fail" : ""}.`,
        why: messageOfTransaction(txn),
        ...where,
        state,
        next:
          isBad || rejected !== ""
            ? `kubectl janus edit ${on}; then: kubectl janus propose ${on}`
            : `kubectl janus propose ${on}`,
      }
    : {
        what: `It was proposed by ${mover}, and waits for its approval${isBad ? ", but would fail" : ""}.`,
        why: messageOfTransaction(txn),
        ...where,
        state,
        next: isBad ? `kubectl janus reject ${on}` : `kubectl janus approve ${on}`,
      };
};

/** Why it has not got further, or has failed, and what to do: at most five lines. */
export const explanation = (txn: Transaction, { locks, now }: Facts): Explanation => {
  const { metadata, status } = txn;
  const { name, namespace } = metadata;
  const on = `${name} -n ${namespace}`;
  const states = changeStates(txn);
  const why = messageOfTransaction(txn);
  const state = counted(txn);
  const cause = fromOne(condition(txn, "Committed")?.message ?? why);
  /** The place, without what is said under Why. */
  const where = (at: (typeof states)[number] | undefined, said = why): Pick<Explanation, "where"> => {
    if (at === undefined) return {};
    // The message of a change may be cut.
    const isSaid = said.includes(at.detail.replace(/…$/u, ""));
    return { where: `change ${at.index + 1}, ${at.change}${isSaid ? "" : `: ${at.detail}`}` };
  };
  // What follows is said under Why.
  const stateOfRollback =
    fromOne(condition(txn, "RolledBack")?.message ?? state).split("; rolled back because:")[0] ?? state;
  const failed = states.find(({ colour }) => colour === "red");
  // Only of changes that still need their lock, and first the one that the controller names.
  const others = [...locks].filter(
    ([index, { holder }]) =>
      holder !== undefined && holder !== "this Transaction" && states[index]?.state !== "rolled back",
  );
  const held = others.find(([, { lease }]) => why.includes(`(Lease ${lease})`)) ?? others[0];

  if (txn.spec.lifecycle !== "Published") return ofUnpublished(txn);
  if (isUnread(txn))
    return {
      what: "The controller cannot read it, and does nothing for it.",
      why,
      state: `unknown; the last phase that was recorded is ${status.phase}`,
      next: `do what the message says; what is stored: kubectl get transaction ${on} -o yaml`,
    };
  switch (status.phase) {
    case "Committed":
      return {
        what: "It has finished: every change is applied.",
        why,
        state,
        next:
          condition(txn, "Reversible")?.status === "True"
            ? `nothing to do; to roll it back: kubectl janus rollback ${on}`
            : "nothing to do",
      };
    case "RolledBack":
      if (condition(txn, "Committed")?.reason === "RollbackRequested")
        return {
          what: "It has finished: it was rolled back on request.",
          why: cause,
          state: stateOfRollback,
          next: "nothing to do",
        };
      return {
        what: "It has finished: a change failed, and it was rolled back.",
        why: cause,
        ...where(failed ?? states.find(({ detail }) => detail !== ""), cause),
        state: stateOfRollback,
        next: `correct the cause, and apply it again under a new name (the former state: kubectl janus snapshot show ${on})`,
      };
    case "Failed":
      if (condition(txn, "ApprovalStale")?.status === "True")
        return {
          what: "It failed: it would have done something else than what was approved.",
          why: fromOne(condition(txn, "ApprovalStale")?.message ?? why),
          state,
          next: "look at what has changed, and have it approved again under a new name (kubectl janus plan --draft)",
        };
      return condition(txn, "RolledBack")?.reason === "RollbackIncomplete"
        ? {
            what: "It failed, and not everything could be rolled back.",
            why,
            ...where(failed),
            state,
            next:
              `remove what each change names (a missing permission, a policy; what later Transactions changed: roll them back, the last one first; ` +
              `else by hand, the former state: kubectl janus snapshot diff ${on}), then: kubectl janus retry ${on}; ` +
              `or, once the targets are as they should be: kubectl delete transaction ${on}`,
          }
        : {
            what: "It failed.",
            why,
            ...where(failed),
            state,
            next: "correct what the message names, and apply it again under a new name",
          };
    case "Pending":
    case "Preparing":
    case "Prepared":
    case "Committing":
    case "RollingBack":
      break;
  }
  if (held !== undefined) {
    const [index, { lease, holder = "" }] = held;
    const [, otherNamespace = "", other = ""] = HELD_BY_ANOTHER.exec(holder) ?? [];
    return {
      what: `It waits for a lock that ${holder} holds.`,
      why,
      where: `change ${index + 1}, ${states[index]?.change ?? ""}: Lease ${lease}`,
      state,
      next:
        other === ""
          ? `kubectl describe lease -n ${lease.replace("/", " ")}`
          : `kubectl janus explain ${other} -n ${otherNamespace}`,
    };
  }
  const age = now - Date.parse(metadata.creationTimestamp ?? "");
  if (status.startedAt === undefined)
    return {
      what: age > PATIENCE ? "No controller has started it." : "It has just been created.",
      why,
      state,
      next: "kubectl janus doctor",
    };
  const current = states.find(({ state }) => state === "waiting") ?? states.find(({ colour }) => colour === "cyan");
  const isBack = status.phase === "RollingBack";
  return {
    what: isBack ? "It is being rolled back." : current?.state === "waiting" ? "It waits for a gate." : "It is active.",
    why: isBack ? cause : why,
    ...(isBack && readyIn(txn).reason === WAITING
      ? { where: messageOfTransaction(txn) }
      : where(current ?? failed, isBack ? cause : why)),
    state,
    next:
      isBack || isTerminal(status.phase)
        ? `kubectl janus watch ${on}`
        : `wait, or roll it back: kubectl janus rollback ${on}`,
  };
};
