// Reads what the actions of an ActionSet name: Blueprints, and ConfigMaps, Secrets and Profiles as the ServiceAccount.
import { isAbsent, isDeeperThan, type KubeObject, memoized, messageOf } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import type { ActionSet, ActionSpec } from "../api/action-set.ts";
import { Blueprint, type BlueprintAction } from "../api/blueprint.ts";
import { blueprints, profiles, SERVICE_ACCOUNT } from "../api/names.ts";
import { isGiven, type ObjectReference } from "../api/object-reference.ts";
import { show } from "./names.ts";
import type { Settings } from "./phase-context.ts";
import { configMaps, get, type Inquiry, secrets } from "./requests.ts";

/** The ServiceAccount that an ActionSet names: by its field, else by its label. */
export const namedServiceAccount = ({
  metadata: { labels = {} },
  spec,
}: Pick<ActionSet, "spec"> & { readonly metadata: Pick<ActionSet["metadata"], "labels"> }): string | undefined =>
  spec?.serviceAccountName || labels[SERVICE_ACCOUNT] || undefined;

/** The ServiceAccount as which everything is read and changed. */
export const serviceAccountOf = (actionSet: ActionSet, settings: Settings): string =>
  namedServiceAccount(actionSet) ?? settings.defaultServiceAccount;

/** Decodes a Blueprint that many actions name once. */
const decode = memoized((object: KubeObject) => Blueprint.decode(object));

/** Holds for all that is rendered, merged or compared. */
const DEEPEST = 200;

export const isTooDeep = (value: unknown): boolean => isDeeperThan(value, DEEPEST);

export const TOO_DEEP = `is nested deeper than ${DEEPEST} levels`;

export const blueprintFact = (name: string): string => `blueprint/${name}`;

/** The action of this name. @param shown the Blueprint, for messages */
export const actionNamed = (
  { actions = {} }: Blueprint,
  shown: string,
  name: string,
): E.Either<string, BlueprintAction> => {
  const found = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (found === undefined)
    return E.left(`${shown} has no action "${name}" (it has ${Object.keys(actions).toSorted().join(", ")})`);
  return isTooDeep(found) ? E.left(`action "${name}" of ${shown} ${TOO_DEEP}`) : E.right(found);
};

/** The action of a Blueprint. Left: problems. Undefined: still to be asked. */
export const blueprintAction = (
  { ask }: Inquiry,
  { metadata: { namespace } }: ActionSet,
  { name = "", blueprint }: ActionSpec,
  at: number,
): E.Either<string, BlueprintAction> | undefined => {
  if (!isGiven(blueprint)) return E.left(`action ${at} has no blueprint`);
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

const inNamespace = (
  { name = "", namespace }: ObjectReference,
  own: string,
): { readonly namespace: string; readonly name: string } => ({
  namespace: isGiven(namespace) ? namespace : own,
  name,
});

type NamedKind = "ConfigMap" | "Secret" | "Profile";

/**
 * A ConfigMap, Secret or Profile that an action names. Left: why it cannot be had. Undefined: still to be asked.
 *
 * @param own the namespace of a reference that names none; called: the name under which the action knows it
 */
export const namedObject = (
  { ask }: Inquiry,
  kind: NamedKind,
  ref: ObjectReference,
  own: string,
  as: string,
  called?: string,
): E.Either<string, KubeObject> | undefined => {
  const place = inNamespace(ref, own);
  const resource = { ConfigMap: configMaps, Secret: secrets, Profile: profiles }[kind];
  const answer = ask(get(`read-${kind.toLowerCase()}`, `${kind}/${show(place)}`, { resource, ...place }, as));
  if (answer === undefined) return undefined;
  const shown = called === undefined ? `${kind} ${show(place)}` : `${kind} "${called}" (${show(place)})`;
  return E.mapLeft((error: Parameters<typeof messageOf>[0]) =>
    isAbsent(error) ? `${shown} not found` : `${shown} cannot be read: ${messageOf(error)}`,
  )(answer);
};
