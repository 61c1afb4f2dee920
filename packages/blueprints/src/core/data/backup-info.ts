// The backups of several Pods as one output: BackupAllInfo, as Kanister writes and reads it.
import { asObject, type Json } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import type { PodBackup } from "./backup-in-pods.ts";

/** Writes backups by the names of their Pods, in the order of these. */
export const writeBackupInfo = (backups: readonly PodBackup[]): string =>
  JSON.stringify(
    Object.fromEntries(
      backups
        .toSorted((one, other) => (one.pod < other.pod ? -1 : 1))
        .map(({ pod, tag, backup }) => [pod, { PodName: pod, BackupID: backup.backupID, BackupTag: tag }]),
    ),
  );

const parsed = (text: string): E.Either<string, Json> =>
  E.tryCatch(
    () => JSON.parse(text) as Json,
    () => "args.backupInfo is no JSON: it must be the output BackupAllInfo of BackupDataAll",
  );

/** The IDs of backups by the names of the Pods. Left: what is wrong with it. */
export const readBackupInfo = (text: string): E.Either<string, ReadonlyMap<string, string>> =>
  E.flatMap(parsed(text), (all) =>
    E.map((entries: readonly (readonly [string, string])[]) => new Map(entries))(
      E.traverseArray(([pod, one]: readonly [string, Json]) => {
        const { BackupID: id } = asObject(one);
        return typeof id === "string" && id !== ""
          ? E.right([pod, id] as const)
          : E.left(`args.backupInfo has no BackupID for Pod ${pod}`);
      })(Object.entries(asObject(all))),
    ),
  );
