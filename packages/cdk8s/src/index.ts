// Constructs that define Transactions, Blueprints and objects of the Git journal in a cdk8s app, for authors.
export {
  type ChangeManifest,
  type Manifest,
  parse,
  type Parsed,
  type SpecManifest,
  type TargetManifest,
  type TransactionManifest,
} from "@janus/authoring";
export { type ActionObject, type ActionProps, ActionSet, type ActionSetProps, type NamedObject } from "./action-set.ts";
export { Artifact } from "./artifact.ts";
export { Blueprint, type BlueprintActionProps, type BlueprintProps } from "./blueprint.ts";
export { Change, type ChangeOptions, type ExistingObjectOptions, type ObjectRef } from "./change.ts";
export type { Gate } from "./gate.ts";
export { GitDestination, type GitDestinationProps } from "./git-destination.ts";
export type { JournalObjectName, JournalSelector } from "./git-journal-object.ts";
export { GitRepoConfig, type GitRepoConfigProps } from "./git-repo-config.ts";
export { type FunctionArgs, type FunctionName, functions, Phase, type PhaseObject, type PhaseProps } from "./phase.ts";
export {
  Profile,
  type ProfileCredential,
  type ProfileLocation,
  type ProfileProps,
  type SecretRef,
} from "./profile.ts";
export type { Time } from "./time.ts";
export { Transaction } from "./transaction.ts";
export { TransactionPermissions, type TransactionPermissionsProps } from "./transaction-permissions.ts";
export type { TransactionOptions, TransactionProps, WholeChartProps } from "./transaction-props.ts";
export {
  type ClusterJournalRule,
  ClusterWatchRule,
  type ClusterWatchRuleProps,
  type JournalRule,
  WatchRule,
  type WatchRuleProps,
} from "./watch-rule.ts";
