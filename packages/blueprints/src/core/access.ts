// Asks what the ServiceAccount may do of what the phases need, before anything runs.
import * as E from "fp-ts/lib/Either.js";
import type { BlueprintPhase } from "../api/blueprint.ts";
import type { ObjectReference } from "../api/object-reference.ts";
import type { Args, ArgTable } from "./args.ts";
import { transactionAccess } from "./atomic/transaction.ts";
import { functionOf } from "./functions/index.ts";
import { constantArgs } from "./known-args.ts";
import type { Access, NamedObjects } from "./phase-context.ts";
import type { Inquiry } from "./requests.ts";

/** Asks the API server: true if the ServiceAccount may not do this. Anything that cannot be asked is found out later. */
const denied = ({ ask }: Inquiry, access: Access, as: string): boolean => {
  const { verb, group, resource, subresource, namespace, name } = access;
  const answer = ask({
    purpose: "review",
    fact: `access/${[verb, group, resource, subresource ?? "", namespace, name ?? ""].join("/")}`,
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
            ...(name === undefined ? {} : { name }),
          },
        },
      },
    },
  });
  if (answer === undefined || E.isLeft(answer)) return false;
  return (answer.right["status"] as { readonly allowed?: boolean } | undefined)?.allowed === false;
};

/** Names each permission that a phase needs and the ServiceAccount does not have. */
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
 * @param isAtomic whether it is one of an atomic action; object: that of the action; known: arguments. Default: those that are no templates
 */
export const accessOf = (
  phase: BlueprintPhase,
  own: string,
  isAtomic: boolean,
  object?: ObjectReference,
  known: Partial<Args<ArgTable>> = constantArgs(phase).args,
): readonly Access[] | undefined => {
  const { func = "", args } = phase;
  const found = functionOf(func);
  if (found === undefined) return [];
  if (args?.["namespace"] !== undefined && known["namespace"] === undefined) return undefined;
  return (isAtomic ? (found.atomic?.access ?? found.access) : found.access)(known, own, object);
};

/** The permissions on objects that an argument names. Undefined: not all of them are known. */
export const namedAccess = ({ verbs, objects, namespace: otherwise }: NamedObjects): readonly Access[] | undefined => {
  if (typeof objects === "string") return undefined;
  const { apiVersion = "", group = "", resource = "", namespace = "", name = "" } = objects;
  const [own = ""] = group === "" && apiVersion.includes("/") ? apiVersion.split("/") : [group];
  const where = namespace === "" ? otherwise : namespace;
  return where === undefined || [resource, own, where].some((one) => one.includes("{{"))
    ? undefined
    : verbs.map((verb) => ({
        verb,
        group: own,
        resource,
        namespace: where,
        ...(name === "" || name.includes("{{") ? {} : { name }),
      }));
};

/** The permissions on Transactions, for a phase that changes objects in one. */
export const transactionAccessOf = (
  { func = "" }: BlueprintPhase,
  own: string,
  isAtomic: boolean,
): readonly Access[] => (isAtomic && functionOf(func)?.atomic !== undefined ? transactionAccess(own) : []);
