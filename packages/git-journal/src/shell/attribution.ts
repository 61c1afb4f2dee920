/**
 * Knows who made a change that a watch has shown, by the requests that the webhook has seen.
 *
 * Ask once for each event of a watch, whatever number of destinations writes it: `seenChange(place, before, after)` of
 * core/kept-object.ts, with what was kept of the object before this event, also where only its resourceVersion had changed; if that is
 * not undefined, `authorOf(change)`. Not asked for: what a list has shown, a sweep, and the changes of Transactions, whose marks tell more.
 */
import { type Clock, systemClock } from "@janus/kube";
import type { JsonObject } from "@janus/types";
import { Counter, Registry } from "prom-client";
import {
  attributed,
  type Attribution,
  entryOf,
  type KeyedEntry,
  keysOf,
  type SeenChange,
} from "../core/correlation.ts";
import { correlationEntries } from "../core/correlation-entries.ts";
import { type By, UNKNOWN } from "../core/history.ts";

/** The time that the entry of a change may take to come from another replica, in ms. */
const WAIT = 500;

export interface Authors {
  /** Remembers an AdmissionRequest, as the API server has sent it; undefined: there is nothing in it to remember. */
  readonly record: (request: JsonObject) => KeyedEntry | undefined;
  /** Remembers what another replica has recorded. */
  readonly remember: (keyed: KeyedEntry) => void;
  /** The user, or unknown. Each request is the author of one change only: asked twice, the second answer is another. */
  readonly authorOf: (change: SeenChange) => By;
  /** The same, but where no request is known, one may come within half a second: for replicas that do not serve the webhook. */
  readonly awaitedAuthorOf: (change: SeenChange) => Promise<By>;
  /** Hits, misses by their reason, and what was forgotten too early. */
  readonly registry: Registry;
}

const isSettled = (attribution: Attribution): boolean =>
  attribution.type === "hit" || attribution.reason !== "NoRequest";

export const attribution = (clock: Clock = systemClock): Authors => {
  const entries = correlationEntries();
  /** Maps the key of an entry to those that wait for it. */
  const waiting = new Map<string, Set<() => void>>();
  const registry = new Registry();
  const registers = [registry];
  const hits = new Counter({
    name: "gitopsreverser_enrich_hits_total",
    help: "Changes whose author is known.",
    registers,
  });
  const misses = new Counter({
    name: "gitopsreverser_enrich_misses_total",
    help: "Changes that are committed by the bot, since nobody knows their author.",
    registers,
  });
  const reasons = new Counter({
    name: "janus_git_misses_total",
    help: "Changes whose author nobody knows: no request was seen, or those of several users.",
    labelNames: ["reason"],
    registers,
  });
  // oxlint-disable-next-line eslint/no-new -- its registry has it
  new Counter({
    name: "gitopsreverser_kv_evictions_total",
    help: "Requests that were forgotten before their time, since there were too many.",
    registers,
    collect() {
      this.reset();
      this.inc(entries.evictions());
    },
  });
  for (const reason of ["NoRequest", "SeveralUsers"]) reasons.inc({ reason }, 0);

  const found = (change: SeenChange): Attribution => attributed(change, (key) => entries.get(key, clock.now()));

  const settled = (attribution: Attribution): By => {
    if (attribution.type === "miss") {
      misses.inc();
      reasons.inc({ reason: attribution.reason });
      return UNKNOWN;
    }
    hits.inc();
    entries.remove(attribution.key, attribution.entry);
    return { type: "user", name: attribution.entry.user };
  };

  const remember = (keyed: KeyedEntry): void => {
    entries.put(keyed);
    for (const look of waiting.get(keyed.key) ?? []) look();
  };

  const authorOf = (change: SeenChange): By => settled(found(change));

  return {
    registry,
    record: (request) => {
      const keyed = entryOf(request, clock.now());
      if (keyed !== undefined) remember(keyed);
      return keyed;
    },
    remember,
    authorOf,
    awaitedAuthorOf: (change) =>
      new Promise((resolve) => {
        const end = (): void => {
          for (const key of keys) {
            const others = waiting.get(key);
            others?.delete(look);
            if (others?.size === 0) waiting.delete(key);
          }
          cancel();
          resolve(authorOf(change));
        };
        const look = (): void => {
          if (isSettled(found(change))) end();
        };
        const keys = keysOf(change);
        const cancel = clock.after(WAIT, end);
        for (const key of keys) waiting.set(key, (waiting.get(key) ?? new Set()).add(look));
        look();
      }),
  };
};
