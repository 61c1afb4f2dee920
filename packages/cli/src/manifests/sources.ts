// Resolves a value of -f to files, directories, URLs or the standard input.
import { type Dirent, globSync, readdirSync, readFileSync, statSync } from "node:fs";
import { extname, join } from "node:path";
import { reasonOf } from "@janus/kube";
import { Failure } from "../failure.ts";
import { download } from "./download.ts";

/** A file with manifests, wherever it is. */
export interface Source {
  /** The name for messages. */
  readonly name: string;
  /** Errors: {@link Failure} if it cannot be read. */
  readonly read: () => Promise<Uint8Array>;
}

const EXTENSIONS: readonly string[] = [".yaml", ".yml", ".json"];

const orFail = <A>(path: string, read: () => A): A => {
  try {
    return read();
  } catch (error) {
    throw new Failure(`cannot read ${path}: ${reasonOf(error)}`);
  }
};

/** Reads it as a stream: a read of the whole of a pipe that does not block fails (EAGAIN) before all of it has been written. */
const readStandardInput = async (): Promise<Buffer> => {
  const parts: Buffer[] = [];
  try {
    for await (const part of process.stdin) parts.push(part as Buffer);
  } catch (error) {
    throw new Failure(`cannot read the standard input: ${reasonOf(error)}`);
  }
  return Buffer.concat(parts);
};

const file = (path: string): Source => ({ name: path, read: async () => orFail(path, () => readFileSync(path)) });

const standardInput: Source = {
  name: "standard input",
  read: readStandardInput,
};

/** The files of a directory, not those of its subdirectories unless `isRecursive`. */
const filesIn = (directory: string, isRecursive: boolean): readonly Source[] => {
  const entries: readonly Dirent[] = orFail(directory, () => readdirSync(directory, { withFileTypes: true }));
  return entries
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(directory, entry.name);
      if (entry.isDirectory()) return isRecursive ? filesIn(path, isRecursive) : [];
      return EXTENSIONS.includes(extname(entry.name)) ? [file(path)] : [];
    });
};

const exists = (path: string): boolean => orFail(path, () => statSync(path, { throwIfNoEntry: false })) !== undefined;

/** The path itself, or what matches it as a pattern, such as `*.yaml` in quotes. */
const matching = (path: string): readonly string[] => {
  const matches = exists(path) ? [path] : globSync(path).toSorted();
  if (matches.length === 0) throw new Failure(`the path "${path}" does not exist`);
  return matches;
};

/**
 * Finds what a value of `-f` names, as kubectl takes it: a file, a directory, a pattern, a URL, or `-` for the standard input.
 *
 * Errors: {@link Failure} if there is nothing.
 */
export const sourcesOf = (path: string, isRecursive: boolean): readonly Source[] => {
  if (path === "-") return [standardInput];
  if (/^https?:\/\//u.test(path)) return [{ name: path, read: () => download(path) }];
  return matching(path).flatMap((one) =>
    orFail(one, () => statSync(one)).isDirectory() ? filesIn(one, isRecursive) : [file(one)],
  );
};
