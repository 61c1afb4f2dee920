// Parses files into manifests, and remembers the file and line of each.
import { basename } from "node:path";
import type { Manifest } from "@janus/authoring";
import { asObject, type Document, isObject, readYaml, textOfBytes, YamlError } from "@janus/types";
import { Failure } from "../failure.ts";
import { kustomized } from "./kustomized.ts";
import { type Source, sourcesOf } from "./sources.ts";

/** A manifest, and its file and line, for messages. */
export interface Located {
  readonly manifest: Manifest;
  readonly where: string;
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** Items of a typed list, such as a ConfigMapList, need not say of which kind they are. */
const typedBy = (kind: string, apiVersion: unknown, item: unknown): unknown =>
  isObject(item) && item["kind"] === undefined && item["apiVersion"] === undefined && kind !== "List"
    ? { apiVersion, kind: kind.slice(0, -"List".length), ...item }
    : item;

/** The manifests in a value: a List is its items. */
const manifestsIn = (value: unknown, where: string): readonly Located[] => {
  if (value === null || value === undefined) return [];
  if (!isObject(value)) throw new Failure(`${where}: is not a Kubernetes manifest: it must be an object`);
  const { apiVersion, items } = value;
  const kind = text(value["kind"]);
  if (kind.endsWith("List") && Array.isArray(items))
    return items.flatMap((item: unknown, index) =>
      manifestsIn(typedBy(kind, apiVersion, item), `${where}, items[${index}]`),
    );
  const { name, generateName } = asObject(value["metadata"]);
  const missing = [
    ...(text(apiVersion) === "" ? ["apiVersion"] : []),
    ...(kind === "" ? ["kind"] : []),
    ...(text(name) === "" ? ["metadata.name"] : []),
  ];
  if (missing.join() === "metadata.name" && generateName !== undefined)
    throw new Failure(
      `${where}: ${kind}: generateName cannot be used: a change needs the exact name of its target; set metadata.name`,
    );
  if (name !== undefined && name !== null && typeof name !== "string")
    throw new Failure(`${where}: metadata.name is not a text: put it in quotes`);
  if (missing.length > 0) throw new Failure(`${where}: ${missing.join(", ")} missing: it is not a Kubernetes manifest`);
  return [{ manifest: value as unknown as Manifest, where }];
};

const documentsOf = (bytes: Uint8Array, name: string): readonly Document[] => {
  try {
    return readYaml(textOfBytes(bytes));
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    throw new Failure(`${name}, line ${error.line}, column ${error.column}: ${error.message}`);
  }
};

/** Whether it is a file of kustomize, which need not say so but by its name. */
const isKustomization = (value: unknown, file: string): boolean => {
  const { apiVersion, kind } = asObject(value);
  const isUnnamed = isObject(value) && apiVersion === undefined && kind === undefined;
  return (
    text(apiVersion).startsWith("kustomize.config.k8s.io/") ||
    (isUnnamed && /^kustomization\.ya?ml$/u.test(basename(file)))
  );
};

/** All manifests of a file: YAML documents or JSON, Lists included. `name`: of the file, for messages. */
export const parseManifests = (bytes: Uint8Array, name: string): readonly Located[] =>
  documentsOf(bytes, name).flatMap(({ value, line }) => {
    const where = `${name}, line ${line}`;
    if (isKustomization(value, name))
      throw new Failure(
        `${where}: is a kustomization, not a Kubernetes manifest: use -k with its directory, instead of -f`,
      );
    return manifestsIn(value, where);
  });

/** Flags that name files. */
export interface FileFlags {
  readonly filename?: readonly string[];
  readonly kustomize?: string;
  readonly recursive?: true;
}

const sourcesFor = ({ filename = [], kustomize, recursive }: FileFlags): readonly Source[] => {
  if (kustomize !== undefined && filename.length > 0) throw new Failure("only one of -f or -k can be specified");
  if (kustomize !== undefined) return [kustomized(kustomize)];
  if (filename.length === 0) throw new Failure("must specify one of -f and -k");
  return filename.flatMap((path) => sourcesOf(path, recursive === true));
};

/**
 * The manifests of `-f` or `-k`, as kubectl takes them.
 *
 * Errors: what cannot be read; what is no manifest, with file and line; if there is none at all.
 */
export const readManifests = async (flags: FileFlags): Promise<readonly Located[]> => {
  const all: Located[] = [];
  for (const { name, read } of sourcesFor(flags)) all.push(...parseManifests(await read(), name));
  if (all.length === 0)
    throw new Failure(`no manifests in ${[...(flags.filename ?? []), flags.kustomize ?? []].flat().join(", ")}`);
  return all;
};
