import {
  API_VERSION,
  decodeTransaction,
  FINALIZER,
  type JsonObject,
  journalName,
  KIND,
  type Transaction,
  TRANSACTION_LABEL,
  transactions,
} from "@janus/api";
import { isTerminal } from "@janus/controller";
import type { KubeObject, Resource } from "@janus/kube";
import { startReflector } from "@janus/runtime/parts";
import { configMaps } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import type { Admin } from "./admin.ts";
import { serviceAccountName, shop } from "./shop.ts";

/** How far the journal says that it has come (packages/controller/src/core/journal.ts). */
export interface Position {
  readonly direction: "forward" | "back";
  readonly cursor: number;
  /** Of a rollback: how many changes had been made. */
  readonly reached: number;
  /** Changes that ended otherwise than made or rolled back. */
  readonly noted: ReadonlySet<number>;
}

/** What the two watches show of a Transaction: itself, and its journal, which is written after every change. */
export interface Observed {
  readonly transaction: Transaction;
  readonly journal: Position | undefined;
}

/** What a Transaction of the demo says besides its ServiceAccount. */
export interface TransactionSpec extends JsonObject {
  readonly changes: readonly JsonObject[];
}

const endsWithin = 300_000;

export const positionIn = (journal: KubeObject | undefined): Position | undefined => {
  const data = (journal?.["data"] ?? {}) as Readonly<Record<string, string>>;
  if (data["position"] === undefined) return undefined;
  const noted = Object.keys(data).flatMap((key) =>
    key.startsWith("note-") ? [Number(key.slice("note-".length))] : [],
  );
  const position = JSON.parse(data["position"]) as Omit<Position, "noted" | "reached"> & Partial<Position>;
  return { ...position, reached: position.reached ?? 0, noted: new Set(noted) };
};

/**
 * Creates a Transaction and watches it until it is over and cleaned up after.
 *
 * @param see Is shown every change that is seen; must not throw.
 * Errors: rejects when the API server refuses it, or when it does not end in time.
 */
export const runTransaction = async (
  { client, create }: Admin,
  name: string,
  spec: TransactionSpec,
  see: (observed: Observed) => void,
): Promise<Transaction> => {
  const over = Promise.withResolvers<Transaction>();
  const watching = new AbortController();
  let seen: Observed | undefined;
  let journal: Position | undefined;

  const show = (transaction: Transaction): void => {
    seen = { transaction, journal };
    see(seen);
    if (isTerminal(transaction.status.phase) && !(transaction.metadata.finalizers ?? []).includes(FINALIZER))
      over.resolve(transaction);
  };

  const watch = (resource: Resource, selector: object, onObject: (object: KubeObject) => void) =>
    startReflector(
      client,
      { resource, namespace: shop, ...selector },
      { signal: watching.signal, onEvent: (event) => event.type === "applied" && onObject(event.object) },
    ).synced;

  await Promise.all([
    watch(transactions, { fieldSelector: `metadata.name=${name}` }, (object) => {
      const decoded = decodeTransaction(object);
      if (E.isLeft(decoded)) over.reject(new Error(`Transaction ${name} cannot be read: ${decoded.left}`));
      else show(decoded.right);
    }),
    watch(configMaps, { labelSelector: `${TRANSACTION_LABEL}=${name}` }, (object) => {
      if (object.metadata.name !== journalName(seen?.transaction.metadata.uid ?? "")) return;
      journal = positionIn(object) ?? journal;
      if (seen !== undefined) show(seen.transaction);
    }),
  ]);

  const late = setTimeout(() => {
    const { phase, conditions = [] } = seen?.transaction.status ?? {};
    const message = conditions.find(({ type }) => type === "Ready")?.message ?? "nobody has looked at it";
    over.reject(
      new Error(`Transaction ${name} is still ${phase ?? "unseen"} after ${endsWithin / 1000} s: ${message}`),
    );
  }, endsWithin);
  try {
    const metadata = { name, namespace: shop };
    await create({ apiVersion: API_VERSION, kind: KIND, metadata, spec: { serviceAccountName, ...spec } });
    return await over.promise;
  } finally {
    clearTimeout(late);
    watching.abort();
  }
};
