// Profiles and backups in an S3 server, for the suites of functions that move data.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { administrator, type Manifest } from "../fixtures/administrator.ts";
import { roleBinding, secret, within } from "../fixtures/manifests.ts";
import type { ObjectStorage } from "../fixtures/object-storage.ts";
import { API_VERSION } from "./objects.ts";

export const profileOf = (storage: ObjectStorage): Manifest => ({
  apiVersion: API_VERSION,
  kind: "Profile",
  metadata: { name: "s3" },
  location: { type: "s3Compliant", bucket: storage.bucket, endpoint: storage.endpoint },
  credential: { type: "keyPair", keyPair: { secret: { name: "s3-secret" } } },
});

export const secretOf = (storage: ObjectStorage): Manifest =>
  secret("s3-secret", { aws_access_key_id: storage.id, aws_secret_access_key: storage.secret });

/** Of the ServiceAccount: the ClusterRole `admin` has no Profiles. */
export const profileReader = (own: string): readonly Manifest[] => [
  {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "Role",
    metadata: { name: "profiles" },
    rules: [{ apiGroups: ["cr.kanister.io"], resources: ["profiles"], verbs: ["get"] }],
  },
  roleBinding("profiles", "Role", "profiles", `${own}/ops`),
];

/** All that an action with a Profile needs. */
export const createProfile = async (namespace: string, storage: ObjectStorage): Promise<void> => {
  for (const one of [...profileReader(namespace), secretOf(storage), profileOf(storage)])
    await administrator.create(within(namespace, one));
};

/** The tags of all backups in a repository, without a password of its own; undefined: there is no repository. */
export const tagsIn = async (storage: ObjectStorage, prefix: string): Promise<readonly string[] | undefined> => {
  const env = {
    PATH: process.env["PATH"] ?? "",
    RESTIC_REPOSITORY: `s3:${storage.endpoint}/${storage.bucket}/${prefix}`,
    RESTIC_PASSWORD: createHash("sha256").update("testpassword").digest("hex"),
    RESTIC_CACHE_DIR: "/nonexistent",
    AWS_ACCESS_KEY_ID: storage.id,
    AWS_SECRET_ACCESS_KEY: storage.secret,
  };
  const listed = await promisify(execFile)("restic", ["snapshots", "--no-cache", "--json"], { env }).catch(
    () => undefined,
  );
  if (listed === undefined) return undefined;
  const all = JSON.parse(listed.stdout) as readonly { readonly tags?: readonly string[] }[];
  return all.flatMap(({ tags = [] }) => tags);
};
