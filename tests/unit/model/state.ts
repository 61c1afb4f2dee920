import { createHash } from "node:crypto";
import type { Call, Observations, KubeObject } from "@janus/controller";
import type { Instant } from "@janus/types";
import type { World } from "./api-server.ts";

/** How many misfortunes may still come, of each sort and in all. */
export interface Budget {
  readonly all: number;
  readonly crash: number;
  readonly lost: number;
  readonly late: number;
  readonly refused: number;
  /** Refusals that are not the API server's. */
  readonly wrong: number;
  readonly others: number;
  readonly leases: number;
  /** What people want of the Transaction under way. */
  readonly wishes: number;
}

/** A write that the process has given up on, and that may land until `until`. */
export interface Flight {
  readonly call: Call;
  /** Whether it bears the leader's term, as writes to targets do. */
  readonly fenced: boolean;
  readonly term: number;
  readonly until: Instant;
}

/** Everything there is at one moment between two decisions. */
export interface State {
  readonly world: World;
  /** What would be there had only others acted: nothing of ours. */
  readonly without: ReadonlyMap<string, KubeObject>;
  /** Targets that others have touched since our last write to them. */
  readonly touched: ReadonlySet<string>;
  /** Targets that others have ever deleted. */
  readonly deleted: ReadonlySet<string>;
  readonly now: Instant;
  /** The Transaction as the process last read or wrote it, and what it knows. */
  readonly own: KubeObject;
  readonly known: Observations;
  readonly term: number;
  readonly flights: readonly Flight[];
  readonly left: Budget;
  /** Pauses since the process last changed anything: patience, which comes to an end. */
  readonly pauses: number;
  /** What was created late for the Transaction's own use, when all was over: nobody is there any more to take it away. */
  readonly stray: ReadonlySet<string>;
  /** What must never happen, and did. */
  readonly broken?: string;
}

/** spec.timeout of every Transaction here, and the bound on the way back that follows from it. */
export const TIMEOUT = 300_000;
const BACK_TIMEOUT = 600_000;

const CLOCKS = new Set([
  "lastTransitionTime",
  "renewTime",
  "acquireTime",
  "completedAt",
  "startedAt",
  "reversibleUntil",
  "time",
]);
const INSTANTS = new Set([
  "at",
  "inDoubt",
  "sent",
  "since",
  "until",
  "looked",
  "seen",
  "expires",
  "statusWritten",
  "restoredAt",
]);
const texts = new WeakMap<object, string>();

/** Text of a stored object, without times: no decision depends on them but by the deadlines. */
const textOf = (object: object): string => {
  const known = texts.get(object);
  if (known !== undefined) return known;
  const text = JSON.stringify(object, (name, value: unknown) => (CLOCKS.has(name) ? 0 : value)).replaceAll(
    /\\"since\\":[\d.]+/g,
    "",
  );
  texts.set(object, text);
  return text;
};

/** A minute ago is as long ago as any time before. */
const ago = (at: number, now: Instant): number => Math.max(at - now, -60_000);

const normal = (value: unknown, name: string, now: Instant): string => {
  if (typeof value === "number") return String(INSTANTS.has(name) ? ago(value, now) : value);
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "";
  if (value instanceof Map)
    return [...value]
      .map(([key, inner]) => `${String(key)}:${normal(inner, "", now)}`)
      .toSorted()
      .join(",");
  if (value instanceof Set) return [...value].map(String).toSorted().join(",");
  if (Array.isArray(value)) return value.map((inner) => normal(inner, "", now)).join(",");
  if ("metadata" in value) return textOf(value);
  return Object.entries(value)
    .filter(([, inner]) => inner !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, inner]) => `${key}=${normal(inner, key, now)}`)
    .join(";");
};

/** Which of the Transaction's deadlines are over: the only times that are not a matter of seconds. */
const overdue = ({ world, own, now }: State): string => {
  const { startedAt, completedAt } = (own["status"] ?? {}) as Readonly<Record<string, string | undefined>>;
  const { rollbackWindow = "" } = own["spec"] as { readonly rollbackWindow?: string };
  const windowEnd = Date.parse(completedAt ?? "") + Number.parseInt(rollbackWindow, 10) * 1000;
  const journal = [...world.objects].find(([key]) => key.includes("janus-journal-"))?.[1];
  const { position = "{}" } = (journal?.["data"] ?? {}) as { readonly position?: string };
  const { since = now } = JSON.parse(position) as { readonly since?: number };
  return `${startedAt !== undefined && now >= Date.parse(startedAt) + TIMEOUT}${now >= since + BACK_TIMEOUT}${now >= windowEnd}`;
};

/** Equal for states from which the same can happen. */
export const fingerprint = (state: State): string => {
  const { world, without, touched, deleted, now, own, known, term, flights, left, pauses, broken, stray } = state;
  const hash = createHash("md5");
  const parts = [
    ...[...world.objects].map(([key, object]) => key + textOf(object)).toSorted(),
    "|",
    ...[...world.writes].map(([key, count]) => `${key}${count}`).toSorted(),
    "|",
    ...[...without.values()].map(textOf),
    [...touched].toSorted().join(","),
    [...deleted].toSorted().join(","),
    textOf(own),
    normal(known, "", now),
    ...flights.map(({ call, term: sentIn, until }) => `${textOf(call)}${term - sentIn}${until - now}`),
    Object.values(left).join(","),
    String(pauses),
    overdue(state),
    [...stray].join(","),
    broken ?? "",
  ];
  for (const part of parts) hash.update(part);
  return hash.digest("base64");
};
