import { transactionOf } from "@janus/api";
import type { KubeObject } from "@janus/types";
import { nodeAt, none, type Path } from "./field-set.ts";

/**
 * Who has set any of these fields: `field manager "kubectl-edit"`, `Transaction upgrade (uid …)`; `another client` if there is
 * none, as for removed fields.
 */
export const modifiedBy = ({ metadata: { managedFields = [] } }: KubeObject, paths: readonly Path[]): string => {
  const owners = managedFields.filter(({ fieldsV1 = none }) =>
    paths.some((path) => path.length > 0 && nodeAt(fieldsV1, path) !== undefined),
  );
  const managers = [...new Set(owners.flatMap(({ manager }) => manager ?? []))];
  const named = managers.flatMap((manager) => transactionOf(manager) ?? []);
  const others = managers.filter((manager) => transactionOf(manager) === undefined).map((name) => JSON.stringify(name));
  const who = [
    ...named.map(({ name, uid }) => `Transaction ${name} (uid ${uid})`),
    ...(others.length === 0 ? [] : [`field manager${others.length > 1 ? "s" : ""} ${others.join(" and ")}`]),
  ];
  return who.length === 0 ? "another client" : who.join(" and ");
};
