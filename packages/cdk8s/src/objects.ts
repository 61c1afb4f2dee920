// Finds the objects of a construct, and removes those that a Transaction takes over from the output of the app.
import { API_VERSION, KIND } from "@janus/api";
import { ApiObject } from "cdk8s";
import type { IConstruct } from "constructs";

const isTransaction = ({ apiVersion, kind }: ApiObject): boolean => apiVersion === API_VERSION && kind === KIND;

/** What is printed of a construct, except Transactions. */
export const objectsOf = (construct: IConstruct): readonly ApiObject[] =>
  construct.node
    .findAll()
    .filter((one) => ApiObject.isApiObject(one))
    .filter((object) => !isTransaction(object));

/** Removes an object from what its app prints; the construct that it belongs to still knows it. */
export const takeOut = (object: ApiObject): void => {
  const { scope, id } = object.node;
  if (scope === undefined) return;
  const isDefault = scope.node.defaultChild === object;
  scope.node.tryRemoveChild(id);
  if (isDefault) scope.node.defaultChild = object;
};

export const isWithin = (construct: IConstruct, whole: IConstruct): boolean => construct.node.scopes.includes(whole);

/** What must come before an object: what it, or a construct of its chart that has it, depends on. */
export const dependenciesOf = ({ node: { scopes }, chart }: ApiObject): readonly IConstruct[] =>
  scopes.slice(scopes.indexOf(chart)).flatMap(({ node }) => node.dependencies);
