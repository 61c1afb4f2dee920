// The construct of the CustomResourceDefinition of Transaction.
import { transactionCrd } from "@janus/api";
import { ApiObject, type ApiObjectProps } from "cdk8s";
import { Construct } from "constructs";

/** The CustomResourceDefinition of Transaction, whose content is in `@janus/api`. */
export class TransactionCrd extends Construct {
  constructor(scope: Construct, id: string) {
    super(scope, id);
    new ApiObject(this, "Resource", transactionCrd as typeof transactionCrd & ApiObjectProps);
  }
}
