// Finds mistakes during synthesis that the API server or the controller would refuse later.
import { groupOf, isIrreplaceable } from "@janus/api";
import { parse, type TransactionManifest } from "@janus/authoring";
import type { ApiObjectMetadata } from "cdk8s";
import type { IConstruct } from "constructs";
import type { Change } from "./change.ts";
import { isWithin, objectsOf } from "./objects.ts";

/** Changes of the same object. The API server does not compare targets that leave the namespace out with those that name it. */
export const changedTwice = (
  { metadata: { namespace: own = "default" }, spec }: TransactionManifest,
  changes: readonly Change[],
): readonly string[] => {
  const identities = spec.changes.map(({ target: { apiVersion, kind, namespace = own, name } }) =>
    [groupOf(apiVersion), kind, namespace, name].join("/"),
  );
  const first = new Map(identities.map((identity, index) => [identity, index] as const).toReversed());
  return identities.flatMap((identity, index) => {
    const earlier = first.get(identity) ?? index;
    return earlier === index
      ? []
      : [
          `spec.changes[${index}]: has the same target as changes[${earlier}] (${changes[earlier]?.subject}): ` +
            `make them one change (${changes[index]?.subject})`,
        ];
  });
};

/** Deletions that nothing can undo, before a change that may fail: the controller would refuse them. */
export const irreversibleTooEarly = ({ spec }: TransactionManifest, changes: readonly Change[]): readonly string[] => {
  const isIrreversible = spec.changes.map(({ type, target }) => type === "Delete" && isIrreplaceable(target));
  const last = isIrreversible.lastIndexOf(false);
  return changes.flatMap(({ subject }, index) =>
    isIrreversible[index] === true && index < last
      ? [`spec.changes[${index}]: this deletion cannot be undone: move it to the end of the list (${subject})`]
      : [],
  );
};

/** What would not give each run a name of its own, though it looks so. */
export const namedInVain = (metadata: ApiObjectMetadata | undefined, run: string | undefined): readonly string[] => [
  ...(metadata?.["generateName"] === undefined
    ? []
    : ["metadata.generateName has no effect, since the name is a hash of the content: set run instead"]),
  ...(metadata?.name === undefined || run === undefined
    ? []
    : ["run has no effect, since metadata.name is the name: put it into that name, or leave one of them out"]),
];

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
  account: string | undefined,
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
