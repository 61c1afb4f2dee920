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

/** A selected live object, as far as its file goes. */
export interface IndexedObject {
  readonly operations: ReadonlySet<Operation>;
  /** Of what its file says. */
  readonly fingerprint: string;
  /** The id of its blob; absent for what is encrypted, and is another blob each time. */
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
  /** What the blobs say that were read, by their ids; undefined: it is not one object. */
  readonly read: ReadonlyMap<string, FileContent | undefined>;
  /** Whether the file of no live object may be deleted, before it is known of which kind it is, and then; see {@link mayDelete}. */
  readonly mayDelete: (layout: Layout, kind?: string) => boolean;
  /** Whether objects of it are written, in this version. */
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

/** The file of an object: created, updated, unchanged, or to be read first. */
const verdictOn = (path: FilePath, object: IndexedObject, { tree, read }: Compared): Operation | "same" | "read" => {
  const entry = tree.get(path);
  if (entry === undefined) return "CREATE";
  if (entry.id === object.blob) return "same";
  if (!read.has(entry.id)) return "read";
  return read.get(entry.id)?.fingerprint === object.fingerprint ? "same" : "UPDATE";
};

/** Whether a file is that of the object that its path promises. Others may be there, such as a `kustomization.yaml`. */
export const isAsPromised = (
  relative: string,
  { group, version, namespace }: Layout,
  content: Pick<FileContent, "apiVersion" | "namespace" | "name">,
): boolean =>
  content.apiVersion === (group === "" ? version : `${group}/${version}`) &&
  content.namespace === namespace &&
  isFileOf(relative, content.name);

/** Configuration of a tool, and not an object of the cluster, also where it has a name. */
const OF_TOOLS = /(?:^|\/)kustomization\.yaml$/u;

/** Whether only the file of one object can be at this path: it says that object, or there is none. */
const isOwnPath = (path: FilePath, layout: Layout, { folder, isWritten }: Compared): boolean => {
  const name = nameOf(relativeTo(folder, path));
  return name !== undefined && isWritten(layout) && objectPath(folder, { ...layout, name }) === path;
};

/** A file of which there is no live object: deleted, none of ours, or to be read first. */
const verdictOnOrphan = (path: FilePath, id: string, compared: Compared): "DELETE" | "other" | "read" => {
  const relative = relativeTo(compared.folder, path);
  const layout = layoutOf(relative);
  // Of two folders within each other only one has objects at such a path, but for the layout of upstream.
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
 * What has to be changed in the tree, so that it says what is live.
 *
 * Guarantees: made of these changes, the tree needs no other; a file that says the same in other words is left as it is; nothing is
 *             deleted but files of objects, where {@link mayDelete} allows it, also where the file of one has another; nothing is
 *             written through or over what is no file.
 * Assumes:    of `read`, that what it lacks is read, and then this asked again.
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

/** What is known of the resources of a destination. */
export interface Coverage {
  /** Of its Ready rules. */
  readonly rules: readonly SelectionRule[];
  /** Those that it had before, in this process. */
  readonly formerRules: readonly SelectionRule[];
  readonly selected: readonly SelectedResource[];
  /** Keys of the resources of which this process has a complete and successful list. */
  readonly complete: ReadonlySet<string>;
  /** Keys of the resources that are certainly not served. */
  readonly gone: Pick<ReadonlySet<string>, "has">;
  readonly settings: SelectionSettings;
}

/** Of `Policy` policies, of `Index` indices: a file elsewhere, such as a Deployment in `apps/v1/base`, is of somebody else. */
const looksLikePlural = (plural: string, kind: string): boolean =>
  plural.startsWith(kind.toLowerCase().slice(0, Math.max(1, kind.length - 2)));

/**
 * Whether a file may be deleted because there is no live object of it.
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
