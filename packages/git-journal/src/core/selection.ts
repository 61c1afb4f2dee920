/**
 * Selects what is written to a destination: the served resources that its rules name, and objects of these.
 */
import { type KubeObject, memoizedText } from "@janus/types";
import { TRANSACTION_LABEL, UID_LABEL } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import {
  type ClusterWatchRuleSpec,
  type Operation,
  OPERATIONS,
  type ResourceRule,
  type WatchRuleSpec,
} from "../api/watch-rule.ts";
import { resourceKey, type ServedResource } from "./discovery.ts";
import { labelPredicate, type LabelPredicate, type Labels } from "./label-selector.ts";
import type { LabelSelector } from "../api/references.ts";
import { isMadeByApiServer } from "./made-by-api-server.ts";
import { PRESET } from "./preset.ts";

/** One of the `rules` of a WatchRule or ClusterWatchRule. */
export interface SelectionRule {
  readonly operations: ReadonlySet<Operation>;
  /** The API groups; undefined: all. */
  readonly groups: ReadonlySet<string> | undefined;
  readonly versions: ReadonlySet<string> | undefined;
  readonly resources: readonly string[];
  readonly namespaced: boolean;
  /** The only namespace, for a WatchRule. */
  readonly namespace?: string;
  readonly selectsNamespace?: LabelPredicate;
  readonly selectsObject?: LabelPredicate;
}

export interface SelectionSettings {
  /** Whether `*` selects all that is served. */
  readonly watchAll: boolean;
  readonly excludes: readonly Exclude[];
  /** Whether the controller may read Secrets as content. */
  readonly secrets: boolean;
}

/** A resource that is never written, in one group or in all. */
export interface Exclude {
  readonly group?: string;
  readonly plural: string;
}

const ALL = "*";

const allOr = (texts: readonly string[] = []): ReadonlySet<string> | undefined =>
  texts.length === 0 || texts.includes(ALL) ? undefined : new Set(texts);

const operationsOf = (operations: ResourceRule["operations"] = []): ReadonlySet<Operation> => {
  const named = operations.filter((one) => one !== ALL);
  return new Set(named.length < operations.length || named.length === 0 ? OPERATIONS : named);
};

const common = ({ operations, apiGroups, apiVersions, resources }: ResourceRule) => ({
  operations: operationsOf(operations),
  groups: allOr(apiGroups),
  versions: allOr(apiVersions),
  resources,
});

/** The most characters of remembered rules: equal rules are the same objects, so that what they select is not listed again. */
const REMEMBERED = 16_000_000;

/** The most resources, groups, versions and requirements of one rule: each object of the cluster is compared with all. */
const MOST_TERMS = 1_000;

const termsOf = ({ matchLabels = {}, matchExpressions = [] }: LabelSelector = {}): number =>
  Object.keys(matchLabels).length + matchExpressions.reduce((sum, { values = [] }) => sum + 1 + values.length, 0);

/** Checks {@link MOST_TERMS}. On the left: the rules of one object have too many. */
const bounded = (
  rules: readonly (ResourceRule & { readonly namespaceSelector?: LabelSelector | undefined })[],
  objectSelector?: LabelSelector,
): E.Either<string, undefined> => {
  const terms = rules.reduce(
    (sum, { resources, apiGroups = [], apiVersions = [], namespaceSelector }) =>
      sum + resources.length + apiGroups.length + apiVersions.length + termsOf(namespaceSelector),
    termsOf(objectSelector),
  );
  return terms > MOST_TERMS
    ? E.left(
        `rules: has more than ${MOST_TERMS} resources, groups, versions and labels: divide it among several objects`,
      )
    : E.right(undefined);
};

const watchRules = (
  { rules, objectSelector }: Pick<WatchRuleSpec, "rules" | "objectSelector">,
  namespace: string,
): E.Either<string, readonly SelectionRule[]> =>
  E.bimap(
    (why: string) => `objectSelector: ${why}`,
    (selectsObject: LabelPredicate) =>
      rules.map((rule): SelectionRule => ({ ...common(rule), namespaced: true, namespace, selectsObject })),
  )(labelPredicate(objectSelector));

const clusterWatchRules = ({
  rules,
}: Pick<ClusterWatchRuleSpec, "rules">): E.Either<string, readonly SelectionRule[]> =>
  E.sequenceArray(
    rules.map((rule, at): E.Either<string, SelectionRule> => {
      const namespaced = rule.scope === "Namespaced";
      if (!namespaced || rule.namespaceSelector === undefined) return E.right({ ...common(rule), namespaced });
      return E.bimap(
        (why: string) => `rules[${at}].namespaceSelector: ${why}`,
        (selectsNamespace: LabelPredicate) => ({ ...common(rule), namespaced, selectsNamespace }),
      )(labelPredicate(rule.namespaceSelector));
    }),
  );

interface WatchRuleText {
  readonly spec: Pick<WatchRuleSpec, "rules" | "objectSelector">;
  readonly namespace: string;
}

const rememberedWatchRules = memoizedText(REMEMBERED, (text) => {
  const { spec, namespace } = JSON.parse(text) as WatchRuleText;
  return watchRules(spec, namespace);
});

/** Returns the selections of a WatchRule in this namespace, the same ones for equal rules; on the left what is wrong with it. */
export const rulesOfWatchRule = (
  { rules, objectSelector }: Pick<WatchRuleSpec, "rules" | "objectSelector">,
  namespace: string,
): E.Either<string, readonly SelectionRule[]> =>
  E.flatMap(bounded(rules, objectSelector), () =>
    rememberedWatchRules(JSON.stringify({ spec: { rules, objectSelector }, namespace })),
  );

const rememberedClusterWatchRules = memoizedText(REMEMBERED, (text) =>
  clusterWatchRules(JSON.parse(text) as Pick<ClusterWatchRuleSpec, "rules">),
);

export const rulesOfClusterWatchRule = ({
  rules,
}: Pick<ClusterWatchRuleSpec, "rules">): E.Either<string, readonly SelectionRule[]> =>
  E.flatMap(bounded(rules), () => rememberedClusterWatchRules(JSON.stringify({ rules })));

const keys = (group: string, ...plurals: readonly string[]): readonly string[] =>
  plurals.map((plural) => resourceKey({ group, plural }));

const PRESET_KEYS: ReadonlySet<string> = new Set(PRESET.map(resourceKey));
const PRESET_GROUPS: ReadonlySet<string> = new Set(PRESET.map(({ group }) => group));

/** The resources that `*` never selects: controllers make them, or they change all the time. */
const EXCLUDED: ReadonlySet<string> = new Set([
  ...keys("", "pods", "events", "endpoints"),
  ...keys("events.k8s.io", "events"),
  ...keys("discovery.k8s.io", "endpointslices"),
  ...keys("coordination.k8s.io", "leases"),
  ...keys("apps", "controllerrevisions"),
  ...keys("flowcontrol.apiserver.k8s.io", "flowschemas", "prioritylevelconfigurations"),
  ...keys("batch", "jobs", "cronjobs"),
]);

/** A resource as its group and plural name it. */
type GroupResource = Pick<ServedResource, "group" | "plural">;

const isSecrets = ({ group, plural }: GroupResource): boolean => group === "" && plural === "secrets";

const isExcluded = ({ group, plural }: GroupResource, { excludes }: SelectionSettings): boolean =>
  excludes.some((one) => one.plural === plural && (one.group ?? group) === group);

const wildcardSelects = ({ groups }: SelectionRule, resource: GroupResource, settings: SelectionSettings): boolean => {
  const key = resourceKey(resource);
  if (EXCLUDED.has(key)) return false;
  return settings.watchAll || PRESET_KEYS.has(key) || (groups !== undefined && !PRESET_GROUPS.has(resource.group));
};

/** Whether the rule is about this resource of this scope, in whatever version, served or not. */
const names = (
  rule: SelectionRule,
  { namespaced, ...resource }: GroupResource & { readonly namespaced: boolean },
  settings: SelectionSettings,
): boolean =>
  rule.namespaced === namespaced &&
  (rule.groups?.has(resource.group) ?? true) &&
  !isExcluded(resource, settings) &&
  (settings.secrets || !isSecrets(resource)) &&
  (rule.resources.includes(resource.plural) ||
    (rule.resources.includes(ALL) && wildcardSelects(rule, resource, settings)));

/** A resource in the version in which it is written, and the rules that are about it. */
export interface SelectedResource extends Omit<ServedResource, "versions"> {
  readonly version: string;
  readonly rules: readonly SelectionRule[];
}

/**
 * The resources that the rules of one destination select among those that are served.
 *
 * Guarantees: each resource once, in one version: the one that the server prefers of those that the rules allow. So an object has
 *             one file.
 */
export const selectedResources = (
  rules: readonly SelectionRule[],
  served: readonly ServedResource[],
  settings: SelectionSettings,
): readonly SelectedResource[] =>
  served.flatMap(({ versions, ...resource }) => {
    const naming = rules.filter(
      (rule) => names(rule, resource, settings) && versions.some((version) => rule.versions?.has(version) ?? true),
    );
    const version = versions.find((one) => naming.some((rule) => rule.versions?.has(one) ?? true));
    return version === undefined ? [] : [{ ...resource, version, rules: naming }];
  });

const groupName = ({ group }: ServedResource): string => (group === "" ? '""' : group);

/** Says why nothing is served by this name, in the groups of the rule. */
const unknownResource = (name: string, served: readonly ServedResource[]): string => {
  const elsewhere = served.filter(({ plural }) => plural === name);
  if (elsewhere.length > 0) return `not in these apiGroups, but in ${elsewhere.map(groupName).join(", ")}`;
  const meant = served.find(({ kind }) => kind.toLowerCase() === name.toLowerCase());
  return meant === undefined
    ? "not served, or not to be listed and watched, and written once it is"
    : `name it by its plural, ${meant.plural}`;
};

/** Lists the resources that a rule names and does not get, each with what to do. */
export const selectionFindings = (
  rule: SelectionRule,
  served: readonly ServedResource[],
  settings: SelectionSettings,
): readonly string[] =>
  rule.resources.flatMap((plural) => {
    if (plural === ALL) return [];
    if (plural.includes("/")) return [`${plural}: subresources have no files: remove it`];
    const known = served.filter((one) => one.plural === plural && (rule.groups?.has(one.group) ?? true));
    const ofScope = known.filter(({ namespaced }) => namespaced === rule.namespaced);
    const ofVersion = ofScope.filter(({ versions }) => versions.some((one) => rule.versions?.has(one) ?? true));
    if (known.length === 0) return [`${plural}: ${unknownResource(plural, served)}`];
    if (ofScope.length === 0)
      return [
        rule.namespaced
          ? `${plural}: not namespaced, use a ClusterWatchRule with scope Cluster`
          : `${plural}: namespaced, use scope Namespaced`,
      ];
    if (ofVersion.length === 0) return [`${plural}: not served in the versions of apiVersions`];
    if (ofVersion.every((one) => isExcluded(one, settings)))
      return [`${plural}: left out by the controller's flag --discovery-exclude`];
    if (!settings.secrets && ofVersion.every(isSecrets))
      return [`${plural}: the controller may not read them: see the chart value gitJournal.secrets`];
    return [];
  });

/** Matches the Leases of leaders, locks, branches and members. */
const OUR_LEASE = /^(?:janus-|git-[0-9a-f]{16}$|git-journal-member-)/u;
const OUR_SECRET = /^janus-git-journal-/u;
/** The labels of stores, journals and contents of Transactions. */
const OUR_LABELS = [TRANSACTION_LABEL, UID_LABEL];

/** Whether nobody wants a file of an object: the cluster makes it in every namespace, or Janus makes it. */
const isNeverWritten = ({ apiVersion, kind, metadata: { name = "", labels = {} }, ...object }: KubeObject): boolean =>
  OUR_LABELS.some((label) => Object.hasOwn(labels, label)) ||
  (apiVersion === "v1" && kind === "ConfigMap" && name === "kube-root-ca.crt") ||
  (apiVersion === "v1" &&
    kind === "Secret" &&
    (object["type"] === "kubernetes.io/service-account-token" || OUR_SECRET.test(name))) ||
  (apiVersion.startsWith("coordination.k8s.io/") && kind === "Lease" && OUR_LEASE.test(name));

/**
 * Returns the operations on the file of an object; undefined: it is not selected. An object that is being deleted is not: its
 * file says what is wanted. Nor does `*` select one that kube-apiserver makes.
 *
 * Assumes: the labels of its namespace are known, if it has one; without them no namespaceSelector selects it.
 */
export const operationsOn = (
  { plural, rules }: Pick<SelectedResource, "plural" | "rules">,
  object: KubeObject,
  namespaceLabels: Labels | undefined,
): ReadonlySet<Operation> | undefined => {
  const { namespace, labels = {}, deletionTimestamp } = object.metadata;
  if (deletionTimestamp !== undefined || isNeverWritten(object)) return undefined;
  const isMade = isMadeByApiServer(object);
  const matching = rules.filter(
    (rule) =>
      (!isMade || rule.resources.includes(plural)) &&
      (rule.namespace === undefined || rule.namespace === namespace) &&
      (rule.selectsNamespace === undefined ||
        (namespaceLabels !== undefined && rule.selectsNamespace(namespaceLabels))) &&
      (rule.selectsObject?.(labels) ?? true),
  );
  const [only, ...more] = matching;
  // All objects of a rule share one set: there may be very many.
  return only === undefined || more.length === 0
    ? only?.operations
    : new Set(matching.flatMap(({ operations }) => [...operations]));
};

/** Returns the rules about the files of a resource in a namespace, whatever their labels: the objects may be gone. */
export const rulesAbout = (
  rules: readonly SelectionRule[],
  { group, plural, namespace }: GroupResource & { readonly namespace?: string | undefined },
  settings: SelectionSettings,
): readonly SelectionRule[] =>
  rules.filter(
    (rule) =>
      names(rule, { group, plural, namespaced: namespace !== undefined }, settings) &&
      (rule.namespace === undefined || rule.namespace === namespace),
  );

/** Reads `[group/]resource`: without a group, the resource of every group. `core` is the core group. */
export const parseExclude = (text: string): Exclude => {
  const at = text.lastIndexOf("/");
  const group = text.slice(0, Math.max(0, at));
  return { ...(at < 0 ? {} : { group: group === "core" ? "" : group }), plural: text.slice(at + 1) };
};
