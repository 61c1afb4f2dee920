import type { KubeObject } from "@janus/types";
import { nodeAt, none, type Path } from "./field-set.ts";

/**
 * The field managers of any of these fields: `field manager "kubectl-edit"`; `another client` if there is none,
 * as for removed fields.
 */
export const modifiedBy = ({ metadata: { managedFields = [] } }: KubeObject, paths: readonly Path[]): string => {
  const owners = managedFields.filter(({ fieldsV1 = none }) =>
    paths.some((path) => path.length > 0 && nodeAt(fieldsV1, path) !== undefined),
  );
  const names = [...new Set(owners.flatMap(({ manager }) => manager ?? []))].map((name) => JSON.stringify(name));
  if (names.length === 0) return "another client";
  return `field manager${names.length > 1 ? "s" : ""} ${names.join(" and ")}`;
};
