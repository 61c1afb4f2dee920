import type { Transaction } from "@janus/api";
import { isTerminal } from "@janus/controller";
import { age } from "../output/age.ts";
import { hanging, shortened } from "../output/wrap.ts";
import type { Paint } from "../output/style.ts";
import { type ChangeState, changeStates } from "./change-state.ts";

const MARKS = { green: "✔", red: "✘", yellow: "↩", cyan: "…", dim: "·" } as const;

/**
 * What the controller says about where it is. Of a Draft it says what to do next, which is outdated as soon as a user has done
 * that: until the controller has observed it, there is nothing to say.
 */
export const messageOfTransaction = ({ metadata, status }: Transaction): string => {
  const ready = status.conditions.find(({ type }) => type === "Ready");
  if (ready === undefined) return "no controller has observed it yet";
  const isOfDraft = ready.reason === "Draft" || ready.reason === "Proposed";
  const isOutdated = status.observedDraft?.generation !== metadata.generation;
  return isOfDraft && isOutdated ? "no controller has looked at it since it was changed" : ready.message;
};

const COLOURS = {
  Pending: "dim",
  Preparing: "cyan",
  Prepared: "cyan",
  Committing: "cyan",
  Committed: "green",
  RollingBack: "yellow",
  RolledBack: "yellow",
  Failed: "red",
} as const;

/** `Transaction shop/web: Committing, 1/3, for 12s` */
export const headline = (txn: Transaction, now: number, paint: Paint): string => {
  const { metadata, status } = txn;
  const { phase, progress = `0/${txn.spec.changes.length}`, completedAt, startedAt } = status;
  const since = startedAt ?? metadata.creationTimestamp;
  const end = isTerminal(phase) ? Date.parse(completedAt ?? "") || now : now;
  const took = `${isTerminal(phase) ? "after" : "for"} ${age(since, end)}`;
  return `Transaction ${metadata.namespace}/${metadata.name}: ${paint(COLOURS[phase], phase)}, ${progress}, ${took}`;
};

const lineOf = ({ index, change, state, colour, detail }: ChangeState, digits: number, paint: Paint, width: number) => {
  const start = ` ${MARKS[colour]} ${String(index + 1).padStart(digits)}  `;
  const rest = shortened(`${state.padEnd(11)}  ${change}${detail === "" ? "" : `: ${detail}`}`, width - start.length);
  const word = rest.slice(0, state.length);
  return `${paint(colour, start)}${paint(colour, word)}${rest.slice(state.length)}`;
};

/** For a terminal: all of it, a line per change, which is shortened to the width; at most `height` lines. */
export const progressScreen = (
  txn: Transaction,
  now: number,
  paint: Paint,
  width: number,
  height: number | undefined,
): string => {
  const states = changeStates(txn);
  const digits = String(states.length).length;
  const room = Math.max(3, (height || 24) - 4);
  const active = states.findIndex(({ colour }) => colour === "cyan");
  const from = states.length <= room ? 0 : Math.min(Math.max(0, active - Math.floor(room / 2)), states.length - room);
  const shown = states.slice(from, from + room).map((state) => lineOf(state, digits, paint, width));
  const hidden = states.length - shown.length;
  return [
    headline(txn, now, paint),
    ...shown,
    ...(hidden === 0 ? [] : [paint("dim", `   and ${hidden} more`)]),
    `   ${hanging(messageOfTransaction(txn), width, 3)}`,
  ].join("\n");
};

/** For a pipe or file: what is new since `former`, on lines of their own. */
export const progressNews = (former: Transaction | undefined, txn: Transaction): readonly string[] => {
  const { phase, progress = "" } = txn.status;
  const before = new Map((former === undefined ? [] : changeStates(former)).map((one) => [one.index, one]));
  const changes = changeStates(txn).flatMap(({ index, change, state, detail }) => {
    const was = before.get(index);
    const isNew = state !== "pending" && (was?.state !== state || was.detail !== detail);
    const of = `${index + 1}/${txn.spec.changes.length}`;
    return isNew ? [`${of} ${state}: ${change}${detail === "" ? "" : `: ${detail}`}`] : [];
  });
  const message = messageOfTransaction(txn);
  const isTold = former === undefined ? "" : messageOfTransaction(former);
  const says = former?.status.phase !== phase || (isTold !== message && changes.length === 0);
  return [...changes, ...(says ? [`${phase} ${progress}: ${message}`.replace(" :", ":")] : [])];
};
