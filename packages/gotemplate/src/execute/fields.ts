// Looks up a field of a struct, or a key of a map, as .Name does.
import { Failure, fail } from "../template-error.ts";
import { nameOfType, type StructType, type Type } from "../value/type.ts";
import { isTainted, NIL, NONE, ofInt64, ofString, taintIf, typeOf, type Value, zeroOf } from "../value/value.ts";
import { versionText } from "../value/version.ts";
import { textOf } from "../value/bytes.ts";

export type MissingKey = "default" | "zero" | "error";

/** Where a field is: one index, or those of the embedded structs on the way. */
const pathTo = (type: StructType, name: string): readonly number[] | undefined => {
  const own = type.fields.findIndex((field) => field.name === name);
  if (own >= 0) return [own];
  for (const [n, field] of type.fields.entries()) {
    const inner = field.type.kind === "pointer" ? field.type.element : field.type;
    if (field.isEmbedded !== true || inner.kind !== "struct") continue;
    const path = pathTo(inner, name);
    if (path !== undefined) return [n, ...path];
  }
  return undefined;
};

const typeName = (value: Value): string => nameOfType(typeOf(value) as Type);

const noField = (name: string, type: string): never =>
  fail(`${type} has no field ${textOf(name)}; methods of Go values are not available`);

/** What templates ask of versions: the methods without arguments. */
const ofVersion = (value: Value & { readonly is: "semver" }, name: string): Value => {
  const { major, minor, patch, prerelease, metadata, original } = value.value;
  switch (name) {
    case "Major":
      return ofInt64(major);
    case "Minor":
      return ofInt64(minor);
    case "Patch":
      return ofInt64(patch);
    case "Prerelease":
      return ofString(prerelease);
    case "Metadata":
      return ofString(metadata);
    case "Original":
      return ofString(original);
    case "String":
      return ofString(versionText(value.value));
    default:
      return noField(name, "semver.Version");
  }
};

/** Reports what is missing by its name alone: it is in the template, so it is no secret. */
const missing = (name: string): never => {
  const key = textOf(name);
  throw new Failure(`"${key}" not found`, { key });
};

const lookUp = (receiver: Value, name: string, missingKey: MissingKey): Value => {
  switch (receiver.is) {
    case "none":
      return missingKey === "error" ? missing(name) : NONE;
    case "nil":
      return fail(`nothing is there to take ${textOf(name)} of`);
    case "pointer":
      if (receiver.to !== undefined) return lookUp(receiver.to, name, missingKey);
      if (receiver.type.element.kind === "struct" && pathTo(receiver.type.element, name) === undefined)
        return noField(name, typeName(receiver));
      return fail(`${typeName(receiver)} is nil, it has no ${textOf(name)}`);
    case "struct": {
      const path = pathTo(receiver.type, name);
      if (path === undefined) return noField(name, typeName(receiver));
      let value: Value = receiver;
      for (const n of path) {
        const holder: Value = value.is === "pointer" ? (value.to ?? NIL) : value;
        if (holder.is !== "struct") return fail(`${typeName(receiver)} has an embedded nil, it has no ${textOf(name)}`);
        value = taintIf(isTainted(holder), holder.fields[n] ?? NIL);
      }
      return value;
    }
    case "map": {
      const found = receiver.entries?.map.get(name);
      if (found !== undefined) return found;
      if (missingKey === "error") return missing(name);
      return missingKey === "zero" ? zeroOf(receiver.type.element) : NONE;
    }
    case "semver":
      return ofVersion(receiver, name);
    case "bool":
    case "bytes":
    case "float":
    case "int":
    case "list":
    case "string":
    case "time":
    default:
      return noField(name, typeName(receiver));
  }
};

/** The names are those of the template: bytes. */
export const fieldOf = (receiver: Value, name: string, missingKey: MissingKey): Value => {
  const found = lookUp(receiver, name, missingKey);
  return taintIf(isTainted(receiver), found);
};
