// The id that git gives a blob, so that files are compared without reading them.
import { sha1 } from "@noble/hashes/legacy.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";

/** The hash by which the repository names its objects. */
export type ObjectFormat = "sha1" | "sha256";

/** Returns the id of the blob: https://git-scm.com/book/en/v2/Git-Internals-Git-Objects#_object_storage */
export const blobId = (text: string, format: ObjectFormat): string => {
  const content = utf8ToBytes(text);
  const whole = concatBytes(utf8ToBytes(`blob ${content.length}\0`), content);
  return bytesToHex(format === "sha1" ? sha1(whole) : sha256(whole));
};
