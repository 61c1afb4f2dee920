import type { TransactionManifest } from "@janus/authoring";
import { isObject } from "@janus/controller/core/kubernetes/json";
import type { ObjectName, SimulateOptions } from "./options.ts";
import type { SimulatedObject } from "./simulation.ts";

const isName = (value: unknown): boolean => typeof value === "string" && value !== "";

/** What is wrong with the live objects. */
export const wrongObjects = (objects: readonly SimulatedObject[]): string | undefined => {
  const at = objects.findIndex((object: unknown) => {
    if (!isObject(object)) return true;
    const { apiVersion, kind, metadata } = object;
    return !isName(apiVersion) || !isName(kind) || !isObject(metadata) || !isName(metadata["name"]);
  });
  return at === -1 ? undefined : `liveObjects[${at}] is no object with apiVersion, kind and metadata.name`;
};

/** What is wrong with the options: a misfortune that cannot happen would let a test pass that shows nothing. */
export const wrongOptions = (
  { metadata: { namespace: own = "default" }, spec: { changes } }: TransactionManifest,
  { failAt, edits = [], notReady = [] }: SimulateOptions,
): string | undefined => {
  const isChange = (index: number | "rollback"): boolean => index === "rollback" || changes[index] !== undefined;
  const isTarget = ({ apiVersion, kind, name, namespace = own }: ObjectName): boolean =>
    changes.some(
      ({ target }) =>
        target.apiVersion === apiVersion &&
        target.kind === kind &&
        target.name === name &&
        (target.namespace ?? own) === namespace,
    );
  const failing = typeof failAt === "object" ? failAt.change : (failAt ?? 0);
  const [edit] = edits.flatMap(({ before }, index) =>
    isChange(before) ? [] : [`edits[${index}]: there is no changes[${before}]`],
  );
  const [ready] = notReady.flatMap((target, index) =>
    isTarget(target) ? [] : [`notReady[${index}]: no change has the target ${target.kind} ${target.name}`],
  );
  return isChange(failing) ? (edit ?? ready) : `failAt: there is no changes[${failing}]`;
};
