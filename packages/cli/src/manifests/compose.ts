// Makes one Transaction out of the manifests and flags of plan or apply.
import { randomBytes } from "node:crypto";
import { API_VERSION, KIND, MAX_CHANGES } from "@janus/api";
import {
  type ChangeManifest,
  changeOf,
  inOrder,
  kindOrder,
  type Manifest,
  parse,
  type SpecManifest,
  type TransactionManifest,
} from "@janus/authoring";
import { Failure } from "../failure.ts";
import type { Located } from "./read-manifests.ts";

/** Flags of plan and apply about the Transaction that is made of the manifests. */
export interface ComposeFlags {
  readonly name?: string;
  readonly serviceAccount?: string;
  readonly waitFor?: readonly string[];
  /** Manifests that waitFor is not for, as `KIND/NAME`. */
  readonly skipWaitFor?: readonly string[];
  readonly timeout?: string;
  readonly rollbackWindow?: string;
  readonly ttl?: number;
}

export const isTransaction = ({ manifest: { apiVersion, kind } }: Located): boolean =>
  apiVersion === API_VERSION && kind === KIND;

/** A Transaction's name can be used once: its spec cannot be changed. */
const freshName = (): string => `apply-${randomBytes(4).toString("hex")}`;

/** The field of a Transaction that each flag sets. */
const FIELDS: Readonly<Record<keyof ComposeFlags, string>> = {
  name: "metadata.name",
  serviceAccount: "spec.serviceAccountName",
  waitFor: "spec.waitFor",
  skipWaitFor: "waitFor: [] of those changes",
  timeout: "spec.timeout",
  rollbackWindow: "spec.rollbackWindow",
  ttl: "spec.ttlSecondsAfterFinished",
};

/** The only one among the manifests, as it is. Errors: flags that would change it; manifests beside it. */
const given = (located: Located, others: readonly Located[], flags: ComposeFlags): TransactionManifest => {
  const [second] = others;
  if (second !== undefined)
    throw new Failure(
      `${second.where}: a Transaction is applied alone; put the other manifests into its changes, or use two commands`,
    );
  const set = Object.entries(FIELDS).flatMap(([flag, field]) => (flag in flags ? [field] : []));
  if (set.length > 0)
    throw new Failure(
      `${located.where} is a Transaction: set ${set.join(", ")} in it, and leave the flag${set.length > 1 ? "s" : ""} out`,
    );
  const parsed = parse(located.manifest);
  if (parsed.ok) return parsed.value;
  const wrong = parsed.errors.map(({ path, message }) => `\n  ${path}: ${message}`).join("");
  throw new Failure(`${located.where}: the Transaction is not valid:${wrong}`);
};

const keyOf = ({ apiVersion, kind, metadata: { namespace, name } }: Manifest, here: string): string =>
  [apiVersion.split("/").toReversed().slice(1).join(), kind, namespace ?? here, name].join("/");

const refuseTwice = (all: readonly Located[], here: string): void => {
  const first = new Map<string, Located>();
  for (const one of all) {
    const other = first.get(keyOf(one.manifest, here));
    const { kind, metadata } = one.manifest;
    if (other !== undefined)
      throw new Failure(`${one.where}: ${kind} ${metadata.name} is also in ${other.where}: keep one of them`);
    first.set(keyOf(one.manifest, here), one);
  }
};

/** Whether this is its name, as `KIND/NAME`. */
export const isNamed = ({ kind, metadata }: Manifest, name: string): boolean =>
  `${kind}/${metadata.name}`.toLowerCase() === name.toLowerCase();

/** Errors: a name that no manifest has. */
const skippedIn = (all: readonly Located[], names: readonly string[]): ((manifest: Manifest) => boolean) => {
  const unknown = names.find((name) => !all.some(({ manifest }) => isNamed(manifest, name)));
  if (unknown !== undefined)
    throw new Failure(`--skip-wait-for ${unknown}: no manifest is called so; write KIND/NAME, such as Job/migrate`);
  return (manifest) => names.some((name) => isNamed(manifest, name));
};

/**
 * The Transaction that brings the manifests about: an Apply of each, in the order of their kinds, then `deletions`
 * in the reverse order. A single Transaction is taken as it is.
 *
 * Errors: two manifests of one object; more changes than a Transaction takes; flags that are not valid.
 */
export const compose = (
  all: readonly Located[],
  namespace: string,
  flags: ComposeFlags,
  deletions: readonly ChangeManifest[] = [],
): TransactionManifest => {
  const transaction = all.find(isTransaction);
  if (transaction !== undefined)
    return given(
      transaction,
      all.filter((one) => one !== transaction),
      flags,
    );
  refuseTwice(all, namespace);
  const sorted = inOrder(
    all.map(({ manifest }) => manifest),
    { rank: kindOrder, after: () => [] },
  );
  const isSkipped = skippedIn(all, flags.skipWaitFor ?? []);
  const applies =
    "order" in sorted
      ? sorted.order.map((manifest) => ({ ...changeOf(manifest), ...(isSkipped(manifest) ? { waitFor: [] } : {}) }))
      : [];
  return transactionOf([...applies, ...deletions], namespace, flags);
};

/** The Transaction with these changes. Errors: more changes than it takes; flags that are not valid. */
export const transactionOf = (
  changes: readonly ChangeManifest[],
  namespace: string,
  flags: ComposeFlags,
): TransactionManifest => {
  if (changes.length > MAX_CHANGES)
    throw new Failure(
      `${changes.length} changes, but a Transaction has at most ${MAX_CHANGES}: split them into several Transactions`,
    );
  const { name = freshName(), serviceAccount = "default", waitFor, timeout, rollbackWindow, ttl } = flags;
  const spec: SpecManifest = {
    serviceAccountName: serviceAccount,
    // What a manifest needs of a later one may be there only at the end.
    ...(waitFor === undefined ? {} : { waitFor, waitAt: "End" }),
    ...(timeout === undefined ? {} : { timeout }),
    ...(rollbackWindow === undefined ? {} : { rollbackWindow }),
    ...(ttl === undefined ? {} : { ttlSecondsAfterFinished: ttl }),
    changes,
  };
  const parsed = parse({ apiVersion: API_VERSION, kind: KIND, metadata: { name, namespace }, spec });
  if (parsed.ok) return parsed.value;
  throw new Failure(parsed.errors.map(({ path, message }) => `${path}: ${message}`).join("\n"));
};
