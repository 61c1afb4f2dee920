// Rejects options of simulate that would make a test pass without testing anything.
import type { TransactionManifest } from "@janus/authoring";
import { isObject } from "@janus/types";
import { kindsOf, servedKinds } from "./api-server/served-kinds.ts";
import type { ObjectName, SimulateOptions } from "./options.ts";
import type { SimulatedObject } from "./simulation.ts";

const isName = (value: unknown): boolean => typeof value === "string" && value !== "";

/** The mistake in the live objects, if there is one. */
export const wrongObjects = (objects: readonly SimulatedObject[]): string | undefined => {
  const at = objects.findIndex((object: unknown) => {
    if (!isObject(object)) return true;
    const { apiVersion, kind, metadata } = object;
    return !isName(apiVersion) || !isName(kind) || !isObject(metadata) || !isName(metadata["name"]);
  });
  return at === -1 ? undefined : `liveObjects[${at}] is no object with apiVersion, kind and metadata.name`;
};

const VERBS = new Set(["get", "create", "update", "patch", "delete", "list", "watch"]);

/** The mistake by which nothing would be denied, such as a plural, or a `*`, which RBAC has instead of leaving it out. */
const wrongDenial = (
  { denied = [] }: SimulateOptions,
  named: readonly { readonly kind: string; readonly [field: string]: unknown }[],
): string | undefined => {
  const definitions = named.filter(({ kind }) => kind === "CustomResourceDefinition");
  const kinds = new Set([
    ...servedKinds({ objects: new Map(), revision: 0 }, definitions.flatMap(kindsOf)).map(
      ({ resource }) => resource.kind,
    ),
    ...named.map(({ kind }) => kind),
  ]);
  const [wrong] = denied.flatMap(({ verbs = [], kind }, index) => {
    const verb = verbs.find((one) => !VERBS.has(one));
    if (verb !== undefined) return [`denied[${index}]: no verb is called "${verb}"`];
    return kind === undefined || kinds.has(kind) ? [] : [`denied[${index}]: no kind is called "${kind}"`];
  });
  return wrong;
};

const isRefusal = (code: number): boolean => code >= 400 && code < 600;

/** The mistake in the options: a misfortune that cannot happen would let a test pass that shows nothing. */
export const wrongOptions = (
  { metadata: { namespace: own = "default" }, spec: { changes } }: TransactionManifest,
  live: readonly SimulatedObject[],
  options: SimulateOptions,
): string | undefined => {
  const { failAt, edits = [], notReady = [] } = options;
  const isChange = (index: number | "rollback"): boolean => index === "rollback" || changes[index] !== undefined;
  const isTarget = ({ apiVersion, kind, name, namespace = own }: ObjectName): boolean =>
    changes.some(
      ({ target }) =>
        target.apiVersion === apiVersion &&
        target.kind === kind &&
        target.name === name &&
        (target.namespace ?? own) === namespace,
    );
  const failing = typeof failAt === "object" ? failAt.change : (failAt ?? 0);
  const [edit] = edits.flatMap(({ before }, index) =>
    isChange(before) ? [] : [`edits[${index}]: there is no changes[${before}]`],
  );
  const [ready] = notReady.flatMap((target, index) =>
    isTarget(target) ? [] : [`notReady[${index}]: no change has the target ${target.kind} ${target.name}`],
  );
  const { code = 403 } = typeof failAt === "object" ? failAt : {};
  if (!isChange(failing)) return `failAt: there is no changes[${failing}]`;
  if (!isRefusal(code)) return `failAt: ${code} is no code of a refusal`;
  const named = changes.map(({ target, content }) => ({ ...content, kind: target.kind }));
  return edit ?? ready ?? wrongDenial(options, [...named, ...live]);
};
