// Encodes and decodes base64 without Node.

/** Encodes the UTF-8 bytes of a text. */
export const toBase64 = (text: string): string =>
  btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCodePoint(byte)).join(""));

/** `undefined` if it is not base64. A byte order mark is part of the text. */
export const fromBase64 = (text: string): string | undefined => {
  try {
    const bytes = atob(text);
    const at = Uint8Array.from({ length: bytes.length }, (_, index) => bytes.charCodeAt(index));
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(at);
  } catch {
    return undefined;
  }
};
