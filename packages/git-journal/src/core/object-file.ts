// Judges a file of a commit by its path and its text: the object that it is the file of, or why it is none.
import { asObject, type JsonObject, type KubeObject } from "@janus/types";
import { CONTENT_DIGEST } from "../api/names.ts";
import { objectIn } from "./file-content.ts";
import { isFileOf, layoutsIn } from "./path.ts";
import { isAsPromised } from "./plan.ts";
import { sanitised } from "./sanitise.ts";
import { isSecret } from "./secret-file.ts";

export type ObjectFileVerdict =
  | { readonly is: "object"; readonly object: KubeObject }
  /** A Secret whose data are encrypted with SOPS. */
  | { readonly is: "encrypted"; readonly object: KubeObject }
  /** A Secret that was written without its data: nobody can give them back. */
  | { readonly is: "without data"; readonly object: KubeObject }
  /** A file at the path of an object that is not its file. */
  | { readonly is: "wrong"; readonly why: string }
  /** A file of the repository's own, such as a README. */
  | { readonly is: "other" };

/** Whether the path is that of an object's file, wherever the base folder ends. */
export const isObjectPath = (path: string): boolean => layoutsIn(path).length > 0;

/** Whether the path is that of the file of a namespace, or of an object in it. */
export const isPathInNamespace = (path: string, name: string): boolean =>
  layoutsIn(path).some(({ group, resource, namespace }) =>
    namespace === undefined ? group === "" && resource === "namespaces" && isFileOf(path, name) : namespace === name,
  );

const isLeftOut = (object: KubeObject): boolean =>
  object["data"] === undefined &&
  object["stringData"] === undefined &&
  object.metadata.annotations?.[CONTENT_DIGEST] !== undefined;

/**
 * Judges a file.
 *
 * Guarantees: an object has the group, version, namespace and name that its path says.
 */
export const objectFile = (path: string, text: string): ObjectFileVerdict => {
  const layouts = layoutsIn(path);
  if (layouts.length === 0) return { is: "other" };
  const object = objectIn(text);
  const { name, namespace } = object?.metadata ?? {};
  if (object === undefined || name === undefined) return { is: "wrong", why: "it does not have one Kubernetes object" };
  const content = { apiVersion: object.apiVersion, name, ...(namespace === undefined ? {} : { namespace }) };
  if (!layouts.some((layout) => isAsPromised(path, layout, content))) {
    const what = `${object.apiVersion} ${object.kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`;
    return {
      is: "wrong",
      why: `it has ${what}, which is not the object of its path: the journal puts that right when it next writes there`,
    };
  }
  if (!isSecret(object)) return { is: "object", object };
  if (object["sops"] !== undefined) return { is: "encrypted", object };
  return { is: isLeftOut(object) ? "without data" : "object", object };
};

/** Returns a key that is equal for one object, in whatever version its files have it. */
export const objectKey = ({ apiVersion, kind, metadata: { namespace = "", name = "" } }: KubeObject): string =>
  [apiVersion.includes("/") ? apiVersion.split("/")[0] : "", kind, namespace, name].join("/");

/** Names an object for people, such as `ConfigMap shop/app`. */
export const objectName = ({ kind, metadata: { namespace, name } }: KubeObject): string =>
  `${kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`;

/**
 * Returns the fields that a change can set: what is wanted of an object, without its kind, namespace and name.
 *
 * Guarantees: like a file, it has nothing of this one cluster, nor the rules that a controller sets in aggregated ClusterRoles.
 */
export const statedFields = (object: KubeObject): JsonObject => {
  const { apiVersion: _, kind, metadata, ...fields } = sanitised(object);
  const { labels, annotations } = asObject(metadata);
  const kept = { ...(labels === undefined ? {} : { labels }), ...(annotations === undefined ? {} : { annotations }) };
  const { rules, ...others } = fields;
  const isAggregated = kind === "ClusterRole" && others["aggregationRule"] !== undefined;
  return {
    ...others,
    ...(rules === undefined || isAggregated ? {} : { rules }),
    ...(Object.keys(kept).length === 0 ? {} : { metadata: kept }),
  };
};
