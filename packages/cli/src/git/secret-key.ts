// Decrypts Secrets in Git with the key of the user: SOPS_AGE_KEY_FILE, as for sops itself.
import { readFileSync } from "node:fs";
import { decrypted, identitiesOf, type ObjectFileVerdict } from "@janus/git-journal/way-back";
import { reasonOf } from "@janus/kube";
import { isKubeObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { Failure } from "../failure.ts";

const identitiesIn = (file: string): readonly string[] => {
  const named = `SOPS_AGE_KEY_FILE (${file})`;
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new Failure(`cannot read ${named}: ${reasonOf(error)}`);
  }
  const identities = identitiesOf(text);
  if (E.isRight(identities)) return identities.right;
  throw new Failure(`${named}: ${identities.left}`);
};

type Encrypted = Extract<ObjectFileVerdict, { readonly is: "encrypted" }>;

/** The Secret with its data; as it is, if the user has named no key. Errors: if the key file is none. */
export const decryptedSecret = async (text: string, encrypted: Encrypted): Promise<ObjectFileVerdict> => {
  const { SOPS_AGE_KEY_FILE: file = "" } = process.env;
  if (file === "") return encrypted;
  const object = await decrypted(text, identitiesIn(file));
  if (E.isLeft(object)) return { is: "wrong", why: object.left };
  return isKubeObject(object.right) ? { is: "object", object: object.right } : { is: "wrong", why: "it is no Secret" };
};
