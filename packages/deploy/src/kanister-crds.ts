// The construct of the CustomResourceDefinitions of Kanister's kinds.
import { kanisterCrds } from "@janus/blueprints/crds";
import { ApiObject, type ApiObjectProps } from "cdk8s";
import { Construct } from "constructs";

/** The CustomResourceDefinitions of Blueprint, ActionSet and Profile. They accept all that Kanister's own accept. */
export class KanisterCrds extends Construct {
  constructor(scope: Construct, id: string) {
    super(scope, id);
    for (const crd of kanisterCrds) {
      const definition = crd as unknown as ApiObjectProps & { readonly metadata: { readonly name: string } };
      new ApiObject(this, definition.metadata.name, definition);
    }
  }
}
