import { transactionCrd } from "@janus/api";
import { ApiObject, type ApiObjectProps } from "cdk8s";
import { Construct } from "constructs";

/** The definition of the kind Transaction; what is in it is decided in `@janus/api`. */
export class TransactionCrd extends Construct {
  constructor(scope: Construct, id: string) {
    super(scope, id);
    new ApiObject(this, "Resource", transactionCrd as typeof transactionCrd & ApiObjectProps);
  }
}
