// Data with the types that Go has, written down for both: our interpreter, and Go's.
import {
  ANY,
  BOOL,
  type Field,
  map,
  mapOf,
  NIL,
  ofBool,
  ofBytes,
  ofFloat,
  ofInt,
  ofInt64,
  ofInteger,
  ofList,
  ofTime,
  pointer,
  pointerTo,
  sliceOf,
  STRING,
  type StructType,
  str,
  struct,
  type Type,
  UINT8,
  type Value,
  zeroOf,
} from "@janus/gotemplate";

/** A value as the oracle reads it: texts and bytes are base64, integers are texts. */
export interface Typed {
  readonly t: string;
  readonly v?: unknown;
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");
export const text = (value: string): Typed => ({ t: "string", v: base64(value) });
export const bytes = (value: string | null): Typed => ({ t: "bytes", v: value === null ? null : base64(value) });
export const integer = (value: bigint | number, t: "int" | "int64" | "uint8" = "int64"): Typed => ({
  t,
  v: String(value),
});

const NAMED: Type & { readonly kind: "string" } = { kind: "string", name: "main.SecretType" };
const BYTES = sliceOf(UINT8);
const STRINGS = mapOf(STRING);
const omitted = (name: string, type: Type, json: string): Field => ({ name, type, json, omits: "empty" });

const META: StructType = {
  kind: "struct",
  name: "main.ObjectMeta",
  fields: [
    omitted("Name", STRING, "name"),
    omitted("Namespace", STRING, "namespace"),
    omitted("Labels", STRINGS, "labels"),
    omitted("Annotations", STRINGS, "annotations"),
    omitted("Generation", { kind: "int64" }, "generation"),
  ],
};
const SECRET: StructType = {
  kind: "struct",
  name: "main.Secret",
  fields: [
    { name: "ObjectMeta", type: META, json: "metadata", omits: "empty", isEmbedded: true },
    omitted("Immutable", pointerTo(BOOL), "immutable"),
    omitted("Data", mapOf(BYTES), "data"),
    omitted("StringData", STRINGS, "stringData"),
    omitted("Type", NAMED, "type"),
  ],
};
const KEY_PAIR: StructType = {
  kind: "struct",
  name: "main.KeyPair",
  fields: [
    { name: "ID", type: STRING },
    { name: "Secret", type: STRING },
  ],
};
const LOCATION: StructType = {
  kind: "struct",
  name: "main.Location",
  fields: [
    { name: "Type", type: NAMED, json: "type" },
    { name: "Bucket", type: STRING, json: "bucket" },
    { name: "Prefix", type: STRING, json: "prefix" },
  ],
};
const CREDENTIAL: StructType = {
  kind: "struct",
  name: "main.Credential",
  fields: [
    { name: "Type", type: NAMED },
    { name: "KeyPair", type: pointerTo(KEY_PAIR) },
    { name: "Secret", type: pointerTo(SECRET) },
  ],
};
const PROFILE: StructType = {
  kind: "struct",
  name: "main.Profile",
  fields: [
    { name: "Location", type: LOCATION },
    { name: "Credential", type: CREDENTIAL },
    { name: "SkipSSLVerify", type: BOOL },
  ],
};

const decoded = (value: unknown): string => Buffer.from(value as string, "base64").toString("utf8");
const rawBytes = ({ v }: Typed): Value =>
  ofBytes(v === null ? undefined : Buffer.from(v as string, "base64").toString("latin1"));
const textValue = ({ v }: Typed): Value => str(decoded(v));
const entries = (v: unknown): readonly (readonly [string, Typed])[] => Object.entries(v as Record<string, Typed>);
const mapValue = (v: unknown, element: Type, one: (value: Typed) => Value): Value =>
  v === null
    ? zeroOf(mapOf(element))
    : map(Object.fromEntries(entries(v).map(([key, value]) => [key, one(value)])), element);
const listValue = (v: unknown, element: Type, one: (value: Typed) => Value): Value =>
  ofList(v === null ? undefined : (v as Typed[]).map(one), element);

const secretValue = (v: unknown): Value => {
  const fields = v as Record<string, Typed>;
  const field = (name: string): Typed => fields[name] as Typed;
  return struct(SECRET, {
    ObjectMeta: struct(META, {
      Name: textValue(field("Name")),
      Namespace: textValue(field("Namespace")),
      Labels: mapValue(field("Labels").v, STRING, textValue),
      Generation: ofInt64(BigInt(field("Generation").v as string)),
    }),
    Data: mapValue(field("Data").v, BYTES, rawBytes),
    Type: str(decoded(field("Type").v), "main.SecretType"),
  });
};
const profileValue = (v: unknown): Value => {
  const { Bucket, ID, Secret } = v as Record<string, Typed>;
  const keyPair =
    ID === undefined ? undefined : struct(KEY_PAIR, { ID: textValue(ID), Secret: textValue(Secret as Typed) });
  return pointer(
    PROFILE,
    struct(PROFILE, {
      Location: struct(LOCATION, {
        Type: str("s3Compliant", "main.SecretType"),
        Bucket: textValue(Bucket as Typed),
        Prefix: str("p"),
      }),
      Credential: struct(CREDENTIAL, { Type: str("keyPair", "main.SecretType"), KeyPair: pointer(KEY_PAIR, keyPair) }),
    }),
  );
};

/** The same value for our interpreter. */
export const valueOf = (typed: Typed): Value => {
  const { t, v } = typed;
  switch (t) {
    case "nil":
      return NIL;
    case "bool":
      return ofBool(v as boolean);
    case "int":
      return ofInt(BigInt(v as string));
    case "int64":
      return ofInt64(BigInt(v as string));
    case "uint8":
      return ofInteger({ kind: "uint8" }, BigInt(v as string));
    case "float":
      return ofFloat(v as number);
    case "string":
      return textValue(typed);
    case "named":
      return str(decoded(v), "main.SecretType");
    case "bytes":
      return rawBytes(typed);
    case "list":
      return listValue(v, ANY, valueOf);
    case "strings":
      return listValue(v, STRING, textValue);
    case "map":
      return mapValue(v, ANY, valueOf);
    case "stringMap":
      return mapValue(v, STRING, textValue);
    case "time":
      return ofTime({ seconds: BigInt(v as string), nanos: 0, zone: "UTC", offset: 0 });
    case "secret":
      return secretValue(v);
    case "profile":
      return profileValue(v);
    default:
      throw new Error(`no type ${t}`);
  }
};
