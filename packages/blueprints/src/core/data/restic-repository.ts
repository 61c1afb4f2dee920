// The environment of restic: which repository, its password, and the credentials for it, as Kanister has them.
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import * as E from "fp-ts/lib/Either.js";
import { revealed, type Text } from "../text.ts";
import { type BackupLocation, credentialOf, pairOf } from "./backup-location.ts";
import { SERVICE_KEY } from "./restic-commands.ts";

export type ResticEnv = Readonly<Record<string, string>>;

/** The password without an encryptionKey, known to all, and so no secret: backups that Kanister has made are read with it. */
const DEFAULT_PASSWORD = bytesToHex(sha256(utf8ToBytes("testpassword")));

/** The path of a repository begins with the bucket, whether or not the prefix of the artifacts names it. */
export const repositoryPath = (bucket: string, prefix: string): string => {
  const parts = prefix.split("/").filter((part) => part !== "");
  return (parts[0] === bucket ? parts : [bucket, ...parts]).join("/");
};

/** A bucket, and the path in it. */
const apart = (path: string): string => (path.includes("/") ? path.replace("/", ":/") : `${path}:/`);

const s3 = (place: BackupLocation, path: string): E.Either<string, ResticEnv> => {
  const { endpoint, region } = place.location;
  const host = (endpoint === undefined || endpoint === "" ? "s3.amazonaws.com" : endpoint).replace(/\/+$/u, "");
  return E.map(([id, secret]: readonly [string, string]) => ({
    RESTIC_REPOSITORY: `s3:${host}/${path}`,
    AWS_ACCESS_KEY_ID: id,
    AWS_SECRET_ACCESS_KEY: secret,
    ...(region === undefined || region === "" ? {} : { AWS_DEFAULT_REGION: region }),
  }))(pairOf(place, "aws_access_key_id", "aws_secret_access_key"));
};

const azure = (place: BackupLocation, path: string): E.Either<string, ResticEnv> =>
  E.map(([account, key]: readonly [string, string]) => ({
    RESTIC_REPOSITORY: `azure:${apart(path)}`,
    AZURE_ACCOUNT_NAME: account,
    AZURE_ACCOUNT_KEY: key,
  }))(pairOf(place, "azure_storage_account_id", "azure_storage_key"));

/** Restic reads the key of the service account from a file: the script writes it. See `restic-commands.ts`. */
const gcs = (place: BackupLocation, path: string): E.Either<string, ResticEnv> =>
  E.map(([project, key]: readonly [string, string]) => ({
    RESTIC_REPOSITORY: `gs:${apart(path)}`,
    GOOGLE_PROJECT_ID: project,
    [SERVICE_KEY]: key,
  }))(
    place.credential.keyPair === undefined
      ? pairOf(place, "project-id", "service-account.json")
      : pairOf(place, "project_id", "service_key"),
  );

/**
 * Makes the environment of restic, all of which is secret.
 *
 * Errors: a key that the Secret does not have; a kind of credentials or of storage that restic is not run with.
 */
export const resticEnv = (
  place: BackupLocation,
  prefix: string,
  encryptionKey: Text | undefined,
): E.Either<string, ResticEnv> => {
  const { shown, location } = place;
  const { type = "", bucket = "" } = location;
  if (bucket === "") return E.left(`Profile ${shown} names no bucket`);
  const path = repositoryPath(bucket, prefix);
  // kanctl writes the key in any case.
  if (E.exists((role: string) => role !== "")(credentialOf(place, "role")))
    return E.left(`Profile ${shown}: a role to be assumed is not supported: use a key pair`);
  const key = encryptionKey === undefined ? "" : revealed(encryptionKey);
  const withPassword = E.map((env: ResticEnv) => ({ ...env, RESTIC_PASSWORD: key === "" ? DEFAULT_PASSWORD : key }));
  switch (type) {
    case "s3Compliant":
      return withPassword(s3(place, path));
    case "azure":
      return withPassword(azure(place, path));
    case "gcs":
      return withPassword(gcs(place, path));
    default:
      return E.left(`Profile ${shown}: restic is run with locations of type s3Compliant, gcs or azure, not "${type}"`);
  }
};
