// Composes the actions of an ActionSet from what a user names, as kanctl does.
import * as E from "fp-ts/lib/Either.js";
import type { ActionSet, ActionSpec } from "../api/action-set.ts";
import type { ObjectReference } from "../api/object-reference.ts";
import { KINDS } from "./object-lookup.ts";

/** The choices of the user: they win over that of the parent. */
export type Given = Pick<ActionSpec, "configMaps" | "secrets" | "profile" | "options" | "podLabels" | "podAnnotations">;

/**
 * The object that a user names: `deployment/web`, or `deployment/shop/web` in another namespace. Undefined: it is not of a kind that
 * is known without a cluster.
 */
export const objectNamed = (
  kind: string,
  namespace: string,
  name: string,
): Required<Pick<ObjectReference, "kind" | "name" | "namespace">> | undefined => {
  const known = KINDS[kind.toLowerCase()] ?? Object.values(KINDS).find(({ plural }) => plural === kind.toLowerCase());
  if (known === undefined) return undefined;
  const [called = ""] = Object.entries(KINDS).find(([, one]) => one === known) ?? [];
  return { kind: called, name, namespace: called === "namespace" ? name : namespace };
};

const merged = <A>(own: Readonly<Record<string, A>> | undefined, more: Readonly<Record<string, A>> | undefined) =>
  own === undefined && more === undefined ? undefined : { ...own, ...more };

type Optional<A> = { readonly [K in keyof A]?: A[K] | undefined };

const present = (fields: Optional<ActionSpec>): ActionSpec =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

/**
 * The actions: one for each object; or, from a parent, one for each of its actions, with the artifacts that it has produced.
 *
 * @param action its name, and its Blueprint
 * Left: why there are none.
 */
export const actionsFrom = (
  action: Required<Pick<ActionSpec, "name" | "blueprint">>,
  objects: readonly ObjectReference[],
  given: Given,
  parent: ActionSet | undefined,
): E.Either<string, readonly ActionSpec[]> => {
  if (parent === undefined)
    return objects.length === 0
      ? E.left("name an object: --object deployment/shop/web; or a parent: --from")
      : E.right(objects.map((object) => present({ ...action, object, ...given })));
  const { metadata, spec, status } = parent;
  const shown = `ActionSet ${metadata.namespace}/${metadata.name}`;
  if (status?.state !== "complete")
    return E.left(`${shown} is ${status?.state ?? "not begun"}: only a complete one has artifacts to go on from`);
  const own = spec?.actions ?? [];
  if (objects.length > 1 || (objects.length === 1 && own.length > 1))
    return E.left(
      `${shown} has ${own.length} actions: they have objects of their own, so --object may name one for one`,
    );
  return E.right(
    own.map(({ object, configMaps, secrets, profile, options }, at) =>
      present({
        ...action,
        object: objects[0] ?? object,
        ...given,
        artifacts: status.actions?.[at]?.artifacts,
        configMaps: merged(configMaps, given.configMaps),
        secrets: merged(secrets, given.secrets),
        profile: given.profile ?? profile,
        options: merged(options, given.options),
      }),
    ),
  );
};
