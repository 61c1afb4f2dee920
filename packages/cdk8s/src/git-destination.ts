// The construct of a GitDestination: a folder of a branch to which the Git journal writes.
import type { ApiObject, ApiObjectMetadata } from "cdk8s";
import { Construct } from "constructs";
import { journalObject, type JournalObjectName, referenceTo } from "./git-journal-object.ts";

export interface GitDestinationProps {
  /** A GitRepoConfig, or its name. */
  readonly repoRef: JournalObjectName;
  /** One that the repository allows. */
  readonly branch: string;
  /** Such as `clusters/prod`. */
  readonly baseFolder: string;
  /**
   * Whether nothing is written where the marker in the folder is another's.
   *
   * @default false
   */
  readonly exclusiveMode?: boolean;
  /**
   * Public keys of age for which the data of Secrets are encrypted.
   *
   * @default - Secrets are written without their data
   */
  readonly secrets?: { readonly ageRecipients?: readonly string[] };
  /** @default - a name from its path, namespace and labels of the chart */
  readonly metadata?: ApiObjectMetadata;
}

/** A folder of a branch of a repository. */
export class GitDestination extends Construct {
  /** The object that is printed. */
  readonly apiObject: ApiObject;

  constructor(scope: Construct, id: string, { metadata, repoRef, ...spec }: GitDestinationProps) {
    super(scope, id);
    this.apiObject = journalObject(this, "GitDestination", { repoRef: referenceTo(repoRef), ...spec }, metadata);
  }

  get name(): string {
    return this.apiObject.name;
  }

  get namespace(): string | undefined {
    return this.apiObject.metadata.namespace;
  }
}
