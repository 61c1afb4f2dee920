// The data of templates: the object of the action, its inputs, the outputs of former phases. Values of Secrets are marked.
import { asObject, isObject, type JsonObject, type KubeObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import type { ActionSet } from "../api/action-set.ts";
import type { BlueprintPhase } from "../api/blueprint.ts";
import type { ObjectReference } from "../api/object-reference.ts";
import { Profile } from "../api/profile.ts";
import { namedObject } from "./named-objects.ts";
import type { ActionRecord, Journal, PhaseRecord } from "./journal.ts";
import { templateKind } from "./object-lookup.ts";
import { renderObject, secretsIn } from "./render-args.ts";
import type { Inquiry } from "./requests.ts";
import { bytes, type Data, field, json, map, NIL, struct, tainted, text, texts } from "./templates.ts";
import { SUBJECTS } from "./template-hints.ts";
import { isText, untainted } from "./text.ts";

/** The phase that is rendered; "artifacts": what is rendered when all have ended. */
export interface Rendering {
  readonly action: number;
  readonly phase: number | "defer" | "artifacts";
}

type Found = E.Either<string, Data> | undefined;

const given = (all: Readonly<Record<string, string>> | undefined): Data => (all === undefined ? NIL : texts(all));

const ownTexts = (value: unknown): Readonly<Record<string, string>> | undefined =>
  isObject(value) ? (value as Readonly<Record<string, string>>) : undefined;

/** The metadata, whose fields templates may name without `.ObjectMeta`. */
const metadataOf = ({ kind, metadata }: KubeObject): Data =>
  struct("v1.ObjectMeta", [
    field("Name", text(metadata.name ?? ""), "name", "omitempty"),
    field("GenerateName", text(metadata.generateName ?? ""), "generateName", "omitempty"),
    field("Namespace", text(metadata.namespace ?? ""), "namespace", "omitempty"),
    field("UID", text(metadata.uid ?? ""), "uid", "omitempty"),
    field("ResourceVersion", text(metadata.resourceVersion ?? ""), "resourceVersion", "omitempty"),
    field("Labels", given(metadata.labels), "labels", "omitempty"),
    // The annotation of a client-side `kubectl apply` has the whole Secret.
    field(
      "Annotations",
      kind === "Secret" ? tainted(given(metadata.annotations)) : given(metadata.annotations),
      "annotations",
      "omitempty",
    ),
  ]);

const typed = (object: KubeObject, rest: readonly ReturnType<typeof field>[]): Data =>
  struct(`v1.${object.kind}`, [
    // Go's client leaves them empty.
    field("Kind", text(""), "kind", "omitempty"),
    field("APIVersion", text(""), "apiVersion", "omitempty"),
    field("ObjectMeta", metadataOf(object), "metadata", "embedded"),
    ...rest,
  ]);

const secretData = (secret: KubeObject): Data =>
  map(
    Object.fromEntries(
      Object.entries(ownTexts(secret["data"]) ?? {}).map(([name, value]) => [
        name,
        tainted(bytes(Buffer.from(value, "base64"))),
      ]),
    ),
  );

const secretParams = (secret: KubeObject): Data =>
  typed(secret, [
    field("Data", secretData(secret), "data", "omitempty"),
    field("StringData", NIL, "stringData", "omitempty"),
    field("Type", text(typeof secret["type"] === "string" ? secret["type"] : ""), "type", "omitempty"),
  ]);

const configMapParams = (object: JsonObject): Data => {
  const configMap = object as unknown as KubeObject;
  return typed(configMap, [
    field("Data", given(ownTexts(configMap["data"])), "data", "omitempty"),
    field(
      "BinaryData",
      map(
        Object.fromEntries(
          Object.entries(ownTexts(configMap["binaryData"]) ?? {}).map(([name, value]) => [
            name,
            bytes(Buffer.from(value, "base64")),
          ]),
        ),
      ),
      "binaryData",
      "omitempty",
    ),
  ]);
};

/** Collects all values; the first problem, if there is one; undefined: one is still to be read. */
const collected = (
  all: readonly (readonly [string, Found])[],
): E.Either<string, Readonly<Record<string, Data>>> | undefined => {
  const values: (readonly [string, Data])[] = [];
  for (const [name, one] of all) {
    if (one === undefined) return undefined;
    if (E.isLeft(one)) return one;
    values.push([name, one.right]);
  }
  return E.right(Object.fromEntries(values));
};

const secretsOf = (
  ask: Inquiry,
  refs: Readonly<Record<string, ObjectReference>> | undefined,
  own: string,
  as: string,
): E.Either<string, Readonly<Record<string, Data>>> | undefined =>
  collected(
    Object.entries(refs ?? {}).map(([name, ref]) => {
      const found = namedObject(ask, "Secret", ref, own, as);
      return [name, found && E.map(secretParams)(found)] as const;
    }),
  );

const dataOf = (secret: KubeObject, key: string, profile: string): E.Either<string, string> => {
  const value = ownTexts(secret["data"])?.[key];
  const { namespace = "", name = "" } = secret.metadata;
  return value === undefined
    ? E.left(`Secret ${namespace}/${name} has no key "${key}" (Profile ${profile})`)
    : E.right(Buffer.from(value, "base64").toString());
};

type Credential = NonNullable<Profile["credential"]>;

/** Fields of Kanister's type of credentials, as far as they are read. */
type Credentials = E.Either<string, Readonly<Partial<Record<"KeyPair" | "Secret" | "KopiaServerSecret", Data>>>>;

/** A value of a Secret that the Profile names by reference and key. */
const keyOf = (
  read: (ref: ObjectReference) => E.Either<string, KubeObject> | undefined,
  what: string,
  named: { readonly key?: string; readonly secret?: ObjectReference } | undefined,
  profile: string,
): E.Either<string, string> | undefined => {
  if (named?.secret === undefined) return E.left(`Profile ${profile} names no Secret in its ${what}`);
  const secret = read(named.secret);
  return secret && E.flatMap((found: KubeObject) => dataOf(found, named.key ?? "", profile))(secret);
};

const credentialsOf = (
  read: (ref: ObjectReference) => E.Either<string, KubeObject> | undefined,
  { keyPair, secret, kopiaServerSecret: kopia }: Credential,
  profile: string,
): Credentials | undefined => {
  if (keyPair !== undefined) {
    const { idField = "", secretField = "" } = keyPair;
    const id = keyOf(read, "keyPair", { ...keyPair, key: idField || "aws_access_key_id" }, profile);
    const value = keyOf(read, "keyPair", { ...keyPair, key: secretField || "aws_secret_access_key" }, profile);
    if (id === undefined || value === undefined) return undefined;
    if (E.isLeft(id)) return id;
    if (E.isLeft(value)) return value;
    const fields = [field("ID", tainted(text(id.right))), field("Secret", tainted(text(value.right)))];
    return E.right({ KeyPair: struct("param.KeyPair", fields) });
  }
  if (kopia !== undefined) {
    const { username = "", hostname = "", userPassphrase, tlsCert, connectOptions } = kopia;
    const password = keyOf(read, "userPassphrase", userPassphrase, profile);
    const cert = keyOf(read, "tlsCert", tlsCert, profile);
    if (password === undefined || cert === undefined) return undefined;
    if (E.isLeft(password)) return password;
    if (E.isLeft(cert)) return cert;
    return E.right({
      KopiaServerSecret: struct("param.KopiaServerCreds", [
        field("Username", text(username)),
        field("Hostname", text(hostname)),
        field("Password", tainted(text(password.right))),
        field("Cert", tainted(text(cert.right))),
        field("ConnectOptions", connectOptions === undefined ? NIL : json(connectOptions)),
      ]),
    });
  }
  if (secret === undefined) return E.right({});
  const found = read(secret);
  return found && E.map((one: KubeObject) => ({ Secret: secretParams(one) }))(found);
};

/** The Profile with its credentials, as Kanister's own type. */
const profileParams = (ask: Inquiry, ref: ObjectReference, own: string, as: string): Found => {
  const found = namedObject(ask, "Profile", ref, own, as);
  if (found === undefined || E.isLeft(found)) return found;
  const decoded = Profile.decode(found.right);
  const { namespace = "", name = "" } = found.right.metadata;
  const shown = `${namespace}/${name}`;
  if (E.isLeft(decoded)) return E.left(`Profile ${shown} is not valid`);
  const { location = {}, credential = {}, skipSSLVerify = false } = decoded.right;
  const read = (secret: ObjectReference) => namedObject(ask, "Secret", secret, namespace, as);
  const credentials = credentialsOf(read, credential, shown);
  if (credentials === undefined || E.isLeft(credentials)) return credentials;
  const { KeyPair = NIL, Secret = NIL, KopiaServerSecret = NIL } = credentials.right;
  return E.right(
    struct("param.Profile", [
      field(
        "Location",
        struct("v1alpha1.Location", [
          field("Type", text(location.type ?? ""), "type"),
          field("Bucket", text(location.bucket ?? ""), "bucket"),
          field("Endpoint", text(location.endpoint ?? ""), "endpoint"),
          field("Prefix", text(location.prefix ?? ""), "prefix"),
          field("Region", text(location.region ?? ""), "region"),
        ]),
      ),
      field(
        "Credential",
        struct("param.Credential", [
          field("Type", text(credential.type ?? "")),
          field("KeyPair", KeyPair),
          field("Secret", Secret),
          field("KopiaServerSecret", KopiaServerSecret),
        ]),
      ),
      field("SkipSSLVerify", json(skipSSLVerify)),
    ]),
  );
};

const workloadParams = ({ object, workload }: ActionRecord): Data => {
  const { name = "", namespace = "" } = asObject(asObject(object)["metadata"]);
  const { Pods = [], Containers = [], PersistentVolumeClaims = {} } = asObject(workload);
  return struct("param.WorkloadParams", [
    field("Name", json(name)),
    field("Namespace", json(namespace)),
    field("Pods", json(Pods)),
    field("Containers", json(Containers)),
    field("PersistentVolumeClaims", json(PersistentVolumeClaims)),
  ]);
};

const placed = (name: string, namespace: string): Data =>
  struct("param.ObjectParams", [field("Name", text(name)), field("Namespace", text(namespace))]);

/** One of `.StatefulSet`, `.Deployment`, `.DeploymentConfig`, `.PVC` and `.Namespace`, by the kind of the object. */
const subjectOf = (record: ActionRecord, ref: ObjectReference): readonly (readonly [string, Data])[] => {
  const kind = templateKind(ref);
  const { name = "", namespace = "" } = ref;
  if (kind === undefined) return [];
  if (kind === "PVC") return [[kind, placed(name, namespace)]];
  if (kind === "Namespace") return [[kind, placed(namespace || name, namespace || name)]];
  return [[kind, workloadParams(record)]];
};

/** An output with the value of a Secret depends on it; with one in a name, all do. */
const outputOf = ({ output = {}, shown = output }: PhaseRecord): Data => {
  const all = map(
    Object.fromEntries(
      Object.entries(output).map(([key, value]) => [key, shown[key] === value ? text(value) : tainted(text(value))]),
    ),
  );
  return Object.keys(output).every((key) => Object.hasOwn(shown, key)) ? all : tainted(all);
};

/** A phase that has begun: the objects that it reads, and its output once it is done. */
const phaseParams = (
  ask: Inquiry,
  phase: BlueprintPhase,
  record: PhaseRecord,
  context: Data,
  own: string,
  as: string,
): Found => {
  const rendered = renderObject(asObject(phase.objects), "objects", context, { now: 0, seed: "" });
  if (E.isLeft(rendered)) return rendered;
  const found: Record<"Secret" | "ConfigMap", (readonly [string, Found])[]> = { Secret: [], ConfigMap: [] };
  for (const [name, one] of Object.entries(rendered.right)) {
    if (secretsIn(one).length > 0) return E.left(`objects.${name} must not depend on a Secret`);
    const ref = Object.fromEntries(
      Object.entries(asObject(one as JsonObject)).map(([key, value]) => [
        key,
        isText(value) ? (untainted(value) ?? "") : "",
      ]),
    ) as ObjectReference;
    const kind = (ref.kind ?? "").toLowerCase() === "configmap" ? "ConfigMap" : "Secret";
    const read = namedObject(ask, kind, ref, own, as);
    found[kind].push([
      name,
      read &&
        E.map((object: KubeObject) =>
          kind === "Secret" ? secretParams(object) : configMapParams(object as unknown as JsonObject),
        )(read),
    ]);
  }
  const [secrets, configMaps] = [collected(found.Secret), collected(found.ConfigMap)];
  if (secrets === undefined || configMaps === undefined) return undefined;
  if (E.isLeft(secrets)) return secrets;
  if (E.isLeft(configMaps)) return configMaps;
  return E.right(
    struct("param.Phase", [
      field("Secrets", map(secrets.right)),
      field("ConfigMaps", map(configMaps.right)),
      field("Output", record.output === undefined ? NIL : outputOf(record)),
    ]),
  );
};

const artifactsIn = (artifacts: JsonObject): Data =>
  map(
    Object.fromEntries(
      Object.entries(artifacts).map(([name, artifact]) => {
        const { keyValue, kopiaSnapshot = "" } = asObject(artifact);
        return [
          name,
          struct("v1alpha1.Artifact", [
            field("KeyValue", given(ownTexts(keyValue)), "keyValue", "omitempty"),
            field("KopiaSnapshot", json(kopiaSnapshot), "kopiaSnapshot", "omitempty"),
          ]),
        ];
      }),
    ),
  );

/** The name of the phase that is rendered. */
const currentPhase = ({ blueprint }: ActionRecord, phase: Rendering["phase"]): string =>
  (phase === "defer" ? blueprint.deferPhase : phase === "artifacts" ? undefined : blueprint.phases?.[phase])?.name ??
  "";

/** The data of templates. Left: why there is none. Undefined: something is still to be read. */
export const paramsOf = (ask: Inquiry, actionSet: ActionSet, journal: Journal, rendering: Rendering): Found => {
  const { action } = rendering;
  const record = journal.actions[action];
  const spec = journal.spec.actions?.[action];
  if (record === undefined || spec === undefined) return E.left("the action is not in the journal");
  const { namespace: own } = actionSet.metadata;
  const as = journal.serviceAccount;
  const secrets = secretsOf(ask, spec.secrets, own, as);
  const profile =
    (spec.profile?.name ?? "") === "" || spec.profile === undefined
      ? E.right(NIL)
      : profileParams(ask, spec.profile, own, as);
  if (secrets === undefined || profile === undefined) return undefined;
  if (E.isLeft(secrets)) return secrets;
  if (E.isLeft(profile)) return profile;
  const subjects = new Map(spec.object === undefined ? [] : subjectOf(record, spec.object));
  const base = [
    ...SUBJECTS.map((name) => field(name, subjects.get(name) ?? NIL)),
    field("ArtifactsIn", artifactsIn(asObject(spec.artifacts))),
    field("ArtifactsOut", map({})),
    field(
      "ConfigMaps",
      map(Object.fromEntries(Object.entries(record.configMaps).map(([name, one]) => [name, configMapParams(one)]))),
    ),
    field("Secrets", map(secrets.right)),
    field("Time", text(journal.time)),
    field("Profile", profile.right),
    field("Options", texts(spec.options ?? {})),
    field("Object", record.object === undefined ? NIL : json(record.object)),
    field("PodOverride", json(spec.podOverride ?? {})),
    field("PodLabels", texts(spec.podLabels ?? {})),
    field("PodAnnotations", texts(spec.podAnnotations ?? {})),
  ];
  const context = struct("param.TemplateParams", [...base, field("Phases", map({})), field("DeferPhase", NIL)]);
  const of = (blueprint: BlueprintPhase, one: PhaseRecord): readonly [string, Found] => [
    blueprint.name ?? "",
    phaseParams(ask, blueprint, one, context, own, as),
  ];
  const phases = collected(
    record.phases.flatMap((one, at) => (one.state === "pending" ? [] : [of(record.blueprint.phases?.[at] ?? {}, one)])),
  );
  const { deferPhase } = record;
  const deferred =
    deferPhase === undefined || deferPhase.state === "pending"
      ? E.right(NIL)
      : of(record.blueprint.deferPhase ?? {}, deferPhase)[1];
  if (phases === undefined || deferred === undefined) return undefined;
  if (E.isLeft(phases)) return phases;
  if (E.isLeft(deferred)) return deferred;
  return E.right(
    struct("param.TemplateParams", [
      ...base,
      field("CurrentPhase", text(currentPhase(record, rendering.phase))),
      field("Phases", map(phases.right)),
      field("DeferPhase", deferred.right),
    ]),
  );
};
