// Asks what the ServiceAccount may do of what the phases need, before anything runs.
import { memoized } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import type { BlueprintPhase } from "../api/blueprint.ts";
import type { ObjectReference } from "../api/object-reference.ts";
import { type Args, type ArgTable, readArgs, renderArgs } from "./args.ts";
import { transactionAccess } from "./atomic/transaction.ts";
import { functionOf } from "./functions/index.ts";
import type { Access } from "./phase-context.ts";
import type { Inquiry } from "./requests.ts";
import { NIL } from "./templates.ts";

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
export const knownArgs = memoized(({ func = "", args = {} }: BlueprintPhase): Partial<Args<ArgTable>> => {
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

/**
 * The permissions that a phase needs, as far as they are known before the start. Undefined: its namespace is not.
 *
 * @param isAtomic whether it is one of an atomic action; object: that of the action
 */
export const accessOf = (
  phase: BlueprintPhase,
  own: string,
  isAtomic: boolean,
  object?: ObjectReference,
): readonly Access[] | undefined => {
  const { func = "", args } = phase;
  const found = functionOf(func);
  if (found === undefined) return [];
  const known = knownArgs(phase);
  if (args?.["namespace"] !== undefined && known["namespace"] === undefined) return undefined;
  return (isAtomic ? (found.atomic?.access ?? found.access) : found.access)(known, own, object);
};

/** Those on Transactions, where the phase changes objects in one. */
export const transactionAccessOf = (
  { func = "" }: BlueprintPhase,
  own: string,
  isAtomic: boolean,
): readonly Access[] => (isAtomic && functionOf(func)?.atomic !== undefined ? transactionAccess(own) : []);

/** What the ServiceAccount may not do of what a phase is known to need. */
export const accessProblems = (
  inquiry: Inquiry,
  phase: BlueprintPhase,
  own: string,
  account: string,
  isAtomic: boolean,
  object: ObjectReference | undefined,
): readonly string[] => {
  const needed = [...(accessOf(phase, own, isAtomic, object) ?? []), ...transactionAccessOf(phase, own, isAtomic)];
  return deniedAccess(inquiry, needed, phase.name ?? "", own, account);
};
