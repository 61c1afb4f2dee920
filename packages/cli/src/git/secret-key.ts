// Decrypts Secrets in Git with the key of the user: SOPS_AGE_KEY_FILE, as for sops itself.
import type { ObjectFileVerdict } from "@janus/git-journal/way-back";

type Encrypted = Extract<ObjectFileVerdict, { readonly is: "encrypted" }>;

/** As it is, without a key. */
export const decryptedSecret = async (_: string, verdict: Encrypted): Promise<ObjectFileVerdict> => verdict;
