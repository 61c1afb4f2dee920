// Computes status.render of a Draft: the fields that each change would set.
import { cut, type Render, type RenderedChange, type Transaction } from "@janus/api";
import type { Instant } from "@janus/types";
import type { ApiCall, Effect, Watched } from "../state/effect.ts";
import { MOST_LIVE } from "../state/memory-budget.ts";
import { changeIn, type Observations, trialIn } from "../state/observations.ts";
import type { ReconcileContext } from "../state/reconcile-context.ts";
import { itemsOf, type ResolvedItem } from "../state/resolved-changes.ts";
import { approvalDigest } from "./digest.ts";
import { bytesOf, fitting } from "./dry-run-result.ts";
import { examined } from "./examined.ts";
import { TO_THE_END } from "./irreversible-changes.ts";
import { examine } from "./preflight.ts";
import { RENDER_BYTES } from "./spec-problems.ts";

/** Bytes of each change, apart from its differences and its message. */
const FIXED_BYTES = 96;
/** Bytes of what is not about one change: the message, which may have to be escaped, and the names of the fields. */
const GENERAL_BYTES = 5 * 1024;
const MOST_OF_MESSAGE = 256;
/** Targets that are looked at at the same time. */
const MOST = 16;
/** Problems that the message contains in full. */
const MOST_PROBLEMS = 5;

/** The result of rendering, and the versions of the targets that it is of. */
export type Rendering =
  | { readonly type: "requests"; readonly effects: readonly Effect[] }
  | { readonly type: "wait"; readonly until: Instant }
  | {
      readonly type: "rendered";
      readonly render: Omit<Render, "observedGeneration" | "renderedAt">;
      readonly watched: readonly Watched[];
    };

/** How many targets may be read, by the size of those so far. */
const room = (known: Observations): number => {
  const sizes = [...known.changes.values()].flatMap(({ preflight }) => preflight?.trial?.shown?.bytes ?? []);
  const sum = sizes.reduce((all, size) => all + size, 0);
  return sizes.length === 0 ? 1 : Math.max(1, Math.min(MOST, Math.floor((MOST_LIVE * sizes.length) / sum)));
};

/** Keeps only the outline of its target once it was examined. */
const keepingOutline = ({ change, place }: ResolvedItem, request: ApiCall): ApiCall => ({
  ...request,
  folds: [...request.folds, { type: "examined-outlined", change, place }],
});

const examining =
  (txn: Transaction) =>
  (known: Observations, items: readonly ResolvedItem[]): readonly ApiCall[] => {
    const open = items.flatMap((item) => {
      const needed = examine(txn, known, item, "result");
      return needed.length === 0 ? [] : [needed.map((request) => keepingOutline(item, request))];
    });
    return open.slice(0, room(known)).flat();
  };

const rendered = (known: Observations, index: number, found: readonly string[]): RenderedChange => {
  const { target } = changeIn(known, index);
  const shown = trialIn(known, index)?.shown;
  const resourceVersion = target?.object?.metadata.resourceVersion;
  const at = resourceVersion === undefined ? {} : { resourceVersion };
  if (found.length > 0) return { result: "Refused", message: cut(found.join("; "), MOST_OF_MESSAGE), ...at };
  if (shown === undefined) return { result: "DependsOnEarlier", ...at };
  const { result, diff, more } = shown;
  return { result, ...at, ...(diff.length === 0 ? {} : { diff }), ...(more === 0 ? {} : { more }) };
};

/** A change with as much of it as there is room for. */
const within = (change: RenderedChange, room: number): { readonly change: RenderedChange; readonly bytes: number } => {
  const { message, diff = [], more = 0, ...rest } = change;
  const needed = message === undefined ? 0 : bytesOf(message);
  const isShown = needed > 0 && needed <= room;
  const shown = fitting(diff, room);
  const left = diff.length - shown.diff.length + more;
  return {
    change: {
      ...rest,
      ...(isShown && message !== undefined ? { message } : {}),
      ...(shown.diff.length === 0 ? {} : { diff: shown.diff }),
      ...(left === 0 ? {} : { more: left }),
    },
    bytes: shown.bytes + (isShown ? needed : 0),
  };
};

/** Each has an equal share of the room; what some leave of theirs is for the first of the others. */
const bounded = (changes: readonly RenderedChange[]): readonly RenderedChange[] => {
  const all = RENDER_BYTES - GENERAL_BYTES - changes.length * FIXED_BYTES;
  const share = Math.floor(all / changes.length);
  let spare = all - changes.reduce((sum, change) => sum + within(change, share).bytes, 0);
  return changes.map((change) => {
    const least = within(change, share);
    const most = within(change, least.bytes + spare);
    if (most.bytes <= least.bytes) return least.change;
    spare -= most.bytes - least.bytes;
    return most.change;
  });
};

const ofChange = (index: number, text: string): string => `changes[${index}]: ${text}`;

const summary = (problems: readonly string[]): string => {
  const more = problems.length - MOST_PROBLEMS;
  return `${problems.slice(0, MOST_PROBLEMS).join("; ")}${more > 0 ? `; and ${more} more` : ""}`;
};

/** The target of each change that was looked at, as it was. */
const watchedTargets = ({ txn, known }: ReconcileContext): readonly Watched[] =>
  itemsOf(txn, known).flatMap(({ index, place }) => {
    const { target } = changeIn(known, index);
    return target === undefined ? [] : [{ index, place, resourceVersion: target.object?.metadata.resourceVersion }];
  });

/**
 * Renders what a Draft would do to its targets as they are now, and everything for which it would fail.
 *
 * Guarantees: nothing is locked or modified; fits into {@link RENDER_BYTES}; however many and large the targets are, a few MiB
 *             of them are in memory at a time; no value of a sensitive kind is shown.
 */
export const render = (context: ReconcileContext): Rendering => {
  const { txn, known } = context;
  const seen = examined(context, examining(txn));
  if (seen.type === "requests" || seen.type === "wait") return seen;
  if (seen.type === "untried") {
    const problems = [
      ...seen.general,
      ...[...seen.problems].flatMap(([index, found]) => found.map((text) => ofChange(index, text))),
    ];
    return { type: "rendered", render: { result: "Problems", message: cut(summary(problems), 2048) }, watched: [] };
  }
  const found = txn.spec.changes.map((_, index): readonly string[] => {
    const what = seen.tooEarly(index);
    return [...seen.problems(index), ...(what === undefined ? [] : [`${what}: ${TO_THE_END}`])];
  });
  const problems = found.flatMap((texts, index) => texts.map((text) => ofChange(index, text)));
  const changes = bounded(found.map((texts, index) => rendered(known, index, texts)));
  return {
    type: "rendered",
    render:
      problems.length > 0
        ? { result: "Problems", message: cut(summary(problems), 2048), changes }
        : { result: "OK", digest: approvalDigest(txn, known), changes },
    watched: watchedTargets(context),
  };
};

/** The targets as they were when the render that is recorded was made. */
export const renderedTargets = ({ txn, known }: ReconcileContext): readonly Watched[] => {
  const changes = txn.status.render?.changes;
  return itemsOf(txn, known).flatMap(({ index, place }) => {
    const change = changes?.[index];
    return change === undefined ? [] : [{ index, place, resourceVersion: change.resourceVersion }];
  });
};
