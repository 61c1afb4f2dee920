import { API_VERSION, KIND, type Phase, type Transaction } from "@janus/api";
import type { Api, Resource } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { type Instant, isAbsent, type EventSpec } from "../../core/index.ts";
import { wall } from "../process/clock.ts";
import type { Log } from "../process/log.ts";

export const events: Resource = {
  group: "",
  version: "v1",
  plural: "events",
  kind: "Event",
  namespaced: true,
  statusSubresource: false,
};

/** There may be hundreds of these. The first few of a Transaction are events of their own, the others become one that grows … */
const MANY: readonly string[] = [
  "ItemCommitted",
  "ItemRolledBack",
  "RollbackFailed",
  "RollbackConfigMapMissing",
  "ConflictDetected",
];
const FEW = 3;
/** … and is written so often, in ms. */
const WINDOW = 2000;
/** What is told again and again is written again at its 2nd, 4th, 8th … time, and after so many ms. */
const REPEAT_AFTER = 60_000;
/** What was not told again for so long, in ms, is another event when it is. */
const FORGET_AFTER = 600_000;
/** More are not remembered: anybody may have thousands of Transactions fail, each with words of its own. */
const MOST = 2000;
/** Of a Transaction in these phases everything is said: thousands of them must not be remembered for so long. */
const SAID: readonly Phase[] = ["Committed", "RolledBack"];
/** The API server takes at most 1024 characters. */
const LONGEST = 1024;

/** One Event object. */
interface Line {
  readonly about: Pick<Transaction["metadata"], "namespace" | "name" | "uid" | "resourceVersion">;
  readonly name: string;
  readonly type: EventSpec["type"];
  readonly reason: string;
  message: string;
  count: number;
  readonly first: Instant;
  last: Instant;
  /** The count that was written last, and when. */
  written: { readonly count: number; readonly at: Instant };
  /** One write after the other. */
  writing: Promise<void>;
}

export interface Recorder {
  /** @param log where it is told that an event could not be written */
  readonly tell: (txn: Transaction, event: EventSpec, log: Log) => void;
  /** Resolves when everything that was told is written, or could not be. */
  readonly flush: () => Promise<void>;
}

const time = (at: Instant): string => new Date(at).toISOString();

/** @param identity who reports */
const bodyOf = ({ about, name, type, reason, message, count, first, last }: Line, identity: string): object => {
  const { namespace, uid, resourceVersion } = about;
  return {
    apiVersion: "v1",
    kind: "Event",
    metadata: { namespace, name },
    involvedObject: { apiVersion: API_VERSION, kind: KIND, namespace, name: about.name, uid, resourceVersion },
    type,
    reason,
    message,
    count,
    firstTimestamp: time(first),
    lastTimestamp: time(last),
    source: { component: "janus" },
    reportingComponent: "backup.janus.io/controller",
    reportingInstance: identity,
  };
};

const isPowerOfTwo = (count: number): boolean => (count & (count - 1)) === 0;

/**
 * Events on Transactions, off the critical path.
 *
 * Guarantees: never holds up or fails anything; what is told again and again is one event that counts; hundreds of one reason
 *             are a few events and one that says how many more; they are dated in the order in which they were told.
 */
export const recorder = (apiOf: (namespace: string) => Api, identity: string): Recorder => {
  /** By uid, reason and message; the one that was told last is the last. */
  const lines = new Map<string, Line>();
  /** How many were told of those reasons of which there may be many, by uid and reason. */
  const told = new Map<string, number>();
  /** Those of {@link MANY} that will be written. */
  const planned = new Set<Line>();
  /** Uids of those that will be forgotten. */
  const leaving = new Set<string>();
  let made = 0;

  const send = async (line: Line, log: Log): Promise<void> => {
    const { about, name, message, count, last, written } = line;
    if (written.count === count) return;
    line.written = { count, at: wall() };
    const api = apiOf(about.namespace);
    const to = { purpose: "event", resource: events, namespace: about.namespace };
    const more = { message, count, lastTimestamp: time(last) };
    const patched = written.count === 0 ? undefined : await api.send({ verb: "mergePatch", ...to, name, body: more });
    const isGone = patched !== undefined && E.isLeft(patched) && isAbsent(patched.left);
    const answer =
      patched === undefined || isGone
        ? await api.send({ verb: "create", ...to, body: bodyOf(line, identity) })
        : patched;
    // An event that cannot be written (a terminating namespace, an API server that is away) is only lost to people.
    if (E.isLeft(answer)) log("debug", "an event was not written", { event: line.reason });
  };

  const write = (line: Line, log: Log): void => {
    line.writing = line.writing.then(() => send(line, log));
  };

  const line = (key: string, { metadata }: Transaction, { type, reason }: EventSpec, at: Instant): Line => {
    const former = lines.get(key);
    lines.delete(key);
    const { namespace, name, uid, resourceVersion } = metadata;
    made += 1;
    const self: Line = former ?? {
      about: { namespace, name, uid, resourceVersion },
      // In the order of their names where their times are the same: kubectl shows seconds.
      name: `${name.slice(0, 200)}.${uid.slice(0, 8)}${Math.floor(at).toString(36)}${made.toString(36).padStart(5, "0")}`,
      type,
      reason,
      message: "",
      count: 0,
      first: at,
      last: at,
      written: { count: 0, at: 0 },
      writing: Promise.resolve(),
    };
    lines.set(key, self);
    return self;
  };

  const forget = (at: Instant, log: Log): void => {
    for (const [key, old] of lines) {
      if (at < old.last + FORGET_AFTER && lines.size <= MOST) return;
      write(old, log);
      lines.delete(key);
      told.delete(`${old.about.uid} ${old.reason}`);
    }
  };

  /** One of many more. */
  const add = (txn: Transaction, event: EventSpec, at: Instant, more: number, log: Log): void => {
    const self = line(`${txn.metadata.uid} ${event.reason}`, txn, event, at);
    self.message = `${more === 1 ? "" : `${more} more, the latest: `}${event.message}`.slice(0, LONGEST);
    self.count = more;
    self.last = at;
    if (planned.has(self)) return;
    planned.add(self);
    setTimeout(() => {
      planned.delete(self);
      write(self, log);
    }, WINDOW).unref();
  };

  /** Soon after the last word, which may come in any order; of one that has Failed, the same may be told again. */
  const forgetSoon = (uid: string, log: Log): void => {
    if (leaving.has(uid)) return;
    leaving.add(uid);
    setTimeout(() => {
      leaving.delete(uid);
      for (const [key, old] of lines)
        if (old.about.uid === uid) {
          write(old, log);
          told.delete(`${uid} ${old.reason}`);
          void old.writing.then(() => lines.delete(key));
        }
    }, 2 * WINDOW).unref();
  };

  const tell: Recorder["tell"] = (txn, event, log) => {
    const at = wall();
    const { uid } = txn.metadata;
    forget(at, log);
    if (SAID.includes(txn.status.phase)) forgetSoon(uid, log);
    // The story is told in order.
    for (const reason of MANY) {
      const rest = reason === event.reason ? undefined : lines.get(`${uid} ${reason}`);
      if (rest !== undefined) write(rest, log);
    }
    if (MANY.includes(event.reason)) {
      const key = `${uid} ${event.reason}`;
      const count = (told.get(key) ?? 0) + 1;
      told.set(key, count);
      if (count > FEW) return add(txn, event, at, count - FEW, log);
    }
    const self = line(`${uid} ${event.reason} ${event.message.slice(0, LONGEST)}`, txn, event, at);
    self.message = event.message.slice(0, LONGEST);
    self.count += 1;
    self.last = at;
    if (isPowerOfTwo(self.count) || at >= self.written.at + REPEAT_AFTER) write(self, log);
  };

  return {
    tell,
    flush: async () => {
      for (const self of lines.values()) write(self, () => {});
      await Promise.all([...lines.values()].map(({ writing }) => writing));
    },
  };
};
