// The latest texts of files, bounded: what is not here any more is read from the API server again.
import type { ObjectFile } from "../core/kept-object.ts";

/** The most bytes that are kept: by the default limits, one push has some 20 MiB. */
const MOST = 48 * 1024 * 1024;

export interface FileTexts {
  readonly put: (fingerprint: string, file: ObjectFile) => void;
  /** The text of a file; undefined: it is not here, or not encrypted yet. */
  readonly textOf: (fingerprint: string) => Uint8Array | undefined;
  /** Encrypts those of these files that are here. */
  readonly prepare: (fingerprints: Iterable<string>) => Promise<void>;
}

interface Kept {
  readonly file: ObjectFile;
  readonly size: number;
  readonly text?: Uint8Array;
}

const sizeOf = (file: ObjectFile): number =>
  file.type === "plain" ? Buffer.byteLength(file.text) : Buffer.byteLength(JSON.stringify([file.file, file.data])) * 2;

/** @param write makes the text of a file, encrypted where it has to be */
export const fileTexts = (write: (file: ObjectFile) => Promise<string>, most = MOST): FileTexts => {
  /** Keeps the order of use: the one that was put or prepared last is the last. */
  const kept = new Map<string, Kept>();
  let size = 0;

  const set = (fingerprint: string, one: Kept): void => {
    size -= kept.get(fingerprint)?.size ?? 0;
    kept.delete(fingerprint);
    kept.set(fingerprint, one);
    size += one.size;
    for (const [oldest, { size: freed }] of kept) {
      if (size <= most || oldest === fingerprint) break;
      kept.delete(oldest);
      size -= freed;
    }
  };

  return {
    put: (fingerprint, file) => {
      const former = kept.get(fingerprint);
      set(fingerprint, former ?? { file, size: sizeOf(file) });
    },
    textOf: (fingerprint) => {
      const one = kept.get(fingerprint);
      return one?.text ?? (one?.file.type === "plain" ? Buffer.from(one.file.text) : undefined);
    },
    prepare: async (fingerprints) => {
      for (const fingerprint of fingerprints) {
        const one = kept.get(fingerprint);
        if (one === undefined || one.text !== undefined || one.file.type === "plain") continue;
        set(fingerprint, { ...one, text: Buffer.from(await write(one.file)) });
      }
    },
  };
};
