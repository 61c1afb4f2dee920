/**
 * Paths of files in the repository.
 *
 * `git fast-import` commits any path as it is, `../x` and `.git/hooks/x` too. So a path of a file that is written is of a type that
 * only these functions make.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import * as E from "fp-ts/lib/Either.js";
import { FORBIDDEN_FOLDER, isForbiddenSegment } from "../api/git-destination.ts";

declare const checked: unique symbol;

/** The path of a file below the root: no segment is empty, `.`, `..` or `.git`, in whatever case or spelling. */
export type FilePath = string & { readonly [checked]: "file" };

/** The folder of a destination; empty: the root. */
export type BaseFolder = string & { readonly [checked]: "folder" };

export const ROOT = "" as BaseFolder;

/** An object, by the parts of its path. */
export interface ObjectIdentity {
  /** The API group; empty for the core group. */
  readonly group: string;
  readonly version: string;
  /** The plural of the resource. */
  readonly resource: string;
  /** The namespace; absent for cluster-scoped resources. */
  readonly namespace?: string;
  readonly name: string;
}

/** The most bytes of a segment that is not shortened: file systems take 255, and there are a suffix and a hash. */
const LONGEST = 200;
/** The bytes that are left of a longer one. */
const KEPT = 180;

const hash = (text: string): string => bytesToHex(sha256(utf8ToBytes(text))).slice(0, 16);

const escaped = (character: string): string =>
  [...utf8ToBytes(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("");

/** Escapes and shortens a text. No escaped text has a `~`, so that no other one looks like a shortened one. */
const shortened = (text: string): string => {
  const whole = text.replaceAll(/[^A-Za-z0-9._-]/gu, escaped);
  return whole.length > LONGEST ? `${whole.slice(0, KEPT)}~${hash(text)}` : whole;
};

/** The name of a folder. Injective, but for collisions of a hash. */
const folderName = (text: string): string => {
  const whole = shortened(text);
  return whole === "" ? "%" : isForbiddenSegment(whole) ? whole.replace(".", "%2E") : whole;
};

/** The folder of a group: no other one may pass for the core group. */
const groupFolder = (group: string): string =>
  group === "" ? "core" : group === "core" ? "%63ore" : folderName(group);

const within = (folder: BaseFolder, path: string): FilePath =>
  (folder === ROOT ? path : `${folder}/${path}`) as FilePath;

/**
 * The path of an object's file: `{folder}/{group or core}/{version}/{resource}/[{namespace}/]{name}.yaml`.
 *
 * Guarantees: two objects never have the same path in a folder, but for collisions of a hash; all bytes are among
 *             `A-Za-z0-9._-%~`, and no segment has more than 205 of them.
 */
export const objectPath = (
  folder: BaseFolder,
  { group, version, resource, namespace, name }: ObjectIdentity,
): FilePath =>
  within(
    folder,
    [
      groupFolder(group),
      ...[version, resource, ...(namespace === undefined ? [] : [namespace])].map(folderName),
      `${shortened(name)}.yaml`,
    ].join("/"),
  );

/** The file that says whose folder it is. */
export const markerPath = (folder: BaseFolder): FilePath => within(folder, ".configbutler/owner.yaml");

const isChecked = (path: string): boolean =>
  !/[\p{Cc}\\]/u.test(path) && path.split("/").every((segment) => segment !== "" && !isForbiddenSegment(segment));

/**
 * The folder of a destination, checked again: it may have been stored before the rule was there.
 *
 * Guarantees: it is not in the place of a file of another destination, all of which end in `.yaml`.
 */
export const baseFolder = (text: string): E.Either<string, BaseFolder> => {
  if (!isChecked(text) || !/^[A-Za-z0-9._/-]+$/u.test(text)) return E.left(FORBIDDEN_FOLDER);
  return /\.yaml(?:\/|$)/u.test(text)
    ? E.left('baseFolder must not have a segment that ends in ".yaml": files of objects do')
    : E.right(text as BaseFolder);
};

/** The path of a file that is in the repository; undefined if git should not have taken it. */
export const filePath = (text: string): FilePath | undefined => (isChecked(text) ? (text as FilePath) : undefined);

/** Whether the file is in the folder. */
export const isWithin = (folder: BaseFolder, path: string): boolean => folder === ROOT || path.startsWith(`${folder}/`);

/** The path from the folder on. */
export const relativeTo = (folder: BaseFolder, path: string): string =>
  folder === ROOT ? path : path.slice(folder.length + 1);

/** A resource, and perhaps a namespace, as the path of a file names them. */
export type Layout = Omit<ObjectIdentity, "name">;

const text = (segment: string): string | undefined => {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
};

const VERSION = /^v\d+(?:(?:alpha|beta)\d+)?$/u;

/**
 * The resource and namespace of the file at a path from the base folder on; undefined if it has not the layout of objects. Upstream
 * leaves out `core`.
 */
export const layoutOf = (relative: string): Layout | undefined => {
  const segments = relative.split("/");
  const folders = (VERSION.test(segments[0] ?? "") ? ["core", ...segments] : segments).slice(0, -1);
  const [first, version, resource, namespace, ...more] = folders.map(text);
  if (!relative.endsWith(".yaml") || first === undefined || version === undefined || resource === undefined)
    return undefined;
  if (more.length > 0 || (folders.length === 4 && namespace === undefined)) return undefined;
  const group = folders[0] === "core" ? "" : first;
  return { group, version, resource, ...(namespace === undefined ? {} : { namespace }) };
};

/** Whether the journal writes objects to such paths, from the base folder on: it does not leave out `core`. */
export const isWrittenLayout = (relative: string): boolean =>
  !VERSION.test(relative.slice(0, relative.indexOf("/"))) && layoutOf(relative) !== undefined;

/** The layouts that the path of a file may have, wherever the base folder ends; none: it is not that of an object. */
export const layoutsIn = (path: string): readonly Layout[] =>
  path
    .split("/")
    .flatMap((_, at, segments) => layoutOf(segments.slice(at).join("/")) ?? [])
    .filter(({ version }) => VERSION.test(version));

/** The name of the object whose file it is; undefined if the file has only a part of it. */
export const nameOf = (relative: string): string | undefined => {
  const file = relative.slice(relative.lastIndexOf("/") + 1).replace(/\.yaml$/u, "");
  const name = file.includes("~") ? undefined : text(file);
  return name !== undefined && isFileOf(relative, name) ? name : undefined;
};

/** Whether an object of this name may have this file. Its name is read from the content, not from the path. */
export const isFileOf = (relative: string, name: string): boolean =>
  relative.split("/").at(-1) === `${shortened(name)}.yaml`;
