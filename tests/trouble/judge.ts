// Judges the history of a contest: no Transaction wrote to a target while another one was at it.
import { holderIdentity, lockLease, type Phase } from "@janus/api";
import type { KubeObject } from "@janus/kube";
import type { Version } from "./history.ts";

/** What Transactions contend for. */
export const TARGETS = ["a", "b", "c", "d", "e"];

/** A Transaction. */
export interface Entry {
  /** Which of the two controllers works on it. */
  readonly controller: 0 | 1;
  /** In the order of its changes. */
  readonly targets: readonly string[];
  /** Each change is a Patch, or the whole object. */
  readonly wholly: boolean;
  /** Its last change is refused, and it is rolled back. */
  readonly isRefused: boolean;
  /** When it is created, in ms. */
  readonly after: number;
}

export const phaseOf = ({ status }: KubeObject): Phase | undefined =>
  (status as { readonly phase?: Phase } | undefined)?.phase;
export const isTerminal = (phase: Phase | undefined): boolean =>
  phase === "Committed" || phase === "RolledBack" || phase === "Failed";

export const nameOf = (index: number): string => `t${index}`;

/** A write to a target's data. */
interface Mutation {
  readonly at: number;
  readonly target: string;
  readonly by: string;
}

const byOf = ({ data }: KubeObject): string => (data as { readonly by?: string } | undefined)?.by ?? "";

/** A Transaction writes its name once, on its way forward; who takes its name away again is itself, on its way back. */
const mutations = (versions: readonly Version[]): readonly Mutation[] =>
  TARGETS.flatMap((target) => {
    const seen = new Set(["nobody"]);
    let former = "nobody";
    return versions
      .filter(({ object }) => object.kind === "ConfigMap" && object.metadata.name === target)
      .flatMap(({ at, object }): readonly Mutation[] => {
        const now = byOf(object);
        const before = former;
        former = now;
        if (now === before) return [];
        const by = seen.has(now) ? before : now;
        seen.add(now);
        return [{ at, target, by }];
      });
  });

/** What is wrong with what has happened. */
export const judge = (
  versions: readonly Version[],
  entries: readonly Entry[],
  made: readonly KubeObject[],
  namespace: string,
): readonly string[] => {
  const written = mutations(versions);
  const phases = (index: number, is: (phase: Phase | undefined) => boolean): number =>
    versions.find(({ object }) => object.metadata.uid === made[index]?.metadata.uid && is(phaseOf(object)))?.at ?? 0;
  const spans = entries.map((_, index) => ({
    from: phases(index, (phase) => phase === "Committing") || Number.POSITIVE_INFINITY,
    to: phases(index, isTerminal),
  }));
  const holderAt = (target: string, at: number): string => {
    const name = lockLease({ group: "", kind: "ConfigMap", namespace, name: target });
    const lease = versions.findLast(
      (one) => one.at < at && one.object.kind === "Lease" && one.object.metadata.name === name,
    );
    return lease === undefined || lease.isGone
      ? "nobody"
      : ((lease.object["spec"] as { readonly holderIdentity?: string }).holderIdentity ?? "nobody");
  };
  const ended = entries.flatMap(({ isRefused }, index) => {
    const phase = phaseOf(
      versions.findLast(({ object }) => object.metadata.uid === made[index]?.metadata.uid)?.object ??
        ({} as KubeObject),
    );
    const wanted = isRefused ? "RolledBack" : "Committed";
    return phase === wanted ? [] : [`${nameOf(index)} ended as ${phase}, not ${wanted}`];
  });
  const unlocked = written.flatMap(({ at, target, by }) => {
    const identity = made.find(({ metadata }) => metadata.name === by)?.metadata;
    const holder = holderAt(target, at);
    return identity !== undefined && holder === holderIdentity(identity as never)
      ? []
      : [`${by} wrote ${target} at ${at}, when ${holder} held its lock`];
  });
  const within = entries.flatMap(({ targets }, index) =>
    written
      .filter(({ target, by }) => by !== nameOf(index) && targets.includes(target))
      .filter(({ at }) => (spans[index]?.from ?? 0) <= at && at <= (spans[index]?.to ?? 0))
      .map(({ at, target, by }) => `${by} wrote ${target} at ${at}, in the middle of ${nameOf(index)}`),
  );
  const committed = (by: string): boolean => entries[Number(by.slice(1))]?.isRefused === false;
  const left = TARGETS.flatMap((target) => {
    const wanted = written.findLast((one) => one.target === target && committed(one.by))?.by ?? "nobody";
    const is = versions.findLast(({ object }) => object.kind === "ConfigMap" && object.metadata.name === target);
    return is === undefined || byOf(is.object) === wanted
      ? []
      : [`${target} is by ${byOf(is.object)}, not by ${wanted}`];
  });
  const locks = [
    ...new Map(
      versions.filter(({ object }) => object.kind === "Lease").map((one) => [one.object.metadata.name, one]),
    ).values(),
  ]
    .filter(({ isGone }) => !isGone)
    .map(({ object }) => `${object.metadata.name} is left`);
  return [...ended, ...unlocked, ...within, ...left, ...locks];
};
