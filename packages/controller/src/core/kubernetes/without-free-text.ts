// Reduces an error about a sensitive object to its code, reason and field names.
import type { ApiError } from "@janus/types";

type Refused = Extract<ApiError, { readonly type: "refused" }>;

/** Texts of the API server that contain names, but no value of an object. Each is looked for in linear time. */
const WORDS: readonly RegExp[] = [
  // The authorizer.
  /^[\w./-]+ (?:"[\w.:/-]*" )?is forbidden: User "[^"\s]*" cannot [\w-]+ resource "[\w./-]*"(?: in API group "[\w.-]*")?(?: (?:in the namespace "[\w-]*"|at the cluster scope))?/,
  // Admission.
  /admission webhook "[\w.-]*" denied the request/,
  /ValidatingAdmissionPolicy '[\w.:-]*' with binding '[\w.:-]*' denied request/,
  /exceeded quota: [\w.-]+/,
  /unable to create new content in namespace [\w-]+ because it is being terminated/,
  /attempting to grant RBAC permissions not currently held|must have cluster-admin privileges/,
  // The object as a whole.
  /^[\w.-]+ "[\w.:-]*" (?:not found|already exists)$/,
  /the object has been modified; please apply your changes to the latest version and try again/,
  /(?:etcdserver: )?request is too large/i,
  /failed to (?:create typed patch object|convert new object)/,
  // Its fields.
  /spec\.\w+: Forbidden/,
  /(?:nodePort|clusterIP|provided (?:IP|port))\b/i,
  /failed to allocate requested HealthCheck NodePort \d+: provided port is already allocated/,
  /field is immutable/,
];

const wordsIn = (message: string): readonly string[] => WORDS.flatMap((words) => words.exec(message)?.[0] ?? []);

/** The most fields that fit into an item. */
const MOST_FIELDS = 5;

const fieldsOf = ({ causes }: Refused): readonly string[] => {
  const fields = causes.flatMap(({ field, reason }) =>
    field === undefined ? [] : [reason === undefined ? field : `${field} (${reason})`],
  );
  return fields.slice(0, MOST_FIELDS);
};

const NOT_SHOWN = "the message is not shown, since it may quote values";

/**
 * The same error of an object of which nothing must be shown. What the API server and admission checks say is shown in status,
 * events and logs, and quotes what they refuse as they like: in part, escaped, in another encoding. So none of their text is
 * searched for values; it is left out, but for what is known to have none.
 *
 * Guarantees: code, reason, the fields that are named with their reasons, and which policy, webhook or quota it was, stay; and
 *             {@link classify} and {@link deniedVerb} say the same of it.
 *
 * @example
 *   secrets "key" is forbidden: ValidatingAdmissionPolicy 'strong' with binding 'all' denied request: hunter2 is too short
 *   → ValidatingAdmissionPolicy 'strong' with binding 'all' denied request (the message is not shown, since it may quote values)
 *   Secret "key" is invalid: data[a b]: Invalid value: "a b": a valid config key must consist of …
 *   → Invalid: data[a b] (FieldValueInvalid) (the message is not shown, since it may quote values)
 */
export const withoutFreeText = (fault: ApiError): ApiError => {
  if (fault.type === "unanswered")
    return fault.cause === "malformed" ? { ...fault, message: "the answer is no Kubernetes object" } : fault;
  const causes = fault.causes.map(({ field, reason }) => ({
    ...(field === undefined ? {} : { field }),
    ...(reason === undefined ? {} : { reason }),
  }));
  const words = wordsIn(fault.message);
  if (words.includes(fault.message)) return { ...fault, causes };
  const told = words.length > 0 ? words.join("; ") : fault.reason || `HTTP ${fault.code}`;
  const fields = fieldsOf(fault);
  return {
    ...fault,
    message: `${told}${fields.length === 0 ? "" : `: ${fields.join(", ")}`} (${NOT_SHOWN})`,
    causes,
  };
};
