// KubeOps: creates, deletes or patches objects.
import { asObject, isObject, type Json, type JsonObject, type KubeObject, messageOf } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import type { ObjectReference } from "../../api/object-reference.ts";
import type { Args, ArgTable } from "../args.ts";
import { deleteObject } from "../deleted-object.ts";
import { madeObject, nameOf, placeOf } from "../made-object.ts";
import { shortHash } from "../names.ts";
import { resourceNamed, resourceOfKind } from "../object-lookup.ts";
import { inquiryOf, type KanisterFunction, madeBy, type PhaseContext, type PhaseStep } from "../phase-context.ts";
import { type ObjectRef, patch, secrets } from "../requests.ts";
import { yamlDocuments } from "../yaml-documents.ts";

const OPERATIONS = "create, delete or patch";

const args = {
  operation: { type: "text", isRequired: true, about: "One of create, delete and patch." },
  spec: {
    type: "content",
    about:
      "YAML: create: the objects, in order; patch: the fields to be changed. May depend on Secrets in the data of Secrets.",
  },
  namespace: { type: "text", about: "Of objects that name none. Default: default." },
  objectReference: {
    type: "object",
    about: "delete, patch: the object: apiVersion (the version), group, resource, name, namespace.",
  },
} as const satisfies ArgTable;

type KubeOpsArgs = Args<typeof args>;

const fail = (message: string): PhaseStep => ({ type: "fail", message });

const given = (text: Json | undefined): string | undefined =>
  typeof text === "string" && text !== "" ? text : undefined;

const namespaceOf = ({ namespace }: KubeOpsArgs): string => given(namespace) ?? "default";

/** As Kanister has it: all fields but for the namespace of what has none, and `apiVersion` is the version. */
const referenceTo = ({ resource, namespace, name }: ObjectRef): Readonly<Record<string, string>> => ({
  apiVersion: resource.version,
  group: resource.group,
  resource: resource.plural,
  kind: resource.kind,
  name,
  ...(namespace === undefined ? {} : { namespace }),
});

/** The items of a List are objects of their own. */
const flattened = (documents: readonly JsonObject[]): readonly JsonObject[] =>
  documents.flatMap((one) => {
    const { kind, items } = one;
    return kind === "List" && Array.isArray(items) ? flattened(items.filter(isObject)) : [one];
  });

const isSecret = ({ apiVersion, kind }: JsonObject): boolean => apiVersion === "v1" && kind === "Secret";

/** The same after a restart, also where the server would have to generate it. */
const nameIn = (context: PhaseContext, { name, generateName }: JsonObject, at: number): string | undefined => {
  const prefix = given(generateName);
  return given(name) ?? (prefix === undefined ? undefined : `${prefix}${shortHash(`${madeBy(context)}/${at}`)}`);
};

const createAll = (context: PhaseContext, read: KubeOpsArgs): PhaseStep => {
  if (read.spec === undefined) return fail("required arg missing: spec (of operation create)");
  const documents = E.map(flattened)(yamlDocuments(read.spec, isSecret));
  if (E.isLeft(documents)) return fail(`args.spec ${documents.left}`);
  const inquiry = inquiryOf(context);
  let output: Readonly<Record<string, string>> | undefined;
  for (const [at, document] of documents.right.entries()) {
    const which = documents.right.length === 1 ? "args.spec" : `object ${at + 1} of args.spec`;
    const [apiVersion, kind] = [given(document["apiVersion"]), given(document["kind"])];
    const metadata = asObject(document["metadata"]);
    const name = nameIn(context, metadata, at);
    if (apiVersion === undefined || kind === undefined || name === undefined)
      return fail(`${which} needs apiVersion, kind, and a name or generateName`);
    const resource = resourceOfKind(inquiry, apiVersion, kind);
    if (resource === undefined) return { type: "run", effects: inquiry.missing };
    if (E.isLeft(resource)) return fail(`${which}: ${resource.left}`);
    const ref = placeOf(resource.right, given(metadata["namespace"]) ?? namespaceOf(read), name);
    const body = { ...document, metadata } as unknown as KubeObject;
    const made = madeObject(inquiry, context, `${at}`, ref, body);
    if (made === undefined) return { type: "run", effects: inquiry.missing };
    if (E.isLeft(made)) return fail(made.left);
    output = referenceTo(ref);
  }
  return output === undefined ? fail("args.spec is empty") : { type: "end", output };
};

/** The object of a deletion or patch. A string: why it is not known. Undefined: it is still to be asked for. */
const referred = (
  inquiry: ReturnType<typeof inquiryOf>,
  read: KubeOpsArgs,
): E.Either<string, ObjectRef> | undefined => {
  const ref = asObject(read.objectReference) as ObjectReference;
  const missing = (["apiVersion", "resource", "name"] as const).filter((field) => given(ref[field]) === undefined);
  if (missing.length > 0)
    return E.left(`args.objectReference needs ${missing.join(", ")} for operation ${read.operation}`);
  const resource = resourceNamed(inquiry, ref);
  return (
    resource &&
    E.map((found: ObjectRef["resource"]) => placeOf(found, given(ref.namespace) ?? namespaceOf(read), ref.name ?? ""))(
      resource,
    )
  );
};

const deleteOne = (context: PhaseContext, read: KubeOpsArgs): PhaseStep => {
  const inquiry = inquiryOf(context);
  const ref = referred(inquiry, read);
  if (ref === undefined) return { type: "run", effects: inquiry.missing };
  return E.isLeft(ref)
    ? fail(ref.left)
    : deleteObject(context, ref.right, { absent: "fail", waits: true, output: referenceTo(ref.right) });
};

/** Lists are merged by their keys where the kind has some. */
const patchOne = (context: PhaseContext, read: KubeOpsArgs): PhaseStep => {
  if (read.spec === undefined) return fail("required arg missing: spec (of operation patch)");
  const inquiry = inquiryOf(context);
  const ref = referred(inquiry, read);
  if (ref === undefined) return { type: "run", effects: inquiry.missing };
  if (E.isLeft(ref)) return fail(ref.left);
  const { group, plural } = ref.right.resource;
  const documents = yamlDocuments(read.spec, () => group === secrets.group && plural === secrets.plural);
  if (E.isLeft(documents)) return fail(`args.spec ${documents.left}`);
  const [body, another] = documents.right;
  if (body === undefined || another !== undefined) return fail("args.spec must be one YAML document");
  const send = (verb: "mergePatch" | "strategicMergePatch"): ReturnType<typeof inquiry.ask> =>
    inquiry.ask(patch("patch-object", verb, verb, ref.right, body, context.serviceAccount));
  const strategic = send("strategicMergePatch");
  const isUnsupported =
    strategic !== undefined && E.isLeft(strategic) && strategic.left.type === "refused" && strategic.left.code === 415;
  const answer = isUnsupported ? send("mergePatch") : strategic;
  if (answer === undefined) return { type: "run", effects: inquiry.missing };
  return E.isLeft(answer)
    ? fail(`${nameOf(ref.right)} cannot be patched: ${messageOf(answer.left)}`)
    : { type: "end", output: referenceTo(ref.right) };
};

/**
 * Guarantees: after a restart nothing is created or deleted twice; a patch may be repeated, with the same content.
 */
export const kubeOps: KanisterFunction<typeof args> = {
  about: "Creates, deletes or patches objects; a deletion ends when the object is gone.",
  args,
  outputs: "apiVersion (the version), group, resource, kind, name and namespace of the object, of several the last.",
  // The kinds are known only from rendered arguments.
  access: () => [],
  step: (read, context) => {
    switch (read.operation) {
      case "create":
        return createAll(context, read);
      case "delete":
        return deleteOne(context, read);
      case "patch":
        return patchOne(context, read);
      default:
        return fail(`args.operation must be ${OPERATIONS}, not "${read.operation}"`);
    }
  },
};
