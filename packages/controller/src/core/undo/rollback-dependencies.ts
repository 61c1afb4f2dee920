import type { Transaction } from "@janus/api";
import { isEnabling } from "../state/target-resolution.ts";

/**
 * Whether the rollback of an earlier change has to wait for that of a later one, which was deferred: it would
 * remove what the later one needs (its Namespace, its CRD, permissions for its rollback); or a Service would get
 * other addresses and ports than those that the later one still has.
 */
export const dependsOn = ({ spec }: Transaction, earlier: number, later: number): boolean => {
  const [first, second] = [spec.changes[earlier], spec.changes[later]];
  if (first === undefined || second === undefined) return false;
  return isEnabling(first) || (first.target.kind === "Service" && second.target.kind === "Service");
};
