import { readdirSync, readFileSync, statSync } from "node:fs";
import { extname, join } from "node:path";
import type { Manifest } from "@janus/authoring";
import { isObject } from "@janus/types";
import { type Document, LineCounter, parseAllDocuments } from "yaml";
import { Failure } from "../failure.ts";
import { KUBERNETES_YAML } from "./kubernetes-yaml.ts";

/** A manifest, and its file and line, for messages. */
export interface Located {
  readonly manifest: Manifest;
  readonly where: string;
}

const EXTENSIONS: readonly string[] = [".yaml", ".yml", ".json"];

/** The files of a directory, not those of its subdirectories unless `isRecursive`, as kubectl takes them. */
const filesIn = (path: string, isRecursive: boolean): readonly string[] =>
  readdirSync(path, { withFileTypes: true })
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap((entry) => {
      const file = join(path, entry.name);
      if (entry.isDirectory()) return isRecursive ? filesIn(file, isRecursive) : [];
      return EXTENSIONS.includes(extname(entry.name)) ? [file] : [];
    });

const text = (file: string): string => {
  try {
    return readFileSync(file === "-" ? 0 : file, "utf8");
  } catch (error) {
    throw new Failure(`cannot read ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
};

const isDirectory = (path: string): boolean => {
  try {
    return path !== "-" && statSync(path).isDirectory();
  } catch {
    return false; // Reading it says what is wrong.
  }
};

/** A List is its items. */
const itemsOf = (value: Readonly<Record<string, unknown>>, where: string): readonly Located[] => {
  const { kind, items } = value;
  if (typeof kind === "string" && kind.endsWith("List") && Array.isArray(items))
    return items.flatMap((item: unknown, index) => manifestsIn(item, `${where}, items[${index}]`));
  const { apiVersion, metadata } = value;
  const missing = [
    ...(typeof apiVersion === "string" ? [] : ["apiVersion"]),
    ...(typeof kind === "string" ? [] : ["kind"]),
    ...(isObject(metadata) && typeof metadata["name"] === "string" ? [] : ["metadata.name"]),
  ];
  if (missing.length > 0) throw new Failure(`${where}: ${missing.join(", ")} missing: it is not a Kubernetes manifest`);
  return [{ manifest: value as unknown as Manifest, where }];
};

const manifestsIn = (value: unknown, where: string): readonly Located[] => {
  if (value === null || value === undefined) return [];
  if (!isObject(value)) throw new Failure(`${where}: is not a Kubernetes manifest: it must be an object`);
  return itemsOf(value, where);
};

/** All manifests of a text: YAML documents or JSON, Lists included. `name`: of the file, for messages. */
export const parseManifests = (source: string, name: string): readonly Located[] => {
  const lines = new LineCounter();
  const documents = parseAllDocuments(source, {
    ...KUBERNETES_YAML,
    lineCounter: lines,
    stringKeys: true,
    prettyErrors: false,
  });
  if (!Array.isArray(documents)) return [];
  return documents.flatMap((document) => {
    const { line } = lines.linePos(document.contents?.range?.[0] ?? document.range[0]);
    // A value with a tag that is not known would be read as a text.
    const [error] = [...document.errors, ...document.warnings];
    if (error !== undefined) {
      const at = lines.linePos(error.pos[0]);
      throw new Failure(`${name}, line ${at.line}, column ${at.col}: this is not valid YAML: ${wordsOf(error.code)}`);
    }
    return manifestsIn(valueOf(document, `${name}, line ${line}`), `${name}, line ${line}`);
  });
};

/** Without the text of the parser, which quotes the file: that may be a Secret. */
const wordsOf = (code: string): string => code.toLowerCase().replaceAll("_", " ");

/** Aliases are resolved only here. */
const valueOf = (document: Document, where: string): unknown => {
  try {
    return document.toJS();
  } catch {
    throw new Failure(`${where}: this is not valid YAML: ${ALIASES}`);
  }
};

const ALIASES = "an alias has no anchor before it, or aliases multiply";

/**
 * The manifests of `-f`: files, directories, or `-` for the standard input.
 *
 * Errors: what is no manifest, with file and line; if there is none at all.
 */
export const readManifests = (paths: readonly string[], isRecursive = false): readonly Located[] => {
  const files = paths.flatMap((path) => (isDirectory(path) ? filesIn(path, isRecursive) : [path]));
  const all = files.flatMap((file) => parseManifests(text(file), file === "-" ? "standard input" : file));
  if (all.length === 0) throw new Failure(`no manifests in ${paths.join(", ")}`);
  return all;
};
