// Records Events on objects, and aggregates frequent ones.
import type { Api, Resource } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { type Instant, isAbsent } from "@janus/types";
import { wall } from "../process/clock.ts";
import type { ControllerNames } from "../process/controller-names.ts";
import type { Log } from "../process/log.ts";

export const events: Resource = {
  group: "",
  version: "v1",
  plural: "events",
  kind: "Event",
  namespaced: true,
  statusSubresource: false,
};

export interface NewEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

/** An object that has events. */
export interface EventSubject {
  readonly metadata: {
    /** Absent for cluster-scoped objects: their events are in the namespace `default`. */
    readonly namespace?: string;
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
  };
}

/** The objects that have the events of a recorder. */
export interface EventSubjects<A extends EventSubject> {
  readonly apiVersion: string;
  readonly kind: string;
  /** Reasons of which one object may have hundreds. The first few are separate events, the others are counted in one … */
  readonly frequent: readonly string[];
  /** Whether it has no further events: its events are removed from memory early. */
  readonly isFinal: (object: A) => boolean;
}

/** The number of events of a frequent reason that are separate. */
const SEPARATE = 3;
/** … which is written this often, in ms. */
const WINDOW = 2000;
/** A repeated event is written again at its 2nd, 4th, 8th … occurrence, and after this time, in ms. */
const REPEAT_AFTER = 60_000;
/** An event that was not repeated for this time, in ms, is a new one when it occurs again. */
const FORGET_AFTER = 600_000;
/** The most events in memory: a user may have thousands of objects fail, each with another message. */
const MAX_EVENTS = 2000;
/** The API server accepts at most 1024 characters. */
const MAX_MESSAGE = 1024;

/** One Event object. */
interface RecordedEvent {
  readonly about: EventSubject["metadata"];
  readonly name: string;
  readonly type: NewEvent["type"];
  readonly reason: string;
  message: string;
  count: number;
  readonly first: Instant;
  last: Instant;
  /** The count that was written last, and when. */
  written: { readonly count: number; readonly at: Instant };
  /** Writes of one event are serial. */
  writing: Promise<void>;
}

const TYPES = ["Normal", "Warning"] as const;
const frequentKey = (uid: string, { reason, type }: Pick<NewEvent, "reason" | "type">): string =>
  `${uid} ${reason} ${type}`;

export interface Recorder<A extends EventSubject> {
  /** @param log reports that an event could not be written */
  readonly recordEvent: (object: A, event: NewEvent, log: Log) => void;
  /** Resolves when every recorded event was written, or could not be. */
  readonly flush: () => Promise<void>;
}

const namespaceOf = ({ namespace = "default" }: EventSubject["metadata"]): string => namespace;

const time = (at: Instant): string => new Date(at).toISOString();

/** @param identity the reporting instance */
const bodyOf = (
  { prefix, reportingComponent }: ControllerNames,
  regarding: { readonly apiVersion: string; readonly kind: string },
  { about, name, type, reason, message, count, first, last }: RecordedEvent,
  identity: string,
): object => {
  const { uid, resourceVersion } = about;
  return {
    apiVersion: "v1",
    kind: "Event",
    metadata: { namespace: namespaceOf(about), name },
    involvedObject: {
      apiVersion: regarding.apiVersion,
      kind: regarding.kind,
      ...(about.namespace === undefined ? {} : { namespace: about.namespace }),
      name: about.name,
      uid,
      resourceVersion,
    },
    type,
    reason,
    message,
    count,
    firstTimestamp: time(first),
    lastTimestamp: time(last),
    source: { component: prefix },
    reportingComponent,
    reportingInstance: identity,
  };
};

const isPowerOfTwo = (count: number): boolean => (count & (count - 1)) === 0;

/**
 * Events on objects, off the critical path.
 *
 * Guarantees: never delays or fails a reconcile; a repeated event is one event with a count; hundreds of one reason are a
 *             few events and one that says how many more; their times are in the order in which they were recorded.
 */
export const recorder = <A extends EventSubject>(
  names: ControllerNames,
  subjects: EventSubjects<A>,
  apiOf: (namespace: string) => Api,
  identity: string,
): Recorder<A> => {
  const { frequent, isFinal } = subjects;
  /** Events by uid, reason and message, in the order of their last occurrence. */
  const lines = new Map<string, RecordedEvent>();
  /** The number of events of frequent reasons, by uid, reason and type: a warning is never counted as Normal. */
  const counts = new Map<string, number>();
  /** Events of frequent reasons whose write is scheduled. */
  const planned = new Set<RecordedEvent>();
  /** Uids of objects whose events will be removed. */
  const leaving = new Set<string>();
  let made = 0;

  const send = async (line: RecordedEvent, log: Log): Promise<void> => {
    const { about, name, message, count, last, written } = line;
    if (written.count === count) return;
    line.written = { count, at: wall() };
    const namespace = namespaceOf(about);
    const api = apiOf(namespace);
    const to = { purpose: "event", resource: events, namespace };
    const more = { message, count, lastTimestamp: time(last) };
    const patched = written.count === 0 ? undefined : await api.send({ verb: "mergePatch", ...to, name, body: more });
    const isGone = patched !== undefined && E.isLeft(patched) && isAbsent(patched.left);
    const answer =
      patched === undefined || isGone
        ? await api.send({ verb: "create", ...to, body: bodyOf(names, subjects, line, identity) })
        : patched;
    // An event that cannot be written (a terminating namespace, an unreachable API server) is dropped.
    if (E.isLeft(answer)) log("debug", "an event was not written", { event: line.reason });
  };

  const write = (line: RecordedEvent, log: Log): void => {
    line.writing = line.writing.then(() => send(line, log));
  };

  const line = (key: string, { metadata }: EventSubject, { type, reason }: NewEvent, at: Instant): RecordedEvent => {
    const former = lines.get(key);
    lines.delete(key);
    const { namespace, name, uid, resourceVersion } = metadata;
    made += 1;
    const self: RecordedEvent = former ?? {
      about: { ...(namespace === undefined ? {} : { namespace }), name, uid, resourceVersion },
      // The names are in order, too: the times that kubectl shows have seconds only.
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
      if (at < old.last + FORGET_AFTER && lines.size <= MAX_EVENTS) return;
      write(old, log);
      lines.delete(key);
      counts.delete(frequentKey(old.about.uid, old));
    }
  };

  /** Counts one more event of a frequent reason. */
  const add = (object: EventSubject, event: NewEvent, at: Instant, more: number, log: Log): void => {
    const self = line(frequentKey(object.metadata.uid, event), object, event, at);
    self.message = `${more === 1 ? "" : `${more} more, the latest: `}${event.message}`.slice(0, MAX_MESSAGE);
    self.count = more;
    self.last = at;
    if (planned.has(self)) return;
    planned.add(self);
    setTimeout(() => {
      planned.delete(self);
      write(self, log);
    }, WINDOW).unref();
  };

  /** Forgets after a pause, because the last events may be recorded in any order. */
  const forgetSoon = (uid: string, log: Log): void => {
    if (leaving.has(uid)) return;
    leaving.add(uid);
    setTimeout(() => {
      leaving.delete(uid);
      for (const [key, old] of lines)
        if (old.about.uid === uid) {
          write(old, log);
          counts.delete(frequentKey(uid, old));
          void old.writing.then(() => lines.delete(key));
        }
    }, 2 * WINDOW).unref();
  };

  const recordEvent: Recorder<A>["recordEvent"] = (object, event, log) => {
    const at = wall();
    const { uid } = object.metadata;
    forget(at, log);
    if (isFinal(object)) forgetSoon(uid, log);
    if (frequent.includes(event.reason)) {
      const key = frequentKey(uid, event);
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      if (count > SEPARATE) return add(object, event, at, count - SEPARATE, log);
    }
    // Pending counts are written before an event of its own, so that the events are in order.
    for (const rest of frequent.flatMap((reason) => TYPES.map((type) => lines.get(frequentKey(uid, { reason, type })))))
      if (rest !== undefined) write(rest, log);
    const self = line(`${uid} ${event.reason} ${event.message.slice(0, MAX_MESSAGE)}`, object, event, at);
    self.message = event.message.slice(0, MAX_MESSAGE);
    self.count += 1;
    self.last = at;
    if (isPowerOfTwo(self.count) || at >= self.written.at + REPEAT_AFTER) write(self, log);
  };

  return {
    recordEvent,
    flush: async () => {
      for (const self of lines.values()) write(self, () => {});
      await Promise.all([...lines.values()].map(({ writing }) => writing));
    },
  };
};
