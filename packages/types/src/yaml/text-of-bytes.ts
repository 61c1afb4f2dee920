// Decodes the bytes of a file as UTF-8 or UTF-16.
import { YamlError } from "./yaml-error.ts";

const MARKS: readonly (readonly [encoding: string, mark: readonly number[]])[] = [
  ["utf-8", [0xef, 0xbb, 0xbf]],
  ["utf-16le", [0xff, 0xfe]],
  ["utf-16be", [0xfe, 0xff]],
];

const decode = (encoding: string, bytes: Uint8Array): string =>
  new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes);

/**
 * The text of a file: UTF-8, or UTF-16 if it begins with a byte order mark, as editors of Windows write it.
 *
 * Errors: {@link YamlError} for bytes that are no text, which kubectl would replace by `\uFFFD`.
 */
export const textOfBytes = (bytes: Uint8Array): string => {
  const [encoding, mark] = MARKS.find(([, mark]) => mark.every((byte, at) => bytes[at] === byte)) ?? ["utf-8", []];
  try {
    return decode(encoding, bytes.subarray(mark.length));
  } catch {
    throw new YamlError(`the file is not ${encoding.toUpperCase()}: save it as UTF-8`, { line: 1, column: 1 });
  }
};
