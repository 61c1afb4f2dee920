// Formats everything that is known of a Transaction for the command describe.
import {
  formatDuration,
  LAST_EDITED_BY,
  LIFECYCLE_CHANGED_BY,
  REJECTION_REASON,
  type RenderedChange,
  ROLLBACK_REQUESTED_BY,
  type Transaction,
} from "@janus/api";
import { usersOf } from "../cluster/users.ts";
import { age } from "../output/age.ts";
import type { Paint } from "../output/style.ts";
import { hanging } from "../output/wrap.ts";
import { effectWord } from "../plan/effect.ts";
import { currentRender, effectIn, fieldDiff } from "../plan/render-report.ts";
import { changeStates } from "../progress/change-state.ts";
import { messageOfTransaction } from "../progress/progress-text.ts";
import type { Told } from "./events.ts";
import type { Holder } from "./locks.ts";

export interface Story {
  readonly txn: Transaction;
  readonly locks: ReadonlyMap<number, Holder>;
  readonly events: readonly Told[];
}

const LABEL = 17;
const MOST_EVENTS = 20;

/** How often each message was reported. */
const withoutRepetitions = (events: readonly Told[]): readonly (Told & { readonly count: number })[] => {
  const all = new Map<string, Told & { readonly count: number }>();
  for (const event of events) {
    const key = JSON.stringify([event.reason, event.message]);
    const count = (all.get(key)?.count ?? 0) + 1;
    all.delete(key);
    all.set(key, { ...event, count });
  }
  return [...all.values()];
};

/** Shows, under a change that was not made yet, why it would fail, and the fields that it would set. */
const renderedFields = (change: RenderedChange | undefined, paint: Paint, width: number): readonly string[] =>
  change === undefined
    ? []
    : [
        ...(change.message === undefined ? [] : [`       ${hanging(change.message, width, 7)}`]),
        ...fieldDiff(change, paint).map((line) => `       ${line}`),
      ];

/** The whole story of a Transaction: every change with its state, gates, conflicts and lock, and what happened. */
export const description = ({ txn, locks, events }: Story, now: number, paint: Paint, width: number): string => {
  const { metadata, spec, status } = txn;
  const field = (label: string, value: string | undefined): readonly string[] =>
    value === undefined || value === "" ? [] : [`${`${label}:`.padEnd(LABEL)} ${hanging(value, width, LABEL + 1)}`];
  const when = (time: string | undefined): string | undefined =>
    time === undefined ? undefined : `${time} (${age(time, now)} ago)`;
  const users = usersOf(txn);
  const { annotations = {} } = metadata;
  const isDraft = spec.lifecycle !== "Published";
  const render = currentRender(txn);
  const lines = changeStates(txn).flatMap(({ index, change, state, colour, detail }) => {
    const item = status.items[index];
    const lock = locks.get(index);
    const { waitFor = spec.waitFor ?? [] } = spec.changes[index] ?? {};
    const before = item !== undefined && "before" in item.state ? item.state.before : undefined;
    const more: readonly (readonly [string, string | undefined])[] = [
      [state === "waiting" ? "waits for" : "message", detail],
      ["since", item?.waiting === undefined ? undefined : when(item.waiting.since)],
      ["gates", waitFor.join(", ")],
      [
        "lock",
        lock === undefined
          ? undefined
          : `Lease ${lock.lease}, ${lock.holder === undefined ? "not held" : `held by ${lock.holder}`}`,
      ],
      ["snapshot", before?.existed === true ? before.snapshot?.store : undefined],
      ["also deleted", before?.existed === true ? before.dependents : undefined],
    ];
    return [
      isDraft
        ? `  ${String(index + 1).padStart(3)}  ${effectWord(render === undefined ? "unknown" : effectIn(render, index), render?.changes !== undefined, paint)}  ${change}`
        : `  ${String(index + 1).padStart(3)}  ${paint(colour, state.padEnd(15))}  ${change}`,
      ...(isDraft ? renderedFields(render?.changes?.[index], paint, width) : []),
      ...more.flatMap(([label, value]) =>
        value === undefined || value === "" ? [] : [`       ${`${label}:`.padEnd(13)} ${hanging(value, width, 21)}`],
      ),
    ];
  });
  const conditions = status.conditions.flatMap(({ type, status, reason, message }) => [
    `  ${type.padEnd(11)} ${status.padEnd(7)} ${reason}`,
    ...(message === messageOfTransaction(txn) ? [] : [`      ${hanging(message, width, 6)}`]),
  ]);
  const reported = withoutRepetitions(events)
    .slice(-MOST_EVENTS)
    .map(({ type, reason, message, at, count }) => {
      const text = `  ${age(at, now).padEnd(7)} ${hanging(`${reason}${count > 1 ? ` (x${count})` : ""}: ${message}`, width, 10)}`;
      return type === "Warning" ? paint("yellow", text) : text;
    });
  const rendered =
    render === undefined
      ? "not yet, as it is now"
      : `${render.result}, ${when(render.renderedAt)}${render.result === "OK" ? "" : `: ${render.message ?? ""}`}`;
  return `${[
    ...field("Name", metadata.name),
    ...field("Namespace", metadata.namespace),
    ...field("ServiceAccount", spec.serviceAccountName),
    ...field("Lifecycle", spec.lifecycle),
    ...field("Requested by", users.requestedBy),
    ...field("Last edited by", annotations[LAST_EDITED_BY]),
    ...field("Moved by", isDraft ? annotations[LIFECYCLE_CHANGED_BY] : undefined),
    ...field("Rejected", spec.lifecycle === "Draft" ? annotations[REJECTION_REASON] : undefined),
    ...field("Approved by", users.approvedBy),
    ...field("Rollback by", annotations[ROLLBACK_REQUESTED_BY]),
    ...field("Rendered", isDraft ? rendered : undefined),
    ...field("Digest", isDraft ? render?.digest : spec.approvedDigest),
    ...field("Phase", `${status.phase} (${status.progress ?? `0/${spec.changes.length}`})`),
    ...field("Message", messageOfTransaction(txn)),
    ...field("Created", when(metadata.creationTimestamp)),
    ...field("Started", when(status.startedAt)),
    ...field("Finished", when(status.completedAt)),
    ...field("Timeout", formatDuration(spec.timeout)),
    ...field("Deletion policy", spec.deletionPolicy),
    ...field("Snapshots", status.snapshots.map(({ kind, name }) => `${kind} ${name}`).join(", ")),
    "Changes:",
    ...lines,
    "Conditions:",
    ...conditions,
    ...(reported.length === 0 ? [] : ["Events:", ...reported]),
  ].join("\n")}\n`;
};
