// KubeOps: creates, deletes or patches objects.
import { asObject, isObject, type Json, type JsonObject, type KubeObject, messageOf } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import type { ObjectReference } from "../../api/object-reference.ts";
import type { Args, ArgTable } from "../args.ts";
import { changeOf, changeVerbs, deletionProblems, patchProblems } from "../atomic/change.ts";
import { inTransaction } from "../atomic/in-transaction.ts";
import { deleteObject } from "../deleted-object.ts";
import { madeObject, nameOf, placeOf } from "../made-object.ts";
import { shortHash } from "../names.ts";
import { resourceNamed, resourceOfKind } from "../object-lookup.ts";
import {
  inquiryOf,
  type KanisterFunction,
  madeBy,
  type NamedObjects,
  type PhaseContext,
  type PhaseStep,
} from "../phase-context.ts";
import { type ObjectRef, patch, secrets } from "../requests.ts";
import { isTainted, type Text } from "../text.ts";
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

/** Refers to an object as Kanister does: with all fields, but a namespace only if it has one; `apiVersion` is the version. */
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

/** Names an object: the same after a restart, also if the server would generate the name. */
const nameIn = (context: PhaseContext, { name, generateName }: JsonObject, at: number): string | undefined => {
  const prefix = given(generateName);
  return given(name) ?? (prefix === undefined ? undefined : `${prefix}${shortHash(`${madeBy(context)}/${at}`)}`);
};

/** A Transaction would show what depends on a Secret. */
const documentsIn = (
  { isAtomic }: PhaseContext,
  spec: Text,
  isOfSecret: (document: JsonObject) => boolean,
): ReturnType<typeof yamlDocuments> =>
  isAtomic && isTainted(spec)
    ? E.left("must not depend on a Secret in an atomic action")
    : yamlDocuments(spec, isOfSecret);

/** Ends, in an atomic action once the changes are made. */
const ended = (
  context: PhaseContext,
  changes: readonly JsonObject[],
  output: Readonly<Record<string, string>>,
): PhaseStep => (context.isAtomic ? inTransaction(context, changes) : undefined) ?? { type: "end", output };

const createAll = (context: PhaseContext, read: KubeOpsArgs): PhaseStep => {
  if (read.spec === undefined) return fail("required arg missing: spec (of operation create)");
  const documents = E.map(flattened)(documentsIn(context, read.spec, isSecret));
  if (E.isLeft(documents)) return fail(`args.spec ${documents.left}`);
  const inquiry = inquiryOf(context);
  const changes: JsonObject[] = [];
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
    output = referenceTo(ref);
    if (context.isAtomic) {
      changes.push(changeOf("Create", ref, document));
      continue;
    }
    const body = { ...document, metadata } as unknown as KubeObject;
    const made = madeObject(inquiry, context, `${at}`, ref, body);
    if (made === undefined) return { type: "run", effects: inquiry.missing };
    if (E.isLeft(made)) return fail(made.left);
  }
  if (output === undefined) return fail("args.spec is empty");
  return ended(context, changes, output);
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
  if (E.isLeft(ref)) return fail(ref.left);
  const output = referenceTo(ref.right);
  if (!context.isAtomic) return deleteObject(context, ref.right, { absent: "fail", waits: true, output });
  const [problem] = deletionProblems(ref.right.resource.group, ref.right.resource.plural);
  return problem === undefined ? ended(context, [changeOf("Delete", ref.right)], output) : fail(problem);
};

/** Lists are merged by their keys where the kind has some. */
const patchOne = (context: PhaseContext, read: KubeOpsArgs): PhaseStep => {
  if (read.spec === undefined) return fail("required arg missing: spec (of operation patch)");
  const inquiry = inquiryOf(context);
  const ref = referred(inquiry, read);
  if (ref === undefined) return { type: "run", effects: inquiry.missing };
  if (E.isLeft(ref)) return fail(ref.left);
  const { group, plural } = ref.right.resource;
  const documents = documentsIn(context, read.spec, () => group === secrets.group && plural === secrets.plural);
  if (E.isLeft(documents)) return fail(`args.spec ${documents.left}`);
  const [body, another] = documents.right;
  if (body === undefined || another !== undefined) return fail("args.spec must be one YAML document");
  if (context.isAtomic) {
    const [problem] = patchProblems(body);
    return problem === undefined
      ? ended(context, [changeOf("Patch", ref.right, body)], referenceTo(ref.right))
      : fail(problem);
  }
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

/** The kinds of manifests as far as they are written out, for messages. */
const kindsIn = (spec: Json | undefined): string => {
  const kinds = [...(given(spec) ?? "").matchAll(/\bkind["']?:\s*["']?([A-Za-z]+)/gu)].map(([, kind = ""]) => kind);
  return kinds.length === 0 ? "" : ` (${[...new Set(kinds)].join(", ")})`;
};

/** Names what a Transaction cannot do or undo, as far as it is known before the phase begins. */
const atomicProblems = ({ operation, spec, objectReference }: Partial<KubeOpsArgs>): readonly string[] => {
  if (operation === "delete") {
    const { group = "", resource = "" } = asObject(objectReference) as ObjectReference;
    return deletionProblems(group, resource);
  }
  if (operation !== "patch" || spec === undefined) return [];
  const documents = yamlDocuments(spec, () => false);
  return E.isLeft(documents) ? [] : documents.right.flatMap(patchProblems);
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
  named: ({ operation, spec, objectReference, namespace }, isAtomic) => {
    const made: NamedObjects = {
      verbs: isAtomic ? changeVerbs("Create") : ["create", "get"],
      at: "args.spec",
      objects: `the objects of args.spec${kindsIn(spec)}: their resources are known only to the API server`,
    };
    const referredFor = (verbs: readonly string[]): NamedObjects => ({
      verbs,
      at: "args.objectReference",
      objects: asObject(objectReference),
      namespace: given(namespace),
    });
    const deleted = isAtomic ? changeVerbs("Delete") : ["get", "delete"];
    const patched = isAtomic ? changeVerbs("Patch") : ["patch"];
    if (operation === "create") return [made];
    if (operation === "delete") return [referredFor(deleted)];
    if (operation === "patch") return [referredFor(patched)];
    return [made, referredFor([...new Set([...deleted, ...patched])])];
  },
  atomic: { access: () => [], problems: atomicProblems },
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
