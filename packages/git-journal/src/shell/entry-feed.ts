/**
 * Tells other replicas the requests that the webhook has seen, one line each: they write branches, and do not serve it.
 *
 * Guarantees: what is held for a replica that does not read is bounded; it is cut off then, and changes that it was not told of
 *             have no author.
 */
import type { ServerResponse } from "node:http";
import { type Clock, systemClock } from "@janus/kube";
import type { KeyedEntry } from "../core/correlation.ts";
import { entryLine } from "../core/entry-line.ts";

export interface EntryFeed {
  readonly tell: (keyed: KeyedEntry) => void;
  /** Adds the answer to another replica, which goes on until one of the two ends it. */
  readonly add: (response: ServerResponse) => void;
  /** The number of replicas that are told. */
  readonly readers: () => number;
  readonly stop: () => void;
}

export const ENTRIES_PATH = "/requests";
export const ENTRIES_TYPE = "application/jsonl";

const MOST_READERS = 64;
/** The most bytes that wait for one reader. */
const MOST_WAITING = 2 ** 20;
/** The pause between two empty lines, in ms: a reader that hears nothing for longer looks for another leader. */
export const PULSE = 5_000;

export const entryFeed = (clock: Clock = systemClock): EntryFeed => {
  const readers = new Set<ServerResponse>();
  let cancel: (() => void) | undefined;

  const send = (line: string): void => {
    for (const reader of readers) {
      if (reader.writableLength > MOST_WAITING) reader.destroy();
      else reader.write(line);
    }
  };

  const pulse = (): void => {
    cancel?.();
    cancel = readers.size === 0 ? undefined : clock.after(PULSE, pulse);
    send("\n");
  };

  return {
    tell: (keyed) => {
      if (readers.size > 0) send(`${entryLine(keyed)}\n`);
    },
    add: (response) => {
      if (readers.size >= MOST_READERS) {
        response.writeHead(503).end();
        return;
      }
      response.writeHead(200, { "content-type": ENTRIES_TYPE });
      readers.add(response);
      response.once("close", () => readers.delete(response));
      pulse();
    },
    readers: () => readers.size,
    stop: () => {
      cancel?.();
      for (const reader of readers) reader.end();
    },
  };
};
