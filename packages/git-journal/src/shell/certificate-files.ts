// Reads the certificate of the webhook from files that somebody else renews, such as cert-manager.
import { readFile } from "node:fs/promises";
import path from "node:path";
import { createSecureContext } from "node:tls";
import type { Clock } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import type { Pair } from "./read-certificates.ts";

export interface CertificateFiles {
  readonly directory: string;
  readonly certificate: string;
  readonly key: string;
}

/** The pause between two reads of the files, in ms: not every file system tells when a volume is exchanged. */
const EVERY = 10_000;

/** Reads the pair. Left: why the files are of no use, without what is in them. */
export const readPair = async (files: CertificateFiles): Promise<E.Either<string, Pair>> => {
  const [certificate, key] = [files.certificate, files.key].map((name) => path.join(files.directory, name));
  try {
    const [cert = "", own = ""] = await Promise.all([certificate, key].map((at) => readFile(at ?? "", "utf8")));
    createSecureContext({ cert, key: own });
    return E.right({ certificate: cert, key: own });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unreadable";
    return E.left(`${certificate} and ${key} are no certificate with its key: ${code}`);
  }
};

/**
 * Tells of the pair, at first and whenever it has changed.
 *
 * Guarantees: while the files are half written, or wrong, the last pair that was right is the one that was told.
 *
 * @returns a function that ends the reading
 */
export const watchPair = (
  files: CertificateFiles,
  onPair: (pair: Pair) => void,
  onProblem: (why: string) => void,
  clock: Clock,
): (() => void) => {
  let last: E.Either<string, Pair> | undefined;
  let isOver = false;
  let cancel: (() => void) | undefined;
  const isSame = (now: E.Either<string, Pair>): boolean => JSON.stringify(now) === JSON.stringify(last);
  const look = async (): Promise<void> => {
    const now = await readPair(files);
    if (isOver) return;
    if (!isSame(now)) E.match(onProblem, onPair)(now);
    last = now;
    cancel = clock.after(EVERY, () => void look());
  };
  void look();
  return () => {
    isOver = true;
    cancel?.();
  };
};
