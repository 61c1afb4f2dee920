// Resolves the actions of an ActionSet before anything runs: reads what they name, and collects all that is wrong.
import { isAbsent, type JsonObject, type KubeObject, memoized, messageOf, without } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import type { ActionSet, ActionSpec } from "../api/action-set.ts";
import { Blueprint, type BlueprintAction, type BlueprintPhase } from "../api/blueprint.ts";
import { blueprints, profiles, SERVICE_ACCOUNT } from "../api/names.ts";
import type { ObjectReference } from "../api/object-reference.ts";
import { argProblems, type Args, type ArgTable, readArgs, renderArgs } from "./args.ts";
import { boundProblems, specProblems } from "./bounds.ts";
import { functionNames, functionOf, notBuilt } from "./functions/index.ts";
import { type ActionRecord, type Journal, newJournal } from "./journal.ts";
import { show } from "./names.ts";
import { isOfKind, isWorkload, locate, readObject, workloadOf } from "./object-lookup.ts";
import { nearest } from "./nearest.ts";
import type { Access, Settings } from "./phase-context.ts";
import { referenceProblems } from "./phase-references.ts";
import { templateProblems } from "./render-args.ts";
import { configMaps, get, type Inquiry, secrets, serviceAccounts } from "./requests.ts";
import { PENDING } from "./schedule.ts";
import { NIL } from "./templates.ts";

/** The ServiceAccount as which everything is read and changed. */
export const serviceAccountOf = ({ metadata: { labels = {} }, spec }: ActionSet, settings: Settings): string =>
  spec?.serviceAccountName || labels[SERVICE_ACCOUNT] || settings.defaultServiceAccount;

const given = (text: string | undefined): text is string => text !== undefined && text !== "";

/** A Blueprint that many actions name is decoded once, and so is looked at what is wrong with each of its actions. */
const decode = memoized((object: KubeObject) => Blueprint.decode(object));

export const blueprintFact = (name: string): string => `blueprint/${name}`;

/** The action of this name. @param shown the Blueprint, for messages */
export const actionNamed = (
  { actions = {} }: Blueprint,
  shown: string,
  name: string,
): E.Either<string, BlueprintAction> => {
  const found = Object.hasOwn(actions, name) ? actions[name] : undefined;
  return found === undefined
    ? E.left(`${shown} has no action "${name}" (it has ${Object.keys(actions).toSorted().join(", ")})`)
    : E.right(found);
};

/** The action of a Blueprint. Left: problems. Undefined: still to be asked. */
export const blueprintAction = (
  { ask }: Inquiry,
  { metadata: { namespace } }: ActionSet,
  { name = "", blueprint }: ActionSpec,
  at: number,
): E.Either<string, BlueprintAction> | undefined => {
  if (!given(blueprint)) return E.left(`action ${at} has no blueprint`);
  const answer = ask(
    get("read-blueprint", blueprintFact(blueprint), { resource: blueprints, namespace, name: blueprint }),
  );
  if (answer === undefined) return undefined;
  if (E.isLeft(answer))
    return E.left(
      isAbsent(answer.left)
        ? `Blueprint ${namespace}/${blueprint} not found`
        : `Blueprint ${namespace}/${blueprint} cannot be read: ${messageOf(answer.left)}`,
    );
  const decoded = decode(answer.right);
  if (E.isLeft(decoded)) return E.left(`Blueprint ${namespace}/${blueprint} is not valid`);
  return actionNamed(decoded.right, `Blueprint ${namespace}/${blueprint}`, name);
};

/** The most actions of an ActionSet, its phases in all, those of an action, and bytes: of args, of an action, and of the first journal. */
const LIMITS = { actions: 50, allPhases: 1000, phases: 100, args: 64 * 1024, action: 256 * 1024, journal: 400 * 1024 };

export const phasesOf = ({ phases = [], deferPhase }: BlueprintAction): readonly BlueprintPhase[] =>
  deferPhase === undefined ? phases : [...phases, deferPhase];

/** More than its status could show; known before anything is written. */
export const tooMany = (actions: readonly BlueprintAction[]): string | undefined => {
  const phases = actions.reduce((sum, action) => sum + phasesOf(action).length, 0);
  if (actions.length > LIMITS.actions) return `${actions.length} actions, ${LIMITS.actions} are the most`;
  return phases > LIMITS.allPhases
    ? `${phases} phases in all, ${LIMITS.allPhases} are the most: make it several ActionSets`
    : undefined;
};

const tooLarge = (what: string, value: unknown, most: number): readonly string[] => {
  const bytes = Buffer.byteLength(JSON.stringify(value ?? null));
  return bytes > most ? [`${what} ${Math.ceil(bytes / 1024)} KiB, ${most / 1024} KiB is the most`] : [];
};

/** What is wrong with a phase, whatever the objects are. */
const phaseProblems = (phase: BlueprintPhase): readonly string[] => {
  const { func = "", name = "", args = {} } = phase;
  const found = functionOf(func);
  if (found === undefined) {
    if (notBuilt.includes(func))
      return [
        `phase ${name}: function ${func} of Kanister is not there${/RDS/u.test(func) ? ": use KubeTask with the AWS CLI" : ""}`,
      ];
    const other = nearest(func, functionNames);
    const hint = other === undefined ? `(there is ${functionNames.join(", ")})` : `; did you mean ${other}?`;
    return [`phase ${name}: function "${func}" does not exist${other === undefined ? " " : ""}${hint}`];
  }
  return [
    ...tooLarge("its args are", args, LIMITS.args),
    ...boundProblems(phase),
    ...argProblems(func, found.args, args),
    ...(found.problems?.(args) ?? []),
  ].map((problem) => `phase ${name}: ${problem}`);
};

/** What is wrong with an action of a Blueprint, whatever the objects are. */
export const actionProblems = memoized((action: BlueprintAction): readonly string[] => {
  const names = phasesOf(action).map(({ name = "" }) => name);
  const twice = names.filter((name, at) => names.indexOf(name) !== at);
  const { phases = [] } = action;
  if (phases.length > LIMITS.phases) return [`${phases.length} phases, ${LIMITS.phases} are the most`];
  return [
    ...tooLarge("the action of the Blueprint is", action, LIMITS.action),
    ...phasesOf(action).flatMap(phaseProblems),
    ...[...new Set(twice)].map((name) => `two phases are called "${name}"`),
    ...Object.entries(action.outputArtifacts ?? {}).flatMap(([name, artifact]) =>
      templateProblems(artifact as unknown as JsonObject, `outputArtifacts.${name}`),
    ),
    ...referenceProblems(action),
  ];
});

/** What an action needs and is not given, as far as it is known without a cluster. */
export const inputProblems = (name: string, wanted: BlueprintAction, spec: ActionSpec): readonly string[] => {
  const missing = (kind: string, names: readonly string[] | undefined, given: object | undefined): readonly string[] =>
    (names ?? [])
      .filter((one) => !Object.hasOwn(given ?? {}, one))
      .map((one) => `${kind} "${one}" is required by action ${name} and not given`);
  return [
    ...(given(wanted.kind) &&
    spec.object !== undefined &&
    given(spec.object.kind) &&
    !isOfKind(wanted.kind, spec.object)
      ? [`action ${name} is for kind ${wanted.kind}, the object is a ${spec.object.kind ?? "thing without a kind"}`]
      : []),
    ...missing("ConfigMap", wanted.configMapNames, spec.configMaps),
    ...missing("Secret", wanted.secretNames, spec.secrets),
    ...missing("artifact", wanted.inputArtifactNames, spec.artifacts),
  ];
};

const inNamespace = (
  { name = "", namespace }: ObjectReference,
  own: string,
): { readonly namespace: string; readonly name: string } => ({
  namespace: given(namespace) ? namespace : own,
  name,
});

/** A ConfigMap, Secret or Profile that an action names. */
const named = (
  { ask }: Inquiry,
  kind: "ConfigMap" | "Secret" | "Profile",
  called: string,
  ref: ObjectReference,
  own: string,
  as: string,
): E.Either<string, KubeObject> | undefined => {
  const place = inNamespace(ref, own);
  const resource = { ConfigMap: configMaps, Secret: secrets, Profile: profiles }[kind];
  const answer = ask(get(`read-${kind.toLowerCase()}`, `${kind}/${show(place)}`, { resource, ...place }, as));
  if (answer === undefined) return undefined;
  const shown = called === "" ? `${kind} ${show(place)}` : `${kind} "${called}" (${show(place)})`;
  return E.mapLeft((error: Parameters<typeof messageOf>[0]) =>
    isAbsent(error) ? `${shown} not found` : `${shown} cannot be read: ${messageOf(error)}`,
  )(answer);
};

/** One that an action names, as far as it is known. */
export const knownObject = (
  inquiry: Inquiry,
  kind: "ConfigMap" | "Secret" | "Profile",
  ref: ObjectReference,
  own: string,
  as: string,
): E.Either<string, KubeObject> | undefined => named(inquiry, kind, "", ref, own, as);

/** Whether the ServiceAccount may do this, as the API server says. Anything that cannot be asked is found out later. */
const denied = ({ ask }: Inquiry, access: Access, as: string): boolean => {
  const { verb, group, resource, subresource, namespace } = access;
  const answer = ask({
    purpose: "review",
    fact: `access/${[verb, group, resource, subresource ?? "", namespace].join("/")}`,
    as,
    request: {
      verb: "create",
      resource: {
        group: "authorization.k8s.io",
        version: "v1",
        plural: "selfsubjectaccessreviews",
        kind: "SelfSubjectAccessReview",
        namespaced: false,
        statusSubresource: false,
        isVirtual: true,
      },
      body: {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SelfSubjectAccessReview",
        spec: {
          resourceAttributes: {
            verb,
            group,
            resource,
            namespace,
            ...(subresource === undefined ? {} : { subresource }),
          },
        },
      },
    },
  });
  if (answer === undefined || E.isLeft(answer)) return false;
  return (answer.right["status"] as { readonly allowed?: boolean } | undefined)?.allowed === false;
};

/** The arguments of a phase that are known before the start: their templates need nothing of it. */
const knownArgs = memoized(({ func = "", args = {} }: BlueprintPhase): Partial<Args<ArgTable>> => {
  const table: ArgTable = functionOf(func)?.args ?? {};
  return Object.entries(args).reduce<Partial<Args<ArgTable>>>((known, [name, one]) => {
    const rendered = renderArgs(table, { [name]: one }, NIL, { now: 0, seed: "" });
    const read = E.flatMap(rendered, (all) => readArgs(table, all));
    return E.isRight(read) ? { ...known, ...read.right } : known;
  }, {});
});

/** What the ServiceAccount may not do of what a phase needs. */
export const deniedAccess = (
  inquiry: Inquiry,
  needed: readonly Access[],
  phase: string,
  own: string,
  account: string,
): readonly string[] =>
  needed
    .filter((access) => denied(inquiry, access, account))
    .map(
      ({ verb, resource, subresource, namespace: where }) =>
        `ServiceAccount ${own}/${account} may not ${verb} ${resource}${subresource === undefined ? "" : `/${subresource}`} ${where === "" ? "" : `in namespace ${where} `}(phase ${phase})`,
    );

/** The permissions that a phase needs, as far as they are known before the start. Undefined: its namespace is not. */
export const accessOf = (phase: BlueprintPhase, own: string): readonly Access[] | undefined => {
  const { func = "", args } = phase;
  const found = functionOf(func);
  if (found === undefined) return [];
  const known = knownArgs(phase);
  return args?.["namespace"] !== undefined && known["namespace"] === undefined ? undefined : found.access(known, own);
};

const accessProblems = (inquiry: Inquiry, phase: BlueprintPhase, own: string, account: string): readonly string[] =>
  deniedAccess(inquiry, accessOf(phase, own) ?? [], phase.name ?? "", own, account);

interface ResolvedAction {
  /** In the order in which a reader meets them. */
  readonly problems: readonly string[];
  readonly record: ActionRecord | undefined;
}

const resolveAction = (
  inquiry: Inquiry,
  actionSet: ActionSet,
  spec: ActionSpec,
  at: number,
  account: string,
): ResolvedAction => {
  const { namespace: own } = actionSet.metadata;
  const blueprint = blueprintAction(inquiry, actionSet, spec, at);
  if (blueprint === undefined) return { problems: [], record: undefined };
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
    Object.entries(refs).map(([name, ref]) => [name, named(inquiry, kind, name, ref, own, account)] as const);
  const maps = all("ConfigMap", spec.configMaps);
  const read = [...maps, ...all("Secret", spec.secrets)].map(([, one]) => one);
  const profile =
    spec.profile === undefined || !given(spec.profile.name)
      ? undefined
      : named(inquiry, "Profile", "", spec.profile, own, account);
  const problems = [
    ...(E.isLeft(blueprint) ? [blueprint.left] : []),
    ...actionProblems(wanted),
    ...inputProblems(spec.name ?? "", wanted, spec),
    ...(location !== undefined && E.isLeft(location) ? [location.left] : []),
    ...(answer !== undefined && E.isLeft(answer) && place !== undefined
      ? [
          isAbsent(answer.left)
            ? `${place.resource.kind} ${show(place)} not found`
            : `${place.resource.kind} ${show(place)} cannot be read: ${messageOf(answer.left)}`,
        ]
      : []),
    ...[...read, profile].flatMap((one) => (one !== undefined && E.isLeft(one) ? [one.left] : [])),
    ...phasesOf(wanted).flatMap((phase) => accessProblems(inquiry, phase, own, account)),
  ];
  if (object === undefined || workload === undefined) return { problems, record: undefined };
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
  return { problems, record };
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
  if (inquiry.missing.length > 0) return undefined;
  const problems = [
    ...specProblems(spec),
    ...(answer !== undefined && E.isLeft(answer) && isAbsent(answer.left)
      ? [`ServiceAccount ${namespace}/${account} not found`]
      : []),
    ...resolved.flatMap((one) => one.problems),
  ];
  if (problems.length > 0) return E.left([...new Set(problems)]);
  const actions = resolved.flatMap(({ record }) => record ?? []);
  const journal = newJournal({ serviceAccount: account, ...at, spec, actions });
  const bytes = Buffer.byteLength(JSON.stringify(journal));
  return bytes > LIMITS.journal
    ? E.left([
        `the ActionSet, its Blueprints and its objects are ${Math.ceil(bytes / 1024)} KiB, ${LIMITS.journal / 1024} KiB are the most: make it several ActionSets`,
      ])
    : E.right(journal);
};
