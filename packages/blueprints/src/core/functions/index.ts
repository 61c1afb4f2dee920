// The functions of blueprints by name.
import type { KanisterFunction } from "../phase-context.ts";
import { backupDataAll } from "./backup-data-all.ts";
import { backupData } from "./backup-data.ts";
import { backupDataStats } from "./backup-data-stats.ts";
import { checkRepository } from "./check-repository.ts";
import { copyVolumeData } from "./copy-volume-data.ts";
import { deleteDataAll } from "./delete-data-all.ts";
import { deleteData } from "./delete-data.ts";
import { locationDelete } from "./location-delete.ts";
import { restoreDataAll } from "./restore-data-all.ts";
import { restoreData } from "./restore-data.ts";
import { createCsiSnapshotStatic } from "./create-csi-snapshot-static.ts";
import { createCsiSnapshot } from "./create-csi-snapshot.ts";
import { deleteCsiSnapshotContent } from "./delete-csi-snapshot-content.ts";
import { deleteCsiSnapshot } from "./delete-csi-snapshot.ts";
import { kubeExecAll } from "./kube-exec-all.ts";
import { kubeExec } from "./kube-exec.ts";
import { kubeOps } from "./kube-ops.ts";
import { kubeTask } from "./kube-task.ts";
import { multiContainerRun } from "./multi-container-run.ts";
import { prepareData } from "./prepare-data.ts";
import { restoreCsiSnapshot } from "./restore-csi-snapshot.ts";
import { scaleWorkload } from "./scale-workload.ts";
import { wait, waitV2 } from "./wait.ts";

/** The functions by name. Each is only called with arguments that were read by its own table. */
const FUNCTIONS = {
  BackupData: backupData,
  BackupDataAll: backupDataAll,
  BackupDataStats: backupDataStats,
  CheckRepository: checkRepository,
  CopyVolumeData: copyVolumeData,
  DeleteData: deleteData,
  DeleteDataAll: deleteDataAll,
  LocationDelete: locationDelete,
  RestoreData: restoreData,
  RestoreDataAll: restoreDataAll,
  CreateCSISnapshot: createCsiSnapshot,
  CreateCSISnapshotStatic: createCsiSnapshotStatic,
  DeleteCSISnapshot: deleteCsiSnapshot,
  DeleteCSISnapshotContent: deleteCsiSnapshotContent,
  KubeExec: kubeExec,
  KubeExecAll: kubeExecAll,
  KubeOps: kubeOps,
  KubeTask: kubeTask,
  MultiContainerRun: multiContainerRun,
  PrepareData: prepareData,
  RestoreCSISnapshot: restoreCsiSnapshot,
  ScaleWorkload: scaleWorkload,
  Wait: wait,
  WaitV2: waitV2,
};

/** Returns the arguments of functions, in a type of its own: the package for authors so has no other types in it. */
const tablesOf = <T>(functions: { readonly [Name in keyof T]: { readonly args: T[Name] } }): T =>
  Object.fromEntries(
    Object.entries<{ readonly args: unknown }>(functions).map(([name, { args }]) => [name, args]),
  ) as T;

/** The arguments of each function, for those who write Blueprints in TypeScript. */
export const argTables = tablesOf(FUNCTIONS);

export const functionNames: readonly string[] = Object.keys(FUNCTIONS);

/** The functions of Kanister: a Blueprint with one that is not built is no mistake; whoever uses that action is told. */
const OF_KANISTER: readonly string[] = [
  "BackupData",
  "BackupDataAll",
  "BackupDataStats",
  "CheckRepository",
  "CopyVolumeData",
  "CreateRDSSnapshot",
  "DeleteData",
  "DeleteDataAll",
  "DeleteRDSSnapshot",
  "ExportRDSSnapshotToLocation",
  "KubeExec",
  "KubeExecAll",
  "LocationDelete",
  "MultiContainerRun",
  "PrepareData",
  "RestoreData",
  "RestoreDataAll",
  "RestoreRDSSnapshot",
];

/** Functions that only Kanister has. */
export const notBuilt: readonly string[] = OF_KANISTER.filter((name) => !functionNames.includes(name));

export const functionOf = (name: string): KanisterFunction | undefined =>
  Object.hasOwn(FUNCTIONS, name)
    ? ((FUNCTIONS as Readonly<Record<string, unknown>>)[name] as KanisterFunction)
    : undefined;
