// Folds the answers to reads, dry runs and access reviews of the preflight into the observations, and words what they refuse.
import type { ResolvedChange } from "@janus/api";
import { type ApiError, asObject, isAbsent, isTaken, type KubeObject, messageOf } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { replaceHint } from "../kubernetes/immutable-fields.ts";
import { formatRef } from "../kubernetes/kube-object.ts";
import { isTooDeep } from "../kubernetes/nesting.ts";
import { duplicateItem } from "../merge/duplicate-items.ts";
import { showPath } from "../merge/show-path.ts";
import type { ApiCall } from "../state/effect.ts";
import type { PreflightFold } from "../state/fold.ts";
import type { Folding, Folds } from "../state/folding.ts";
import type { Answered } from "../state/happened.ts";
import { outlined } from "../state/memory-budget.ts";
import {
  changeIn,
  mapChanges,
  type Observations,
  preflightIn,
  set,
  trialIn,
  unchangedConflict,
  withChange,
  withChanges,
  withPreflight,
} from "../state/observations.ts";
import { readOtherVersions } from "../state/other-versions.ts";
import type { PreflightObservations, Trial } from "../state/preflight-observations.ts";
import type { ResolvedItem } from "../state/resolved-changes.ts";
import { mustConceal } from "../state/sensitive-kinds.ts";
import { dependsOnEarlier } from "../state/target-resolution.ts";
import { dryRunResult } from "./dry-run-result.ts";
import { liveProblems } from "./preflight.ts";
import { isRefusedGrant, regranting } from "./regranting.ts";
import { schemaChange } from "./schema-changes.ts";

type Fold<Type extends PreflightFold["type"]> = Extract<PreflightFold, { readonly type: Type }>;

/** The index of the change that the request is for. */
const indexOf = ({ item = -1 }: ApiCall): number => item;

const NONE: NonNullable<PreflightObservations["permissions"]> = new Map();

/** Adds whether the ServiceAccount may do this to the targets of these changes. */
const withVerdict = (
  known: Observations,
  indices: readonly number[],
  verb: string,
  verdict: "allowed" | "denied",
): Observations =>
  withChanges(
    known,
    indices.map((index) => {
      const preflight = preflightIn(known, index);
      return [index, { preflight: { ...preflight, permissions: set(preflight.permissions ?? NONE, verb, verdict) } }];
    }),
  );

/** Items that are twice in the content of a Create, as the API server refuses them in any later apply of the same manifest. */
const duplicates = ({ change, place }: ResolvedItem, created: KubeObject): readonly string[] => {
  const path = change.type === "Create" ? duplicateItem(created) : undefined;
  return path === undefined
    ? []
    : [`${showPath(path)} is twice in the content of ${formatRef(place)}: keep one of them`];
};

/**
 * The answer to the dry run of a change. That of a Replace is its create, which is refused in the end, since what it replaces is
 * still there, but only after all other checks: then what was sent is all that is known of the object.
 */
const trialAnswer = ({ type }: ResolvedChange, { effect: { call }, answer }: Answered): Answered["answer"] => {
  const isThere = E.isLeft(answer) && isTaken(answer.left);
  return isThere && type === "Replace" && call.verb === "create" ? E.right(call.body as KubeObject) : answer;
};

const isRefusedWith = (fault: ApiError, ...codes: readonly number[]): boolean =>
  fault.type === "refused" && codes.includes(fault.code);

/** What a dry run that was refused says of the change. */
const refusedTrial = (
  { index, change, place }: ResolvedItem,
  fault: ApiError,
  { txn }: Folding,
): Pick<Trial, "problems"> => {
  if (isRefusedWith(fault, 403, 404) && dependsOnEarlier(txn, index)) return { problems: [] };
  const verb = change.type === "Replace" ? "create" : change.type.toLowerCase();
  const message = messageOf(fault);
  return {
    problems: [`the API server refuses to ${verb} ${formatRef(place)}: ${message}${replaceHint(change, message)}`],
  };
};

/** What is kept of the object as the change would leave it. */
const kept = (
  { change, target, keep }: Fold<"change-tried">,
  item: ResolvedItem,
  after: KubeObject,
  { settings }: Folding,
): Pick<Trial, "object" | "shown"> => {
  switch (keep) {
    case "nothing":
      return {};
    case "object":
      return { object: after };
    case "result":
      return { shown: dryRunResult(item, target, after, mustConceal(item.place.resource, change, settings)) };
  }
};

const withTrial = (
  known: Observations,
  fold: Fold<"change-tried">,
  answered: Answered,
  folding: Folding,
): Observations => {
  const { change, target } = fold;
  const { effect, at } = answered;
  const item: ResolvedItem = { index: indexOf(effect), change, place: effect.call.place };
  const { index } = item;
  const answer = trialAnswer(change, answered);
  const of = target?.metadata.resourceVersion;
  if (E.isLeft(answer)) {
    const fault = answer.left;
    // A conflict: it is read again, unless it was unmodified.
    return isRefusedWith(fault, 409) && unchangedConflict(known, index, target) === undefined
      ? withChange(known, index, {
          target: undefined,
          unchangedConflict: { at, message: messageOf(fault), resourceVersion: of },
        })
      : withPreflight(known, index, { trial: { of, ...refusedTrial(item, fault, folding) } });
  }
  const trial: Trial = { of, problems: duplicates(item, answer.right), ...schemaChange(item, target, answer.right) };
  const tried = withPreflight(known, index, { trial });
  // If the target has changed meanwhile, it is tried again.
  return trialIn(tried, index) === undefined
    ? tried
    : withPreflight(tried, index, { trial: { ...trial, ...kept(fold, item, answer.right, folding) } });
};

/** Keeps only the outline of a target once it was examined. */
const outlineExamined = (known: Observations, item: ResolvedItem, { txn }: Folding): Observations => {
  const observed = changeIn(known, item.index);
  const { target, preflight } = observed;
  if (target?.type !== "read") return known;
  const trial = trialIn(known, item.index);
  const problems = trial?.problems ?? liveProblems(item, known);
  const asked = [...regranting(txn, known, item, target.object), ...readOtherVersions(txn, item, known, target.object)];
  const isOpen = trial === undefined ? problems.length === 0 : asked.length > 0;
  const left = {
    ...observed,
    preflight: { ...preflight, trial: { ...trial, of: target.object.metadata.resourceVersion, problems } },
  };
  return isOpen ? known : withChange(known, item.index, outlined(left));
};

export const preflightFolds: Folds<PreflightFold> = {
  "service-account-read": (known, _, { answer }) => ({
    ...known,
    serviceAccount: E.isRight(answer) ? "there" : "missing",
  }),
  "target-unreadable": (known, { isForNow }, { effect, answer }) => {
    if (E.isRight(answer)) return known;
    const index = indexOf(effect);
    const fault = answer.left;
    const problem = `${formatRef(effect.call.place)} cannot be read: ${messageOf(fault)}`;
    const judged = isRefusedWith(fault, 403) ? withVerdict(known, [index], "get", "denied") : known;
    const unseen = withChange(judged, index, { target: { type: "absent", at: known.since } });
    return withPreflight(unseen, index, { trial: { of: undefined, problems: isForNow ? [] : [problem] } });
  },
  "existence-read": (known, _, { effect, answer }, { txn }) => {
    const index = indexOf(effect);
    // What must not be read is reported under the lock, unless an earlier change may bring the permission: then it
    // has to be new.
    const existedAtFirst = E.isRight(answer)
      ? !isTooDeep(answer.right)
      : !isAbsent(answer.left) && !dependsOnEarlier(txn, index);
    return withPreflight(withChange(known, index, { target: undefined }), index, { existedAtFirst });
  },
  "change-tried": withTrial,
  "regrant-tried": (known, { resourceVersion }, { effect, answer }) => {
    const isDenied = E.isLeft(answer) && isRefusedGrant(effect.call.place, answer.left);
    return withPreflight(known, indexOf(effect), { regrant: { resourceVersion, isDenied } });
  },
  "permission-reviewed": (known, { verb, indices, ofAll }, { answer }) => {
    const is = E.isRight(answer) && asObject(answer.right["status"])["allowed"] === true;
    return is || ofAll === undefined
      ? withVerdict(known, indices, verb, is ? "allowed" : "denied")
      : { ...known, deniedForAll: new Set([...known.deniedForAll, ofAll]) };
  },
  "tried-outlined": (known) =>
    mapChanges(known, (observed, index) => (trialIn(known, index) === undefined ? observed : outlined(observed))),
  "examined-outlined": (known, { change, place }, { effect }, folding) =>
    outlineExamined(known, { index: indexOf(effect), change, place }, folding),
};
