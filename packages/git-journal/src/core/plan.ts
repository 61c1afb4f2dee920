/**
 * Compares the live objects of a destination with the tree of the tip of its branch.
 *
 * Nothing is queued: what is missing in Git is found anew each time, whatever was lost, pushed by others, or left behind by a crash.
 */
import type { Operation } from "../api/watch-rule.ts";
import { resourceKey } from "./discovery.ts";
import type { FileContent } from "./file-content.ts";
import {
  type BaseFolder,
  type FilePath,
  filePath,
  isFileOf,
  isWithin,
  isWrittenLayout,
  type Layout,
  layoutOf,
  nameOf,
  objectPath,
  relativeTo,
} from "./path.ts";
import { rulesAbout, type SelectedResource, type SelectionRule, type SelectionSettings } from "./selection.ts";
import { obstacles, type Tree } from "./tree.ts";

/** The part of a selected live object that its file depends on. */
export interface IndexedObject {
  readonly operations: ReadonlySet<Operation>;
  /** The fingerprint of what its file says. */
  readonly fingerprint: string;
  /** The id of its blob; absent if it is encrypted, since that makes another blob each time. */
  readonly blob?: string;
  /** The size of its file. */
  readonly bytes: number;
}

export interface Compared {
  readonly folder: BaseFolder;
  /** The folders of other destinations of the branch, in which its own is. */
  readonly otherFolders: readonly BaseFolder[];
  readonly index: ReadonlyMap<FilePath, IndexedObject>;
  /** Files of live objects that cannot be written now: they are left as they are. */
  readonly spared: ReadonlySet<FilePath>;
  readonly tree: Tree;
  /** Maps ids to the contents of blobs that were read; undefined: it is not one object. */
  readonly read: ReadonlyMap<string, FileContent | undefined>;
  /** Whether a file without a live object may be deleted, without its kind at first, and then by it; see {@link mayDelete}. */
  readonly mayDelete: (layout: Layout, kind?: string) => boolean;
  /** Whether objects of the resource are written in this version. */
  readonly isWritten: (layout: Layout) => boolean;
}

/** A change of one file. */
export interface FileChange {
  readonly operation: Operation;
  readonly path: FilePath;
}

export interface Plan {
  readonly changes: readonly FileChange[];
  /** Blobs that have to be read before it is known whether their files change. */
  readonly toRead: readonly string[];
  /** Files that cannot be written, each with what is in the way. */
  readonly conflicts: readonly { readonly path: FilePath; readonly because: string }[];
}

/** Decides about the file of an object: created, updated, unchanged, or to be read first. */
const verdictOn = (path: FilePath, object: IndexedObject, { tree, read }: Compared): Operation | "same" | "read" => {
  const entry = tree.get(path);
  if (entry === undefined) return "CREATE";
  if (entry.id === object.blob) return "same";
  if (!read.has(entry.id)) return "read";
  return read.get(entry.id)?.fingerprint === object.fingerprint ? "same" : "UPDATE";
};

/** Whether a file has the object that its path promises. Others may be there, such as a `kustomization.yaml`. */
export const isAsPromised = (
  relative: string,
  { group, version, namespace }: Layout,
  content: Pick<FileContent, "apiVersion" | "namespace" | "name">,
): boolean =>
  content.apiVersion === (group === "" ? version : `${group}/${version}`) &&
  content.namespace === namespace &&
  isFileOf(relative, content.name);

/** Matches configuration of a tool, which is no object of the cluster, even if it has a name. */
const OF_TOOLS = /(?:^|\/)kustomization\.yaml$/u;

/** Whether the path can only be that of one object's file. */
const isOwnPath = (path: FilePath, layout: Layout, { folder, isWritten }: Compared): boolean => {
  const name = nameOf(relativeTo(folder, path));
  return name !== undefined && isWritten(layout) && objectPath(folder, { ...layout, name }) === path;
};

/** Decides about a file without a live object: deleted, none of ours, or to be read first. */
const verdictOnOrphan = (path: FilePath, id: string, compared: Compared): "DELETE" | "other" | "read" => {
  const relative = relativeTo(compared.folder, path);
  const layout = layoutOf(relative);
  // One of two nested folders has objects at such a path, never both, but for the layout of upstream.
  const isOthers =
    !isWrittenLayout(relative) && compared.otherFolders.some((other) => isWrittenLayout(relativeTo(other, path)));
  if (layout === undefined || isOthers || !compared.mayDelete(layout)) return "other";
  if (!compared.read.has(id)) return "read";
  const content = compared.read.get(id);
  if (content === undefined) return "other";
  const isOfIt = isAsPromised(relative, layout, content) && compared.mayDelete(layout, content.kind);
  return isOfIt || (isOwnPath(path, layout, compared) && !OF_TOOLS.test(relative)) ? "DELETE" : "other";
};

/**
 * Plans the changes of the tree after which it says what is live.
 *
 * Guarantees: with these changes, the tree needs no other; a file that says the same in other words is left as it is; nothing is
 *             deleted but files of objects, where {@link mayDelete} allows it, also where the file of one has another; nothing is
 *             written through or over what is no file.
 * Assumes:    blobs that `read` lacks are read, and then it is called again.
 */
export const planned = (compared: Compared): Plan => {
  const { folder, index, spared, tree } = compared;
  const obstacle = obstacles(tree);
  const changes: FileChange[] = [];
  const toRead = new Set<string>();
  const conflicts: { readonly path: FilePath; readonly because: string }[] = [];
  for (const [path, object] of index) {
    const because = obstacle(path);
    if (because !== undefined) {
      conflicts.push({ path, because });
      continue;
    }
    const verdict = verdictOn(path, object, compared);
    if (verdict === "read") toRead.add(tree.get(path)?.id ?? "");
    else if (verdict !== "same" && object.operations.has(verdict)) changes.push({ operation: verdict, path });
  }
  for (const [text, entry] of tree) {
    const path = filePath(text);
    if (path === undefined || entry.kind !== "file" || !isWithin(folder, path)) continue;
    if (index.has(path) || spared.has(path)) continue;
    const verdict = verdictOnOrphan(path, entry.id, compared);
    if (verdict === "read") toRead.add(entry.id);
    else if (verdict === "DELETE") changes.push({ operation: "DELETE", path });
  }
  return { changes, toRead: [...toRead], conflicts };
};

/** The known resources of a destination. */
export interface Coverage {
  /** The selections of its Ready rules. */
  readonly rules: readonly SelectionRule[];
  /** The rules that it had before, in this process. */
  readonly formerRules: readonly SelectionRule[];
  readonly selected: readonly SelectedResource[];
  /** The keys of the resources that this process has a complete list of. */
  readonly complete: ReadonlySet<string>;
  /** The keys of the resources that are certainly not served. */
  readonly gone: Pick<ReadonlySet<string>, "has">;
  readonly settings: SelectionSettings;
}

/** Whether a plural may be of a kind, as policies of `Policy`: a Deployment in `apps/v1/base` is somebody else's file. */
const looksLikePlural = (plural: string, kind: string): boolean =>
  plural.startsWith(kind.toLowerCase().slice(0, Math.max(1, kind.length - 2)));

/**
 * Tells whether a file may be deleted because there is no live object of it.
 *
 * Guarantees: only after a complete list of exactly its resource, or when its resource is gone, or no rule selects it any more; only
 *             if its kind is that of the resource, as far as that can be told; only where a rule has DELETE; never for a destination
 *             without rules.
 */
export const mayDelete = ({ rules, formerRules, selected, complete, gone, settings }: Coverage) => {
  const kinds = new Map(selected.map((one) => [resourceKey(one), one.kind]));
  return ({ group, resource, namespace }: Layout, kind?: string): boolean => {
    const file = { group, plural: resource, namespace };
    const present = rulesAbout(rules, file, settings);
    const about = present.length > 0 ? present : rulesAbout(formerRules, file, settings);
    if (rules.length === 0 || !about.some(({ operations }) => operations.has("DELETE"))) return false;
    const key = resourceKey(file);
    const its = kinds.get(key);
    if (its !== undefined) return complete.has(key) && (kind ?? its) === its;
    return (gone.has(key) || present.length === 0) && (kind === undefined || looksLikePlural(resource, kind));
  };
};
