// Resolves the actions of an ActionSet before anything runs: reads what they name, and collects all that is wrong.
import { isAbsent, messageOf, without } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import type { ActionSet, ActionSpec } from "../api/action-set.ts";
import { type BlueprintAction, isAtomic, phasesOf } from "../api/blueprint.ts";
import { isGiven, type ObjectReference } from "../api/object-reference.ts";
import { accountHint } from "./account-hint.ts";
import { actionProblems, inputProblems } from "./action-problems.ts";
import { unservedTransactions } from "./atomic/atomic-problems.ts";
import { specProblems } from "./bounds.ts";
import { type ActionRecord, type Journal, newJournal } from "./journal.ts";
import { accessProblems } from "./known-access.ts";
import { constantArgs, knownArgs } from "./known-args.ts";
import { knownReferenceProblems } from "./known-references.ts";
import { show } from "./names.ts";
import { blueprintAction, isTooDeep, namedObject, serviceAccountOf, TOO_DEEP } from "./named-objects.ts";
import { isWorkload, locate, readObject, workloadOf } from "./object-lookup.ts";
import { paramsOf } from "./params.ts";
import type { Settings } from "./phase-context.ts";
import { get, type Inquiry, serviceAccounts } from "./requests.ts";
import { PENDING } from "./schedule.ts";

/** The most bytes of the first journal. */
const MOST_JOURNAL = 400 * 1024;

interface ResolvedAction {
  /** The problems, in the order in which a reader meets them. */
  readonly problems: readonly string[];
  /** The action of the Blueprint, as far as there is one. */
  readonly wanted: BlueprintAction;
  /** Transactions are served, or are not needed. */
  readonly mayBeAtomic: boolean;
  /** The record of the action; undefined: something that its templates see is missing. */
  readonly record: ActionRecord | undefined;
}

const UNRESOLVED: ActionRecord = { blueprint: {}, phases: [], configMaps: {} };

const resolveAction = (
  inquiry: Inquiry,
  actionSet: ActionSet,
  spec: ActionSpec,
  at: number,
  account: string,
): ResolvedAction => {
  const { namespace: own } = actionSet.metadata;
  const blueprint = blueprintAction(inquiry, actionSet, spec, at);
  if (blueprint === undefined) return { problems: [], wanted: {}, mayBeAtomic: false, record: undefined };
  const wanted: BlueprintAction = E.isRight(blueprint) ? blueprint.right : {};
  const location = spec.object === undefined ? E.left(`action ${at} has no object`) : locate(inquiry, spec.object, own);
  const place = location !== undefined && E.isRight(location) ? location.right : undefined;
  const answer = place && inquiry.ask(readObject(`object/${at}`, place, account));
  const object = answer !== undefined && E.isRight(answer) ? answer.right : undefined;
  const workload =
    object === undefined || place === undefined || !isWorkload(place.resource)
      ? {}
      : workloadOf(inquiry, `object/${at}`, place, object, account);
  const all = (kind: "ConfigMap" | "Secret", refs: Readonly<Record<string, ObjectReference>> = {}) =>
    Object.entries(refs).map(([name, ref]) => [name, namedObject(inquiry, kind, ref, own, account, name)] as const);
  const maps = all("ConfigMap", spec.configMaps);
  const read = [...maps, ...all("Secret", spec.secrets)].map(([, one]) => one);
  const profile =
    spec.profile === undefined || !isGiven(spec.profile.name)
      ? undefined
      : namedObject(inquiry, "Profile", spec.profile, own, account);
  const missing = [
    ...(E.isLeft(blueprint) ? [blueprint.left] : []),
    ...inputProblems(spec.name ?? "", wanted, spec),
    ...(location !== undefined && E.isLeft(location) ? [location.left] : []),
    ...(answer !== undefined && E.isLeft(answer) && place !== undefined
      ? [
          isAbsent(answer.left)
            ? `${place.resource.kind} ${show(place)} not found`
            : `${place.resource.kind} ${show(place)} cannot be read: ${messageOf(answer.left)}`,
        ]
      : []),
    ...(object !== undefined && isTooDeep(object) && place !== undefined
      ? [`${place.resource.kind} ${show(place)} ${TOO_DEEP}`]
      : []),
    ...(isTooDeep(spec.podOverride) ? [`spec.actions[${at}].podOverride ${TOO_DEEP}`] : []),
    ...[...read, profile].flatMap((one) => (one !== undefined && E.isLeft(one) ? [one.left] : [])),
  ];
  const unserved = unservedTransactions(inquiry, spec.name ?? "", wanted);
  const resolved = {
    problems: [...missing, ...actionProblems(wanted), ...unserved],
    wanted,
    mayBeAtomic: unserved.length === 0,
  };
  if (missing.length > 0 || object === undefined || workload === undefined) return { ...resolved, record: undefined };
  const record: ActionRecord = {
    blueprint: wanted,
    phases: (wanted.phases ?? []).map(() => PENDING),
    ...(wanted.deferPhase === undefined ? {} : { deferPhase: PENDING }),
    ...(object.kind === "Secret" ? {} : { object: without(object, []) }),
    workload,
    configMaps: Object.fromEntries(
      maps.flatMap(([name, one]) => (one !== undefined && E.isRight(one) ? [[name, without(one.right, [])]] : [])),
    ),
  };
  return { ...resolved, record };
};

/** Lists all that is wrong with an action. The permissions of its phases are asked by the known part of their arguments. */
const problemsOf = (
  inquiry: Inquiry,
  actionSet: ActionSet,
  journal: Journal,
  settings: Settings,
  action: number,
  { problems, wanted, mayBeAtomic, record }: ResolvedAction,
): readonly string[] => {
  const { serviceAccount: account, spec } = journal;
  const { namespace: own } = actionSet.metadata;
  const found = record === undefined ? undefined : paramsOf(inquiry, actionSet, journal, { action, phase: 0 });
  const data = found !== undefined && E.isRight(found) ? found.right : undefined;
  const phases = phasesOf(wanted).map((phase) => ({
    phase,
    known: data === undefined ? constantArgs(phase) : knownArgs(phase, data),
  }));
  const object = spec.actions?.[action]?.object;
  return [
    ...problems,
    ...phases.flatMap(({ phase, known }) => {
      const actor = { own, account, isAtomic: mayBeAtomic && isAtomic(wanted, phase), object };
      return accessProblems(inquiry, phase, actor, known, data);
    }),
    ...(found !== undefined && E.isLeft(found) ? [found.left] : []),
    ...(data === undefined
      ? []
      : knownReferenceProblems(
          actionSet,
          journal,
          settings,
          action,
          data,
          phases.map(({ known }) => known),
        )),
  ];
};

/**
 * Everything that must hold before anything runs: a journal, or all problems. Undefined: answers are still missing.
 */
export const resolve = (
  inquiry: Inquiry,
  actionSet: ActionSet,
  settings: Settings,
  at: { readonly time: string; readonly seed: string },
): E.Either<readonly string[], Journal> | undefined => {
  const { spec, metadata } = actionSet;
  if (spec === undefined) return E.left(["spec is missing"]);
  const account = serviceAccountOf(actionSet, settings);
  const { namespace } = metadata;
  const answer = inquiry.ask(
    get("read-service-account", "service-account", { resource: serviceAccounts, namespace, name: account }),
  );
  const resolved = (spec.actions ?? []).map((one, index) => resolveAction(inquiry, actionSet, one, index, account));
  const actions = resolved.map(({ record }) => record ?? UNRESOLVED);
  const journal = newJournal({ serviceAccount: account, ...at, spec, actions });
  const problems = [
    ...specProblems(spec),
    ...(answer !== undefined && E.isLeft(answer) && isAbsent(answer.left)
      ? [`ServiceAccount ${namespace}/${account} not found`]
      : []),
    ...resolved.flatMap((one, action) => problemsOf(inquiry, actionSet, journal, settings, action, one)),
  ];
  if (inquiry.missing.length > 0) return undefined;
  const hint = accountHint(problems.join("; "), actionSet, account);
  if (problems.length > 0) return E.left([...new Set([...problems, ...(hint === undefined ? [] : [hint])])]);
  const bytes = Buffer.byteLength(JSON.stringify(journal));
  return bytes > MOST_JOURNAL
    ? E.left([
        `the ActionSet, its Blueprints and its objects are ${Math.ceil(bytes / 1024)} KiB, ${MOST_JOURNAL / 1024} KiB are the most: make it several ActionSets`,
      ])
    : E.right(journal);
};
