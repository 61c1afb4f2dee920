// The constructs of a WatchRule and a ClusterWatchRule: what the Git journal writes to a destination.
import { type ApiObject, type ApiObjectMetadata, JsonPatch } from "cdk8s";
import { Construct } from "constructs";
import { journalObject, type JournalObjectName, type JournalSelector, referenceTo } from "./git-journal-object.ts";

export interface JournalRule {
  /** By their plural, such as `deployments`; `*` selects those that describe a desired state. */
  readonly resources: readonly string[];
  /**
   * `""` is the core group.
   *
   * @default - all
   */
  readonly apiGroups?: readonly string[];
  /** @default - all */
  readonly apiVersions?: readonly string[];
  /** @default - all */
  readonly operations?: readonly ("CREATE" | "UPDATE" | "DELETE" | "*")[];
}

export interface ClusterJournalRule extends JournalRule {
  readonly scope: "Cluster" | "Namespaced";
  /**
   * Of `Namespaced`.
   *
   * @default - all
   */
  readonly namespaceSelector?: JournalSelector;
}

/** One of both. */
interface References {
  /**
   * A GitDestination, or its name.
   *
   * @default - `gitRepoConfigRef`
   */
  readonly destinationRef?: JournalObjectName;
  /**
   * A GitRepoConfig, or its name: its branch, without a folder.
   *
   * @default - `destinationRef`
   */
  readonly gitRepoConfigRef?: JournalObjectName;
}

export interface WatchRuleProps extends References {
  /** An object is selected if one of these selects it. */
  readonly rules: readonly JournalRule[];
  /** @default - all objects of its namespace */
  readonly objectSelector?: JournalSelector;
  /** @default - a name from its path, namespace and labels of the chart */
  readonly metadata?: ApiObjectMetadata;
}

export interface ClusterWatchRuleProps extends References {
  /** An object is selected if one of these selects it. */
  readonly rules: readonly ClusterJournalRule[];
  /** @default - a name from its path, labels of the chart */
  readonly metadata?: ApiObjectMetadata;
}

const referencesOf = ({ destinationRef, gitRepoConfigRef }: References): object => ({
  ...(destinationRef === undefined ? {} : { destinationRef: referenceTo(destinationRef) }),
  ...(gitRepoConfigRef === undefined ? {} : { gitRepoConfigRef: referenceTo(gitRepoConfigRef) }),
});

/** Writes objects of its namespace to a destination. */
export class WatchRule extends Construct {
  /** The object that is printed. */
  readonly apiObject: ApiObject;

  constructor(scope: Construct, id: string, props: WatchRuleProps) {
    super(scope, id);
    const { metadata, destinationRef: _, gitRepoConfigRef: __, ...spec } = props;
    this.apiObject = journalObject(this, "WatchRule", { ...referencesOf(props), ...spec }, metadata);
  }

  get name(): string {
    return this.apiObject.name;
  }
}

/** Writes objects of the cluster, or of all namespaces, to a destination. */
export class ClusterWatchRule extends Construct {
  /** The object that is printed. */
  readonly apiObject: ApiObject;

  constructor(scope: Construct, id: string, props: ClusterWatchRuleProps) {
    super(scope, id);
    const { metadata, destinationRef: _, gitRepoConfigRef: __, ...spec } = props;
    this.apiObject = journalObject(this, "ClusterWatchRule", { ...referencesOf(props), ...spec }, metadata);
    // That of the chart.
    if (this.apiObject.metadata.namespace !== undefined)
      this.apiObject.addJsonPatch(JsonPatch.remove("/metadata/namespace"));
  }

  get name(): string {
    return this.apiObject.name;
  }
}
