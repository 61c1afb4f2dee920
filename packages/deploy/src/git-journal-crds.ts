// The construct of the CustomResourceDefinitions of the Git journal.
import { gitJournalCrds } from "@janus/git-journal/authoring";
import { ApiObject, type ApiObjectProps } from "cdk8s";
import { Construct } from "constructs";

/** The CustomResourceDefinitions of GitRepoConfig, GitDestination, WatchRule and ClusterWatchRule. */
export class GitJournalCrds extends Construct {
  constructor(scope: Construct, id: string) {
    super(scope, id);
    for (const crd of gitJournalCrds) {
      const definition = crd as unknown as ApiObjectProps & { readonly metadata: { readonly name: string } };
      new ApiObject(this, definition.metadata.name, definition);
    }
  }
}
