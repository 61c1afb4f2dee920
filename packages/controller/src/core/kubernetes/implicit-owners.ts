// Finds owners that an object names without an owner reference, such as a token Secret its ServiceAccount.
import { asObject, type KubeObject, type ObjectMeta } from "@janus/types";

const TOKEN = "kubernetes.io/service-account-token";
const ACCOUNT = "kubernetes.io/service-account.name";
export const ACCOUNT_UID = "kubernetes.io/service-account.uid";
/** The annotations with the ServiceAccount of a token Secret. */
export const ACCOUNT_ANNOTATIONS: readonly string[] = [ACCOUNT, ACCOUNT_UID];

/** An object, or the metadata of a listed one. */
export interface Named {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly type?: unknown;
}

/**
 * How objects that are {@link tiedTo} an owner name it without its uid; undefined for kinds that have no such
 * dependents.
 */
export const callName = ({ apiVersion, kind, metadata: { namespace, name } }: Named): string | undefined =>
  apiVersion === "v1" && ["Service", "ServiceAccount"].includes(kind) ? `${kind} ${namespace}/${name}` : undefined;

/**
 * The owner of this object although no owner reference names it, by uid or by {@link callName}.
 * kube-controller-manager deletes such dependents: the tokens of a ServiceAccount, and the Endpoints of a
 * Service. (EndpointSlices have owner references.)
 * https://kubernetes.io/docs/concepts/security/service-accounts/#get-a-token
 * https://github.com/kubernetes/kubernetes/blob/v1.36.3/pkg/controller/endpoint/endpoints_controller.go
 */
export const tiedTo = ({ apiVersion, kind, metadata, type = TOKEN }: Named): string | undefined => {
  if (apiVersion !== "v1") return undefined;
  const { namespace, annotations } = metadata;
  if (kind === "Endpoints") return callName({ apiVersion, kind: "Service", metadata });
  const { [ACCOUNT]: name, [ACCOUNT_UID]: uid } = asObject(annotations);
  if (kind !== "Secret" || type !== TOKEN || typeof name !== "string") return undefined;
  return typeof uid === "string" && uid !== ""
    ? uid
    : callName({
        apiVersion,
        kind: "ServiceAccount",
        metadata: { ...(namespace === undefined ? {} : { namespace }), name },
      });
};

/** The uid of the ServiceAccount whose token this is. */
export const accountOf = (object: KubeObject): string | undefined => {
  const uid = object.metadata.annotations?.[ACCOUNT_UID];
  return uid !== undefined && object["type"] === TOKEN && tiedTo(object) === uid ? uid : undefined;
};

/**
 * Tells what content does to the Secret with the token of a ServiceAccount that gets another one, as the predicate of a sentence:
 * the token controller deletes it if there is no such ServiceAccount. Undefined: nothing.
 * https://github.com/kubernetes/kubernetes/blob/v1.36.3/pkg/controller/serviceaccount/tokens_controller.go (`syncSecret`)
 */
export const otherAccount = (content: unknown, live: KubeObject): string | undefined => {
  const { annotations: is } = asObject(asObject(content)["metadata"]);
  const { annotations: was } = live.metadata;
  const isOther = ACCOUNT_ANNOTATIONS.some((name) => {
    const account = asObject(is)[name];
    return account !== undefined && account !== was?.[name];
  });
  return isOther && live["type"] === TOKEN
    ? "makes the cluster delete it if there is no such ServiceAccount"
    : undefined;
};
