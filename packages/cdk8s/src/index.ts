export {
  type ChangeManifest,
  type Manifest,
  parse,
  type Parsed,
  type SpecManifest,
  type TargetManifest,
  type TransactionManifest,
} from "@janus/authoring";
export { Change, type ChangeOptions, type ExistingObjectOptions, type ObjectRef } from "./change.ts";
export type { Time } from "./time.ts";
export { Transaction, type TransactionOptions, type TransactionProps, type WholeChartProps } from "./transaction.ts";
export { TransactionPermissions, type TransactionPermissionsProps } from "./transaction-permissions.ts";
