// The construct of a GitRepoConfig: a repository of the Git journal.
import type { ApiObject, ApiObjectMetadata } from "cdk8s";
import { Construct } from "constructs";
import { journalObject, type JournalSelector } from "./git-journal-object.ts";

export interface GitRepoConfigProps {
  /** https, http, ssh, or user@host:path. */
  readonly repoUrl: string;
  /**
   * Branches that destinations may write.
   *
   * @default - `branch` alone
   */
  readonly allowedBranches?: readonly string[];
  /**
   * A further one of them, and that of rules that name the repository directly.
   *
   * @default - the first of `allowedBranches`
   */
  readonly branch?: string;
  /**
   * The Secret with the credentials.
   *
   * @default - none
   */
  readonly secretRef?: { readonly name: string };
  /**
   * When changes are pushed.
   *
   * @default - as the flags of the controller say, at most 20 commits at a time
   */
  readonly push?: { readonly interval?: string; readonly maxCommits?: number };
  /**
   * Which rules may write here.
   *
   * @default - WatchRules of the same namespace
   */
  readonly accessPolicy?: {
    readonly namespacedRules?: {
      readonly mode?: "SameNamespace" | "AllNamespaces" | "FromSelector";
      readonly namespaceSelector?: JournalSelector;
    };
    readonly allowClusterRules?: boolean;
  };
  /** @default - a name from its path, namespace and labels of the chart */
  readonly metadata?: ApiObjectMetadata;
}

/** A repository, its branches, its credentials, and who may write there. */
export class GitRepoConfig extends Construct {
  /** The object that is printed. */
  readonly apiObject: ApiObject;

  constructor(scope: Construct, id: string, { metadata, ...spec }: GitRepoConfigProps) {
    super(scope, id);
    this.apiObject = journalObject(this, "GitRepoConfig", spec, metadata);
  }

  get name(): string {
    return this.apiObject.name;
  }

  get namespace(): string | undefined {
    return this.apiObject.metadata.namespace;
  }
}
