// Go's strings: bytes, each of them one code unit of a JavaScript string, so that lengths and indexes are those of Go.

const BEYOND_ASCII = /[^\p{ASCII}]/u;

export const isAscii = (text: string): boolean => !BEYOND_ASCII.test(text);

/** The bytes of a text in UTF-8. */
export const bytesOf = (text: string): string => (isAscii(text) ? text : Buffer.from(text, "utf8").toString("latin1"));

/** The text that is meant by bytes in UTF-8; what is none becomes U+FFFD. */
export const textOf = (bytes: string): string =>
  isAscii(bytes) ? bytes : Buffer.from(bytes, "latin1").toString("utf8");

export const INVALID_RUNE = 0xfffd;

/** A code point and how many bytes it takes. A byte that begins none is U+FFFD of size 1; past the end the size is 0. */
export interface Rune {
  readonly rune: number;
  readonly size: number;
}

const END: Rune = { rune: INVALID_RUNE, size: 0 };
const BROKEN: Rune = { rune: INVALID_RUNE, size: 1 };
const ASCII_RUNES: readonly Rune[] = Array.from({ length: 128 }, (_, rune) => ({ rune, size: 1 }));
const SMALLEST = [0, 0, 0x80, 0x800, 0x1_0000];

const isSurrogate = (rune: number): boolean => rune >= 0xd800 && rune <= 0xdfff;

export const runeAt = (bytes: string, at: number): Rune => {
  if (at >= bytes.length) return END;
  const first = bytes.charCodeAt(at);
  const ascii = ASCII_RUNES[first];
  if (ascii !== undefined) return ascii;
  const size =
    first >= 0xf0 && first < 0xf5 ? 4 : first >= 0xe0 && first < 0xf0 ? 3 : first >= 0xc2 && first < 0xe0 ? 2 : 1;
  if (size === 1 || at + size > bytes.length) return BROKEN;
  let rune = first & (0xff >> (size + 1));
  for (let n = 1; n < size; n++) {
    const next = bytes.charCodeAt(at + n);
    if ((next & 0xc0) !== 0x80) return BROKEN;
    rune = (rune << 6) | (next & 0x3f);
  }
  return rune < (SMALLEST[size] ?? 0) || rune > 0x10_ffff || isSurrogate(rune) ? BROKEN : { rune, size };
};

/** Each byte as a number. */
export const codesOf = (bytes: string): readonly number[] =>
  Array.from({ length: bytes.length }, (_, at) => bytes.charCodeAt(at));

export const runesOf = (bytes: string): number[] => {
  const runes: number[] = [];
  for (let at = 0; at < bytes.length; ) {
    const { rune, size } = runeAt(bytes, at);
    runes.push(rune);
    at += size;
  }
  return runes;
};

/** The bytes of one code point; those of U+FFFD for what is none. */
export const bytesOfRune = (rune: number): string =>
  rune >= 0 && rune < 0x80
    ? String.fromCharCode(rune)
    : bytesOf(String.fromCodePoint(rune < 0 || rune > 0x10_ffff || isSurrogate(rune) ? INVALID_RUNE : rune));

export const bytesOfRunes = (runes: readonly number[]): string => runes.map(bytesOfRune).join("");

/** As far as a code point reaches: from which byte on the last one is incomplete. */
export const completeLength = (bytes: string): number => {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes.charCodeAt(bytes.length - back);
    if ((byte & 0xc0) === 0x80) continue;
    const size = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return size > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
};
