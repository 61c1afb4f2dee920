// Encrypts the files of Secrets for recipients of age, and decrypts them with its private keys.
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { JsonObject } from "@janus/types";
import { armor, Decrypter, Encrypter } from "age-encryption";
import * as E from "fp-ts/lib/Either.js";
import type { ObjectFile } from "../core/kept-object.ts";
import { type FileKey, type Open, openSops, parseSops, type Seal, type SopsFile, sopsFile } from "../core/sops.ts";

const ALGORITHM = "aes-256-gcm";
const KEY_BYTES = 32;
/** The length of SOPS; others take 12. */
const IV_BYTES = 32;
/** The length of tags: Node would take shorter ones, too, which can be guessed. */
const TAG = { authTagLength: 16 };

const sealWith =
  (key: Uint8Array): Seal =>
  (text, place) => {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(ALGORITHM, key, iv, TAG).setAAD(Buffer.from(place));
    const data = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
    return { data, iv, tag: cipher.getAuthTag() };
  };

const openWith =
  (key: Uint8Array): Open =>
  ({ data, iv, tag }, place) => {
    try {
      const cipher = createDecipheriv(ALGORITHM, key, iv, TAG).setAAD(Buffer.from(place)).setAuthTag(tag);
      return Buffer.concat([cipher.update(data), cipher.final()]).toString("utf8");
    } catch {
      return undefined;
    }
  };

const keyFor = async (key: Uint8Array, recipient: string): Promise<FileKey> => {
  const encrypter = new Encrypter();
  encrypter.addRecipient(recipient);
  return { recipient, enc: armor.encode(await encrypter.encrypt(key)) };
};

/**
 * The text of an object's file: the data of a Secret are encrypted with a key of this text alone, and that for each recipient.
 *
 * Assumes: the recipients are those of `secretsOf`, which are checked.
 */
export const fileText = async (file: ObjectFile): Promise<string> => {
  if (file.type === "plain") return file.text;
  const key = randomBytes(KEY_BYTES);
  const keys = await Promise.all(file.recipients.map((recipient) => keyFor(key, recipient)));
  const data = Object.keys(file.data).length === 0 ? {} : { data: file.data };
  const lastModified = `${new Date().toISOString().slice(0, "2026-01-01T00:00:00".length)}Z`;
  return sopsFile({ ...file.file, ...data }, { seal: sealWith(key), keys, lastModified });
};

/** The key of a file, by the first recipient whose private key is among these. */
const keyOf = async ({ keys }: SopsFile, identities: readonly string[]): Promise<Uint8Array | undefined> => {
  const decrypter = new Decrypter();
  for (const identity of identities) decrypter.addIdentity(identity);
  for (const { enc } of keys) {
    const key = await Promise.resolve()
      .then(() => decrypter.decrypt(armor.decode(enc)))
      .catch(() => undefined);
    if (key?.length === KEY_BYTES) return key;
  }
  return undefined;
};

/**
 * The object of a SOPS file, as `sops --decrypt` prints it.
 *
 * Guarantees: a file that was changed after it was encrypted is refused; no value and no key is in an error.
 * @param identities those of `identitiesOf`, which are checked
 */
export const decrypted = async (text: string, identities: readonly string[]): Promise<E.Either<string, JsonObject>> => {
  const file = parseSops(text);
  if (E.isLeft(file)) return file;
  const key = await keyOf(file.right, identities);
  if (key !== undefined) return openSops(file.right, openWith(key));
  const recipients = file.right.keys.map(({ recipient }) => recipient);
  return E.left(
    recipients.length === 0
      ? "it is encrypted for no key of age"
      : `none of the private keys is that of a recipient: ${recipients.join(", ")}`,
  );
};
