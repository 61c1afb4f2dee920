// Invariants that hold of a scenario of Transactions in the end, whenever controllers have died.
import { decodeTransaction, type ItemState, storeName, type Transaction } from "@janus/api";
import type { KubeObject } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import type { Ended } from "./over.ts";
import type { ScenarioRun } from "./run-scenario.ts";
import { essence, type World } from "./world.ts";

/** Owners go by their names: one that was deleted comes back under another uid. */
const byName = (world: World): World => {
  const text = [...world].reduce(
    (text, [key, { metadata }]) => text.replaceAll(metadata.uid ?? "no uid", `uid of ${key}`),
    JSON.stringify([...world]),
  );
  return new Map(JSON.parse(text) as readonly (readonly [string, KubeObject])[]);
};

const text = (object: KubeObject | undefined): string =>
  object === undefined ? "nothing" : JSON.stringify(essence(object));

/** Without its owners, and without who has set them. */
const unowned = (object: KubeObject | undefined): string => {
  if (object === undefined) return "nothing";
  const { ownerReferences: _, managedFields: __, ...metadata } = object.metadata;
  return text({ ...object, metadata });
};

/** Without the field managers of former Transactions: they are folded before a change, also before one that is refused then. */
const withoutFormer = (object: KubeObject | undefined): string => {
  if (object === undefined) return "nothing";
  const managedFields = (object.metadata.managedFields ?? []).filter(
    ({ manager = "" }) => !/^janus(-v\d+-0{8}-.*)?$/u.test(manager),
  );
  return text({ ...object, metadata: { ...object.metadata, managedFields } });
};

/** Marks carry the uid of the Transaction, and times the moment: neither is the same in two runs. */
const neutral = (text: string, { metadata: { uid = "", namespace = "" } }: KubeObject): string =>
  text
    .replaceAll(uid, "UID")
    .replaceAll(namespace, "NAMESPACE")
    .replaceAll(/\\"time\\":\\"[^"]*\\"/g, "TIME")
    .replaceAll(/"(clusterIP|clusterIPs)":("[^"]*"|\[[^\]]*\])/g, "ADDRESS");

/** From a little before the first character that differs. */
const difference = (key: string, should: string, is: string): readonly string[] => {
  let at = 0;
  while (at < should.length && should[at] === is[at]) at += 1;
  const from = Math.max(0, at - 80);
  const shown = [is, should].map((text) => text.slice(from, from + 200));
  return should === is ? [] : [`${key} is …${shown.join("… and not …")}…`];
};

/** States of a change that was not made: its target is as users have left it. */
const UNMADE: readonly ItemState["type"][] = ["untouched", "refused", "prepared", "rejected"];
/** With that of one whose target must be as it was before. */
const CLEAN: readonly ItemState["type"][] = [...UNMADE, "restored"];

const targetOf = ({ spec }: Transaction, index: number): string => {
  const target = spec.changes[index]?.target;
  return `${target?.kind}/${target?.name}`;
};

/** What is wrong with the targets, by what the Transaction tells of each. */
const wrongTargets = (
  { before, after, done }: ScenarioRun,
  { object }: Ended,
  txn: Transaction,
  planned: ScenarioRun,
) => {
  const [was, is] = [byName(before), byName(after)];
  const baseline = planned.transactions.get("txn")?.object ?? object;
  return txn.spec.changes.flatMap((_, index): readonly string[] => {
    const key = targetOf(txn, index);
    const state = txn.status.items[index]?.state ?? ({ type: "untouched" } as const);
    const { type: at } = state;
    // Deleted in the middle of its way back, and it says so.
    if (at === "rollback-failed" && state.error.includes("when the Transaction was deleted")) return [];
    if (txn.status.phase === "Committed" && at !== "committed") return [`Committed, but ${key} is ${at}`];
    if (txn.status.phase === "RolledBack" && !CLEAN.includes(at)) return [`RolledBack, but ${key} is ${at}`];
    // The item of its owner says why, and so does its own.
    if (at === "restored" && /its owner was not restored|restored without its owner/u.test(state.error ?? ""))
      return difference(`${at}, but ${key}`, unowned(was.get(key)), unowned(is.get(key)));
    if (UNMADE.includes(at) && text(done.get(key)) === text(after.get(key))) return [];
    if (UNMADE.includes(at))
      return difference(`${at}, but ${key}`, withoutFormer(was.get(key)), withoutFormer(is.get(key)));
    if (CLEAN.includes(at)) return difference(`${at}, but ${key}`, text(was.get(key)), text(is.get(key)));
    if (at === "committed") {
      const should = neutral(text(planned.after.get(key)), baseline);
      return difference(`committed, but ${key}`, should, neutral(text(after.get(key)), object));
    }
    // The rollback failed, or the outcome is unknown: the target is as users have left it.
    const isTheirs = done.get(key)?.metadata.resourceVersion === after.get(key)?.metadata.resourceVersion;
    return isTheirs ? [] : [`${at}, but ${key} is not as users left it`];
  });
};

const isUnsettled = (txn: Transaction): boolean =>
  txn.status.phase === "Failed" &&
  txn.status.items.some(({ state: { type: at } }) => at === "rollback-failed" || at === "unknown");

/** What of this Transaction is left that should not be, and what is lost that somebody may need. */
const wrongRemains = ({ after }: ScenarioRun, ended: Ended, txn: Transaction): readonly string[] => {
  const { uid, name, deletionTimestamp } = txn.metadata;
  // Deleted when it was Failed and had no finalizer any more, it leaves everything where it is: docs/guarantees.md says so.
  const isGone = ended.isGone && deletionTimestamp !== undefined;
  const { phase, items, snapshots } = txn.status;
  const locks = [...after].flatMap(([key, { spec }]) =>
    key.startsWith("Lease/") && (spec as { readonly holderIdentity?: string }).holderIdentity?.endsWith(uid) === true
      ? [`${key} is left`]
      : [],
  );
  const journal = after.has(`ConfigMap/janus-journal-${uid}`);
  const keepsJournal = isUnsettled(txn) && !isGone;
  // One that was deleted while it was active leaves what is in, and what was there before.
  const isNeeded =
    isUnsettled(txn) || (phase === "Failed" && items.some(({ state: { type: at } }) => at === "committed"));
  const stores = [...after].filter(([key]) => /^(ConfigMap|Secret)\//.test(key) && isStoreOf(name, key));
  const wrongStores = stores.flatMap(([key, { metadata }]): readonly string[] => {
    if (metadata.finalizers !== undefined) return [`${key} is left with its finalizer`];
    const isOwned = metadata.ownerReferences?.some((owner) => owner.uid === uid) === true;
    if (phase === "RolledBack") return isOwned ? [] : [`${key} is left, and nobody's`];
    if (!isNeeded) return [`${key} is left`];
    if (isOwned) return [`${key} goes with the Transaction, though it is needed`];
    return isGone && metadata.labels?.["janus.io/orphaned"] !== "true" ? [`${key} is not to be found`] : [];
  });
  const lost = isNeeded
    ? snapshots.filter(({ kind, name: store }) => !after.has(`${kind}/${store}`)).map((ref) => `${ref.name} is lost`)
    : [];
  return [
    ...locks,
    ...(journal && !keepsJournal ? ["the journal is left"] : []),
    ...(!journal && keepsJournal ? ["the journal is lost"] : []),
    ...wrongStores,
    ...lost,
  ];
};

const isStoreOf = (transaction: string, key: string): boolean => {
  const name = key.slice(key.indexOf("/") + 1);
  return name === storeName(transaction, 0) || name.startsWith(`${storeName(transaction, 0)}-`);
};

const isBrief = (object: KubeObject | undefined): boolean =>
  ((object?.["spec"] ?? {}) as { readonly leaseDurationSeconds?: number }).leaseDurationSeconds === 1;

/** Objects that are nobody's target are as people left them. A Lease of theirs may be gone when it has expired. */
const touched = ({ after, done }: ScenarioRun, txns: readonly Transaction[]): readonly string[] => {
  const targets = new Set(txns.flatMap((txn) => txn.spec.changes.map((_, index) => targetOf(txn, index))));
  const isOurs = (key: string): boolean =>
    key.includes("/janus-journal-") || txns.some(({ metadata: { name } }) => isStoreOf(name, key));
  const known = [...done.keys()].filter((key) => !/^(Transaction|RoleBinding)\//.test(key));
  return [...new Set([...known, ...after.keys()])]
    .filter((key) => !targets.has(key) && !isOurs(key))
    .filter((key) => done.get(key)?.metadata.resourceVersion !== after.get(key)?.metadata.resourceVersion)
    .filter((key) => !(isBrief(done.get(key)) && !after.has(key)))
    .map((key) => `${key} was touched`);
};

/**
 * What must hold in the end, whenever the controller died: a terminal phase without our finalizer; after Committed every target is
 * in its after-state, after RolledBack as it was before, after Failed as its item says; no lock, no journal and no snapshot is
 * left that should not be, and none is lost that is needed; what is nobody's target is as users left it.
 *
 * @param planned the scenario with nothing in its way; see `asPlanned`.
 */
export const violations = (run: ScenarioRun, planned: ScenarioRun): readonly string[] => {
  const { scenario } = run;
  const decoded = [...run.transactions.values()].map((end) => [end, decodeTransaction(end.object)] as const);
  const wrong = decoded.flatMap(([end, result]): readonly string[] => {
    if (E.isLeft(result)) return [`the Transaction cannot be read: ${result.left}`];
    const txn = result.right;
    const { phase } = txn.status;
    const isRival = txn.metadata.name !== "txn";
    const phases = isRival ? ["Committed"] : [scenario.outcome, ...(scenario.orElse ?? [])];
    return [
      ...(phases.includes(phase)
        ? []
        : [`${txn.metadata.name} ended ${phase}, not ${phases.join(" or ")}: ${JSON.stringify(txn.status)}`]),
      ...(scenario.check === undefined ? wrongTargets(run, end, txn, planned) : []),
      ...wrongRemains(run, end, txn),
    ];
  });
  const txns = decoded.flatMap(([, result]) => (E.isRight(result) ? [result.right] : []));
  return [...wrong, ...touched(run, txns), ...(scenario.check?.(run) ?? [])];
};
