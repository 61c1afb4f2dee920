// Finds what is wrong with a Profile without a cluster: what is left out, and what no function could use.
import { report } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { Profile } from "../api/profile.ts";

const LOCATIONS = ["s3Compliant", "gcs", "azure", "kopia"];
const CREDENTIALS = ["keyPair", "secret", "kopia"];

const absent = (text: string | undefined): boolean => text === undefined || text === "";

/** Text that must be one of these. */
const among = (path: string, all: readonly string[], text: string | undefined): readonly string[] =>
  absent(text)
    ? [`${path} is missing: it is one of ${all.join(", ")}`]
    : all.includes(text ?? "")
      ? []
      : [`${path} must be one of ${all.join(", ")}, not "${text}"`];

const credentialProblems = ({ type, keyPair, secret, kopiaServerSecret }: NonNullable<Profile["credential"]>) => [
  ...among("credential.type", CREDENTIALS, type),
  ...(type === "keyPair" && absent(keyPair?.secret?.name) ? ["credential.keyPair.secret.name is missing"] : []),
  ...(type === "secret" && absent(secret?.name) ? ["credential.secret.name is missing"] : []),
  ...(type === "kopia" && kopiaServerSecret === undefined ? ["credential.kopiaServerSecret is missing"] : []),
];

/** @param value the object as it was read: a Profile */
export const profileProblems = (value: unknown): readonly string[] => {
  const decoded = Profile.decode(value);
  if (E.isLeft(decoded)) return [report(decoded.left)];
  const { location = {}, credential = {} } = decoded.right;
  const { type, bucket } = location;
  return [
    ...among("location.type", LOCATIONS, type),
    ...(type !== "kopia" && absent(bucket) ? ["location.bucket is missing"] : []),
    ...credentialProblems(credential),
  ];
};
