// sprig's functions of encodings, hashes, paths and what is generated at random.
import { createHash } from "node:crypto";
import path from "node:path";
import { bool, text } from "../value.ts";
import { type FunctionContext, type FunctionTable, intOf, refused, type Strict, stringOf } from "./function.ts";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

const base32 = (value: Uint8Array): string => {
  const bits = [...value].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  const letters = (bits.match(/.{1,5}/gu) ?? [])
    .map((five) => ALPHABET[Number.parseInt(five.padEnd(5, "0"), 2)])
    .join("");
  return letters.padEnd(Math.ceil(letters.length / 8) * 8, "=");
};

const fromBase32 = (value: string): string => {
  if (!/^[A-Z2-7]*=*$/u.test(value) || value.length % 8 !== 0) return "illegal base32 data at input byte 0";
  const bits = Array.from(value.replaceAll("=", ""), (letter) =>
    ALPHABET.indexOf(letter).toString(2).padStart(5, "0"),
  ).join("");
  return Buffer.from((bits.match(/.{8}/gu) ?? []).map((byte) => Number.parseInt(byte, 2))).toString();
};

const isBase64 = (value: string): boolean =>
  /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/u.test(value);

const onText = (make: (value: string) => string): Strict => ({
  arity: [1, 1],
  call: ([value]) => text(make(stringOf(value))),
});

const hashed =
  (algorithm: string) =>
  (value: string): string =>
    createHash(algorithm).update(value).digest("hex");

const adler32 = (value: string): string => {
  let [a, b] = [1, 0];
  for (const byte of Buffer.from(value)) {
    a = (a + byte) % 65_521;
    b = (b + a) % 65_521;
  }
  return `${((b << 16) | a) >>> 0}`;
};

/** Bytes that follow from the seed, other ones for each draw. */
const drawn = (context: FunctionContext, count: number): Buffer => {
  context.spend(count);
  const all: Buffer[] = [];
  for (let length = 0; length < count; length += 32) {
    context.drawn += 1;
    all.push(createHash("sha256").update(`${context.seed}/${context.drawn}`).digest());
  }
  return Buffer.concat(all).subarray(0, count);
};

const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const DIGITS = "0123456789";
const PRINTABLE = Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at)).join("");

const random = (letters: string): Strict => ({
  arity: [1, 1],
  call: ([count], context) =>
    text(
      [...drawn(context, 2 * Math.max(0, Math.min(intOf(count), 100_000)))].reduce(
        (all, byte, at, bytes) =>
          at % 2 === 0 ? all + letters[(byte * 256 + (bytes[at + 1] ?? 0)) % letters.length] : all,
        "",
      ),
    ),
});

const cleaned = (value: string): string => {
  const clean = path.posix.normalize(value === "" ? "." : value);
  return clean.length > 1 && clean.endsWith("/") ? clean.slice(0, -1) : clean;
};

const baseOf = (value: string): string =>
  value === "" ? "." : /^\/+$/u.test(value) ? "/" : path.posix.basename(value);

const extOf = (value: string): string => {
  const name = value.slice(value.lastIndexOf("/") + 1);
  const dot = name.lastIndexOf(".");
  return dot === -1 ? "" : name.slice(dot);
};

const dirOf = (value: string): string => cleaned(value.slice(0, value.lastIndexOf("/") + 1));

const NOT_HERE = "it is not supported: a Blueprint reads nothing of the controller, and makes no keys there";

export const encodings: FunctionTable = {
  b64enc: onText((value) => Buffer.from(value).toString("base64")),
  b64dec: onText((value) => {
    const clean = value.replaceAll(/[\r\n]/gu, "");
    if (isBase64(clean)) return Buffer.from(clean, "base64").toString();
    const bad = /[^A-Za-z0-9+/]/u.exec(clean)?.index ?? clean.length - (clean.length % 4);
    return `illegal base64 data at input byte ${bad}`;
  }),
  b32enc: onText((value) => base32(Buffer.from(value))),
  b32dec: onText(fromBase32),
  sha1sum: onText(hashed("sha1")),
  sha256sum: onText(hashed("sha256")),
  adler32sum: onText(adler32),
  base: onText(baseOf),
  dir: onText(dirOf),
  clean: onText(cleaned),
  ext: onText(extOf),
  isAbs: { arity: [1, 1], call: ([value]) => bool(stringOf(value).startsWith("/")) },
  hello: { arity: [0, 0], call: () => text("Hello!") },
  uuidv4: {
    arity: [0, 0],
    call: (_, context) => {
      const bytes = drawn(context, 16);
      bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
      bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
      return text(bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/u, "$1-$2-$3-$4-$5"));
    },
  },
  randAlphaNum: random(LETTERS + DIGITS),
  randAlpha: random(LETTERS),
  randNumeric: random(DIGITS),
  randAscii: random(PRINTABLE),
  shuffle: {
    arity: [1, 1],
    call: ([value], context) => {
      const letters = Array.from(stringOf(value));
      const bytes = drawn(context, 2 * letters.length);
      for (let at = letters.length - 1; at > 0; at -= 1) {
        const other = ((bytes[2 * at] ?? 0) * 256 + (bytes[2 * at + 1] ?? 0)) % (at + 1);
        [letters[at], letters[other]] = [letters[other] ?? "", letters[at] ?? ""];
      }
      return text(letters.join(""));
    },
  },
  ...Object.fromEntries(
    [
      "env",
      "expandenv",
      "getHostByName",
      "derivePassword",
      "genPrivateKey",
      "buildCustomCert",
      "genCA",
      "genSelfSignedCert",
      "genSignedCert",
      "encryptAES",
      "decryptAES",
    ].map((name) => [name, refused(NOT_HERE)]),
  ),
};
