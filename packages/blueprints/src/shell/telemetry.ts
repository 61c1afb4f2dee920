// Passes what has happened to an ActionSet to log, events and metrics. Each line has the labels by which its user finds it.
import type { Api } from "@janus/kube";
import { type Log, withFields, withRequestLog } from "@janus/runtime/parts";
import * as E from "fp-ts/lib/Either.js";
import {
  type Happened,
  type Measure,
  measuresBetween,
  type Memory,
  scrubbed,
  secretValues,
  type StepEvent,
} from "../core/index.ts";
import { kanisterEvents } from "./kanister-events.ts";

/** Users and products find the lines of their jobs by these labels, such as `kanister.io/JobID`. */
const LABELS = "kanister.io/";

/** The log of an ActionSet: with those of its labels that are meant for it. */
export const logOf = (log: Log, { object: { metadata } }: Memory): Log =>
  withFields(
    log,
    Object.fromEntries(Object.entries(metadata.labels ?? {}).filter(([name]) => name.startsWith(LABELS))),
  );

/** The same API server; each request is a line of the log, at debug. What it answers is told without values of Secrets. */
export const loggingRequests = (api: Api, log: Log, memory: Memory): Api =>
  withRequestLog(api, (level, message, { error, ...fields } = {}) => {
    const shown = typeof error === "string" ? { error: scrubbed(error, secretValues(memory)) } : {};
    logOf(log, memory)(level, message, { ...fields, ...shown });
  });

const logEvent = (log: Log, { type, reason, message, phase }: StepEvent): void =>
  log(type === "Warning" ? "warn" : "info", message, { event: reason, phase });

/**
 * Tells of an answer that was folded in.
 *
 * @param count counts what is measured
 */
export const observing = (
  api: Api,
  count: (measure: Measure) => void,
): ((log: Log, before: Memory, after: Memory, answered: Extract<Happened, { type: "answered" }>) => void) => {
  const record = kanisterEvents(api);
  return (plain, before, after, { effect, answer, at }) => {
    if (E.isLeft(answer)) return;
    const log = logOf(plain, after);
    const { events = [] } = effect;
    for (const event of events) logEvent(log, event);
    for (const measure of measuresBetween(before, after, at)) {
      if (measure.type === "resumed") log("info", "another process had begun it: it goes on");
      count(measure);
    }
    record(after, events, new Date(at));
  };
};
