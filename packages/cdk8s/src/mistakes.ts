import { parse, type TransactionManifest } from "@janus/authoring";
import type { IConstruct } from "constructs";
import type { Change } from "./change.ts";
import { isWithin, objectsOf } from "./objects.ts";

/** What the API server would say, with the construct that each change is about. */
export const mistakesIn = (manifest: TransactionManifest, changes: readonly Change[]): readonly string[] => {
  const parsed = parse(manifest);
  return parsed.ok
    ? []
    : parsed.errors.map(({ path, message }) => {
        const change = changes[Number(/^spec\.changes\[(\d+)\]/u.exec(path)?.[1])];
        return `${path}: ${message}${change === undefined ? "" : ` (${change.subject})`}`;
      });
};

/** A Transaction cannot create the ServiceAccount that it needs to begin. */
export const accountAmong = (
  changes: readonly Change[],
  account: string,
  namespace: string | undefined,
): readonly string[] =>
  changes.flatMap(({ object, subject }) =>
    object?.kind === "ServiceAccount" && object.name === account && object.metadata.namespace === namespace
      ? [`its own ServiceAccount must exist before it: move it to a chart that is applied first (${subject})`]
      : [],
  );

/** An object of the chart that the Transaction does not have, though it is of the whole chart. */
export const addedLater = (transaction: IConstruct, whole: IConstruct): readonly string[] =>
  objectsOf(whole)
    .filter((object) => !transaction.node.dependencies.some((one) => isWithin(object, one)))
    .map(
      ({ kind, node }) =>
        `${kind} ${node.path} was added after Transaction.of: call that last, or let the Transaction depend on it`,
    );
