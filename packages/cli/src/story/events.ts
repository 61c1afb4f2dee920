// Reads the events of a Transaction.
import type { Transaction } from "@janus/api";
import { type KubeObject, listAll } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import type { Cluster } from "../cluster/cluster.ts";
import { events } from "../cluster/resources.ts";

export interface Told {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly at: string | undefined;
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");

const timeOf = (event: KubeObject): string | undefined => {
  const series = event["series"];
  const last = typeof series === "object" && series !== null ? Reflect.get(series, "lastObservedTime") : undefined;
  return [last, event["lastTimestamp"], event["eventTime"], event.metadata.creationTimestamp].find(
    (time): time is string => typeof time === "string" && time !== "",
  );
};

/** The events of a Transaction, the newest last; none where they may not be listed. */
export const readEvents = async ({ api, namespace }: Cluster, txn: Transaction): Promise<readonly Told[]> => {
  const fieldSelector = `involvedObject.uid=${txn.metadata.uid}`;
  const listed = await listAll(api, { resource: events, namespace, fieldSelector });
  if (E.isLeft(listed)) return [];
  return listed.right.items
    .map((event) => ({
      type: text(event["type"]),
      reason: text(event["reason"]),
      message: text(event["message"]),
      at: timeOf(event),
    }))
    .toSorted((one, other) => ((one.at ?? "") < (other.at ?? "") ? -1 : 1));
};
