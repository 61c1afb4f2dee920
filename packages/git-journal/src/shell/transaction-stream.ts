// Watches Transactions, whose changes are one commit each. Where they are not served, there are none.
import { decodeTransaction, type Transaction, transactions } from "@janus/api";
import type { Api, ApiError, KubeObject } from "@janus/kube";
import { startReflector, type Watchdog } from "@janus/runtime/parts";
import { isUnserved } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";

export interface TransactionStream {
  readonly all: () => Iterable<Transaction>;
  /** Whether the Transactions were listed, or cannot be. */
  readonly isKnown: () => boolean;
  readonly stop: () => void;
}

interface Told {
  readonly onChange: (transaction: Transaction) => void;
  readonly onGone: (uid: string) => void;
  readonly onKnown: () => void;
  readonly onError: (error: ApiError) => void;
}

/** Drops the contents of the changes: only their targets count. */
const slim = ({ spec, ...transaction }: Transaction): Transaction => ({
  ...transaction,
  spec: {
    ...spec,
    changes: spec.changes.map(({ type, target }) => ({ type, target }) as Transaction["spec"]["changes"][number]),
  },
});

const stubOf = ({ apiVersion, kind, metadata }: KubeObject): KubeObject => {
  const { namespace, name = "", uid = "", resourceVersion = "" } = metadata;
  return {
    apiVersion,
    kind,
    metadata: { ...(namespace === undefined ? {} : { namespace }), name, uid, resourceVersion },
  };
};

/** Whether Transactions are not served, or may not be read: another try soon would get the same answer. */
const isOff = (error: ApiError): boolean => isUnserved(error) || (error.type === "refused" && error.code === 403);

export const transactionStream = (
  api: Api,
  watchdog: Watchdog,
  { onChange, onGone, onKnown, onError }: Told,
): TransactionStream => {
  const abort = new AbortController();
  const loop = watchdog.loop("watch of Transactions");
  const known = new Map<string, Transaction>();
  const decoded = new WeakMap<KubeObject, Transaction>();
  let isKnown = false;

  const became = (): void => {
    if (isKnown) return;
    isKnown = true;
    onKnown();
  };

  const reflector = startReflector(
    api,
    { resource: transactions },
    {
      signal: abort.signal,
      onTurn: loop.heartbeat,
      keep: (object) => {
        const stub = stubOf(object);
        const one = decodeTransaction(object);
        if (E.isRight(one)) decoded.set(stub, slim(one.right));
        return stub;
      },
      onError: (error) => {
        if (isOff(error)) became();
        else onError(error);
      },
      onEvent: (event) => {
        if (event.type === "synced") return became();
        const { uid = "" } = event.object.metadata;
        const transaction = decoded.get(event.object);
        decoded.delete(event.object);
        if (event.type === "deleted") {
          known.delete(uid);
          onGone(uid);
        } else if (transaction !== undefined) {
          known.set(uid, transaction);
          onChange(transaction);
        }
      },
    },
  );
  void reflector.done.finally(loop.rest);
  return { all: () => known.values(), isKnown: () => isKnown, stop: () => abort.abort() };
};
