// The command edit: opens the spec of a Draft in an editor.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { API_VERSION, KIND, LAST_EDITED_BY, transactions } from "@janus/api";
import { messageOf, equal } from "@janus/types";
import type { KubeObject } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { type Cluster, type ClusterFlags, onCluster } from "../cluster/cluster.ts";
import { createContents } from "../cluster/create-contents.ts";
import { readTransaction, type Stored } from "../cluster/transactions.ts";
import { readUserName } from "../cluster/user-name.ts";
import { Failure } from "../failure.ts";
import { contentsAside } from "../manifests/contents-aside.ts";
import { editableText, editedSpec } from "../manifests/editable.ts";
import { type Located, parseManifests, readManifests } from "../manifests/read-manifests.ts";
import { outputTo } from "../output/style.ts";
import { exitWith } from "./exit-with.ts";
import { command } from "./flags.ts";
import { nameAndNamespace, refuseIn } from "./lifecycle.ts";

interface EditFlags extends ClusterFlags {
  readonly filename?: string;
}

const VI = "vi";

/** Finds the editor as `kubectl edit` does. */
const editorOf = ({ KUBE_EDITOR: own = "", EDITOR: general = "" }: NodeJS.ProcessEnv): string => own || general || VI;

/**
 * Errors: if the editor cannot be started, or fails, as `:cq` of vi does; if none is chosen, and there is no terminal: vi would
 * wait forever for a user who types.
 */
const openEditor = (file: string): void => {
  const editor = editorOf(process.env);
  if (editor === VI && !process.stdin.isTTY)
    throw new Failure("the standard input is not a terminal: add -f FILE, or set KUBE_EDITOR");
  // By the shell: it may have arguments, such as `code --wait`.
  const { status, error } = spawnSync("sh", ["-c", `${editor} "$1"`, "sh", file], { stdio: "inherit" });
  if (error !== undefined) throw new Failure(`the editor ${editor} cannot be started: ${error.message}`);
  if (status !== 0) throw new Failure(`the editor ${editor} ended with code ${status}: set KUBE_EDITOR to choose one`);
};

/**
 * Replaces the spec of the very Draft that was read.
 *
 * Guarantees: overwrites no edit of another user. What the controller writes meanwhile, such as a render, is none.
 *
 * @returns whether that is another spec than before.
 * Errors: if another user has edited or moved it; if the API server refuses.
 */
const save = async (cluster: Cluster, { txn, object }: Stored, spec: object): Promise<boolean> => {
  const { namespace, name } = txn.metadata;
  const what = `cannot edit Transaction ${namespace}/${name}`;
  const user = await readUserName(cluster);
  const put = (body: KubeObject, dryRun: boolean) =>
    cluster.api.send({
      verb: "update",
      resource: transactions,
      namespace,
      name,
      body,
      fieldManager: "kubectl-janus",
      dryRun,
    });
  const edited = ({ metadata, ...rest }: KubeObject): KubeObject => {
    const { [LAST_EDITED_BY]: _, ...others } = metadata.annotations ?? {};
    const annotations = user === null ? others : { ...others, [LAST_EDITED_BY]: user };
    return { ...rest, metadata: { ...metadata, annotations }, spec };
  };
  if (equal(spec, object["spec"])) return false;
  for (let seen = object; ; ) {
    // With the defaults, which a manifest may leave out. It names no user: who edits nothing is not recorded.
    const tried = await put({ ...seen, spec }, true);
    if (E.isRight(tried) && equal(tried.right["spec"], object["spec"])) return false;
    const answer = await put(edited(seen), false);
    if (E.isRight(answer)) return true;
    const { left: error } = answer;
    if (error.type !== "refused" || error.reason !== "Conflict") throw new Failure(`${what}: ${messageOf(error)}`);
    const now = await readTransaction(cluster, name);
    if (now.txn.metadata.uid !== txn.metadata.uid || !equal(now.object["spec"], object["spec"]))
      throw new Failure(
        `${what}: another user has edited or proposed it, or created it again, since it was read: start again from the current version`,
      );
    seen = now.object;
  }
};

/** Saves what the manifests make of it. @returns whether that is another spec than before. */
const saveEdited = async (cluster: Cluster, stored: Stored, edited: readonly Located[]): Promise<boolean> => {
  const spec = editedSpec(edited, stored.txn);
  if (spec === undefined) return false;
  const { name, uid, namespace } = stored.txn.metadata;
  const aside = contentsAside({ apiVersion: API_VERSION, kind: KIND, metadata: { name }, spec }, namespace);
  await createContents(cluster, aside.objects, { name, uid });
  return save(cluster, stored, aside.manifest.spec);
};

/** {@link saveEdited} of what the user writes in an editor. Errors: say where that is kept. */
const saveFromEditor = async (cluster: Cluster, stored: Stored): Promise<boolean> => {
  const before = editableText(stored.object);
  const file = join(mkdtempSync(join(tmpdir(), "kubectl-janus-")), `${stored.txn.metadata.name}.yaml`);
  writeFileSync(file, before, { mode: 0o600 });
  // One that the editor has deleted, or emptied, is no edit, as for kubectl.
  const written = (): Buffer => (existsSync(file) ? readFileSync(file) : Buffer.from(""));
  const isEdited = (): boolean => !["", before].includes(written().toString());
  const remove = (): void => rmSync(dirname(file), { recursive: true });
  try {
    openEditor(file);
    const isSaved = isEdited() && (await saveEdited(cluster, stored, parseManifests(written(), file)));
    remove();
    return isSaved;
  } catch (error) {
    if (error instanceof Failure && isEdited())
      throw new Failure(
        `${error.message}\nWhat you wrote is kept in ${file}. When it is right: ` +
          `kubectl janus edit ${nameAndNamespace(stored.txn)} -f ${file}`,
      );
    remove();
    throw error;
  }
};

const edit = (name: string, { filename, ...flags }: EditFlags): Promise<number> =>
  onCluster(flags, async (cluster) => {
    const stored = await readTransaction(cluster, name);
    const { txn } = stored;
    refuseIn(txn, {
      Proposed: (on) => `it cannot be edited. To set it back to Draft: kubectl janus reject ${on}`,
      Published: () => "its spec cannot be changed. Create a new Transaction instead",
    });
    const isSaved =
      filename === undefined
        ? await saveFromEditor(cluster, stored)
        : await saveEdited(cluster, stored, await readManifests({ filename: [filename] }));
    const on = nameAndNamespace(txn);
    outputTo(process.stdout).write(
      isSaved
        ? `Transaction ${cluster.namespace}/${name} is edited.\n` +
            `To see what it would do now:  kubectl janus describe ${on}\n` +
            `To propose it:                kubectl janus propose ${on}\n`
        : "Edit cancelled: nothing was changed.\n",
    );
    return 0;
  });

export const editCommand = command("edit")
  .argument("<name>", "name of the Transaction, which has to be a Draft")
  .option("-f, --filename <path>", "take its spec from this manifest, or - for the standard input")
  .addHelpText(
    "after",
    `
Opens $KUBE_EDITOR, $EDITOR or vi, as kubectl edit does. Nothing is locked: if
another user edits the Draft at the same time, the later edit is refused, and
what was written is kept in a file.

Examples:
  KUBE_EDITOR="code --wait" kubectl janus edit v2
  kubectl janus plan -f shop/ --name v2 -o yaml | kubectl janus edit v2 -f -`,
  )
  .action((name: string, flags: EditFlags) => exitWith(edit(name, flags)));
