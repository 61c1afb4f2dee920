// Writes commits as the input of git fast-import: they are made on a base, and kept in one ref until the server has them.
import { BOT, type GitIdentity } from "../commit-author.ts";
import type { FilePath } from "../path.ts";
import type { Commit, FileChange } from "./commit.ts";
import { pendingSubject } from "./pending.ts";
import { PENDING } from "./refs.ts";
import type { ObjectId } from "./object-id.ts";

const LINE_BREAKERS = /[\p{Cc}<>]/gu;

/** Writes an author or committer: whatever the names are, they end neither the line nor the address. */
const person = (role: "author" | "committer", { name, email }: GitIdentity, at: number): string =>
  `${role} ${name.replaceAll(LINE_BREAKERS, "").trim()} <${email.replaceAll(LINE_BREAKERS, "").trim()}> ${at} +0000\n`;

/** Writes content behind its length, so that nothing in it is read as a command. */
const data = (content: Uint8Array): Uint8Array =>
  Buffer.concat([Buffer.from(`data ${content.length}\n`), content, Buffer.from("\n")]);

/** Quotes a path that looks quoted; git reads others to the end of the line. No path has a backslash or control character. */
const quoted = (path: FilePath): string => (path.startsWith('"') ? `"${path.replaceAll('"', '\\"')}"` : path);

const changed = (change: FileChange): Uint8Array => {
  const path = quoted(change.path);
  if (change.to === "absent") return Buffer.from(`D ${path}\n`);
  if (change.to === "blob") return Buffer.from(`M 100644 ${change.blob} ${path}\n`);
  return Buffer.concat([Buffer.from(`M 100644 inline ${path}\n`), data(change.content)]);
};

/** Writes the input of `git fast-import --done` for blobs that nothing refers to yet. It prints their ids, in their order. */
export function* blobImport(contents: Iterable<Uint8Array>): Generator<Uint8Array> {
  yield Buffer.from("feature done\n");
  let n = 0;
  for (const content of contents) {
    n += 1;
    yield Buffer.from(`blob\nmark :${n}\n`);
    yield data(content);
    yield Buffer.from(`get-mark :${n}\n`);
  }
  yield Buffer.from("done\n");
}

/**
 * Writes the input of `git fast-import --force --done`, which prints the ids of these commits, in their order.
 *
 * Guarantees: the ref is set once all commits are there, and not at all if the input ends early; what it points to says on which
 *             base they are.
 * Assumes:    there is at least one commit, and at the base nothing is in the way of the paths.
 */
export function* fastImport(base: ObjectId | undefined, commits: readonly Commit[]): Generator<Uint8Array> {
  yield Buffer.from("feature done\n");
  for (const [n, { author, at, message, changes }] of commits.entries()) {
    const parent = n > 0 ? `from :${n}\n` : base === undefined ? "" : `from ${base}\n`;
    yield Buffer.from(
      `commit ${PENDING}\nmark :${n + 1}\n${person("author", author, at)}${person("committer", BOT, at)}`,
    );
    yield data(Buffer.from(message.replaceAll(/(?!\n)\p{Cc}/gu, "")));
    yield Buffer.from(parent);
    for (const change of changes) yield changed(change);
    yield Buffer.from(`\nget-mark :${n + 1}\n`);
  }
  const last = commits.at(-1)?.at ?? 0;
  yield Buffer.from(`commit ${PENDING}\n${person("committer", BOT, last)}`);
  yield data(Buffer.from(pendingSubject(base)));
  yield Buffer.from("\ndone\n");
}
