/**
 * Makes the kept part of a live object, and its file.
 *
 * The object itself is not kept: ten thousand of them would fill the memory.
 */
import { asObject, type JsonObject, type KubeObject } from "@janus/types";
import { type ObjectFormat, blobId } from "./blob-id.ts";
import { canonicalYaml, isIndentedTooFar } from "./canonical.ts";
import type { SeenChange } from "./correlation.ts";
import { embedsPassword, embedsSecret } from "./embedded-secret.ts";
import { fingerprint } from "./file-content.ts";
import type { Labels } from "./label-selector.ts";
import { type BaseFolder, type FilePath, objectPath, type ObjectIdentity } from "./path.ts";
import type { IndexedObject } from "./plan.ts";
import { isTooDeep, sanitised } from "./sanitise.ts";
import { contentDigest, fileOfSecret, isSecret } from "./secret-file.ts";
import { operationsOn, type SelectedResource } from "./selection.ts";
import { type Marks, marksOf, newestMark } from "./transactions.ts";

/** The part of a selected object that is kept. */
export interface KeptObject extends IndexedObject {
  readonly uid: string;
  readonly resourceVersion: string;
  /** The fingerprint of the sanitised object; of a Secret with its data. */
  readonly content: string;
  readonly marks: Marks;
  /** The Transaction whose mark is the newest entry. */
  readonly newest?: string;
}

export type ObjectFile =
  | { readonly type: "plain"; readonly text: string }
  /** A file that is written with the data encrypted for these. */
  | {
      readonly type: "encrypted";
      readonly file: JsonObject;
      readonly data: JsonObject;
      readonly recipients: readonly string[];
    };

/** The way in which Secrets are written. */
export interface SecretFiles {
  /** The key of the digests. */
  readonly key: Uint8Array;
  /** The recipients; none: Secrets are written without their data. Undefined: not known, and Secrets are left as they are. */
  readonly recipients: readonly string[] | undefined;
  /** Whether Secrets are left because of the spec of the destination, whose condition says so. */
  readonly isRefused?: true;
}

export interface IngestContext {
  readonly resource: SelectedResource;
  readonly folder: BaseFolder;
  /** The labels of the object's namespace; undefined: they are not known, or there is no namespace. */
  readonly namespaceLabels: Labels | undefined;
  readonly secrets: SecretFiles;
  readonly format: ObjectFormat;
}

export type Ingested =
  | { readonly type: "unselected" }
  | { readonly type: "kept"; readonly path: FilePath; readonly object: KeptObject; readonly file: ObjectFile }
  /** An object that is not written now: its earlier file is left. Undefined: the condition of the destination says why. */
  | { readonly type: "spared"; readonly path: FilePath; readonly because: string | undefined };

const EMBEDS = "has data of a Secret in it, in plain: keep them in a Secret, or exclude the kind from what is written";

const EMBEDS_PASSWORD =
  "has a name and a password in its repoUrl: use secretRef, or exclude the kind from what is written";

const NO_KEY = "Secrets are left as they are: the key of their digests is not known";

/** The factor by which encrypted data are larger: base64 of base64, and fields of SOPS. */
const ENCRYPTED_SIZE = 1.5;

const fileOf = (
  object: KubeObject,
  clean: JsonObject,
  { key, recipients = [] }: SecretFiles,
): { readonly file: ObjectFile; readonly compared: JsonObject; readonly bytes: number } => {
  if (!isSecret(object)) {
    const text = canonicalYaml(clean);
    return { file: { type: "plain", text }, compared: clean, bytes: Buffer.byteLength(text) };
  }
  const { file, compared } = fileOfSecret(clean, { digest: contentDigest(key, clean), recipients });
  const text = canonicalYaml(file);
  if (recipients.length === 0) return { file: { type: "plain", text }, compared, bytes: Buffer.byteLength(text) };
  const data = asObject(clean["data"]);
  const bytes = Buffer.byteLength(text) + Math.ceil(Buffer.byteLength(canonicalYaml(data)) * ENCRYPTED_SIZE);
  return { file: { type: "encrypted", file, data, recipients }, compared, bytes };
};

/** Returns the identity of an object, in the version in which it is written. */
export const identityOf = (
  { group, version, plural }: Pick<SelectedResource, "group" | "version" | "plural">,
  { metadata: { name = "", namespace } }: KubeObject,
): ObjectIdentity => ({ group, version, resource: plural, ...(namespace === undefined ? {} : { namespace }), name });

/**
 * Makes the kept part of an object, and its file.
 *
 * Guarantees: the data of a Secret are in no file in plain; an object that cannot be written keeps the file that it has.
 */
export const ingested = (object: KubeObject, context: IngestContext): Ingested => {
  const { resource, folder, namespaceLabels, secrets, format } = context;
  const operations = operationsOn(resource, object, namespaceLabels);
  if (operations === undefined) return { type: "unselected" };
  const identity = identityOf(resource, object);
  const path = objectPath(folder, identity);
  const place = identity.namespace === undefined ? identity.name : `${identity.namespace}/${identity.name}`;
  const spared = (because: string | undefined): Ingested => ({ type: "spared", path, because });
  if (isTooDeep(object)) return spared(`${object.kind} ${place} is nested too deep for a file of YAML`);
  if (isSecret(object) && secrets.recipients === undefined) return spared(secrets.isRefused ? undefined : NO_KEY);
  const clean = sanitised(object);
  if (!isSecret(object) && embedsSecret(clean)) return spared(`${object.kind} ${place} ${EMBEDS}`);
  if (embedsPassword(clean)) return spared(`${object.kind} ${place} ${EMBEDS_PASSWORD}`);
  if (isIndentedTooFar(clean)) return spared(`${object.kind} ${place} is too large for a file of YAML`);
  const { file, compared, bytes } = fileOf(object, clean, secrets);
  const { uid = "", resourceVersion = "" } = object.metadata;
  const marks = marksOf(object);
  const newest = marks.size === 0 ? undefined : newestMark(object);
  return {
    type: "kept",
    path,
    file,
    object: {
      operations,
      fingerprint: fingerprint(compared),
      ...(file.type === "plain" ? { blob: blobId(file.text, format) } : {}),
      bytes,
      uid,
      resourceVersion,
      content: fingerprint(clean),
      marks,
      ...(newest === undefined ? {} : { newest }),
    },
  };
};

/** A version of an object, by which a request for it is found. */
export type Identified = Pick<KeptObject, "content" | "uid" | "resourceVersion">;

/**
 * Describes a change that a watch has shown, so that its request is found; undefined: nothing that is written has changed.
 *
 * @param after the object now; undefined: it is deleted, or is being deleted
 */
export const seenChange = (
  place: ObjectIdentity,
  before: Identified | undefined,
  after: { readonly kept: Pick<Identified, "content" | "uid">; readonly object: KubeObject } | undefined,
): SeenChange | undefined => {
  if (after === undefined) {
    if (before === undefined) return undefined;
    const { content, uid, resourceVersion } = before;
    return { place, operation: "DELETE", content, replicas: undefined, uid, resourceVersion };
  }
  const { content, uid } = after.kept;
  const former = before?.uid === uid ? before : undefined;
  if (former?.content === content) return undefined;
  const { replicas } = asObject(after.object["spec"]);
  return {
    place,
    operation: former === undefined ? "CREATE" : "UPDATE",
    content,
    replicas: typeof replicas === "number" ? replicas : undefined,
    uid,
    resourceVersion: former?.resourceVersion,
  };
};
