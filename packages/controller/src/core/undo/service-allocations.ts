// Handles cluster IPs and node ports that a Service may not get again.
import { isPortTaken, type ApiError, asObject, type KubeObject, type Resource, without } from "@janus/types";
import type { Allocation } from "../state/rollback-observations.ts";

export const isService = ({ kind, group }: Resource): boolean => kind === "Service" && group === "";

/**
 * The allocations that the API server rejects because another Service has them: `spec.clusterIPs`,
 * `spec.ports[0].nodePort`.
 */
export const takenOf = (resource: Resource, fault: ApiError): Allocation | undefined => {
  if (!isService(resource) || fault.type !== "refused") return undefined;
  if (isPortTaken(fault)) return "ports";
  if (fault.code !== 422) return undefined;
  if (/nodePort|provided port/i.test(fault.message)) return "ports";
  return /clusterIP|provided IP/i.test(fault.message) ? "addresses" : undefined;
};

const FIELDS: Readonly<Record<Allocation, readonly string[]>> = {
  addresses: ["clusterIP", "clusterIPs"],
  ports: ["nodePort", "healthCheckNodePort"],
};

const fieldsIn = (value: unknown, names: readonly string[], path: string): readonly (readonly [string, unknown])[] =>
  names.map((name) => [`${path}.${name}`, asObject(value)[name]]);

/** All allocations, by field, as text. The first of `clusterIPs` is `clusterIP`. */
const handedOut = (service: KubeObject): ReadonlyMap<string, string> => {
  const spec = asObject(service["spec"]);
  const [ports, ips] = [spec["ports"], spec["clusterIPs"]].map((list): readonly unknown[] =>
    Array.isArray(list) ? list : [],
  );
  const fields = [
    ...fieldsIn(spec, ["clusterIP", "healthCheckNodePort"], "spec"),
    ...(ips ?? []).slice(1).map((ip, at) => [`spec.clusterIPs[${at + 1}]`, ip] as const),
    ...(ports ?? []).flatMap((port, at) => fieldsIn(port, ["nodePort"], `spec.ports[${at}]`)),
  ];
  return new Map(
    fields.flatMap(([field, value]) =>
      typeof value === "string" || typeof value === "number" ? [[field, `${value}`] as const] : [],
    ),
  );
};

/** The allocations that a recreated Service did not get again: `spec.clusterIP was 10.0.1.2, now 10.0.3.4`. */
export const reallocated = (before: KubeObject, live: KubeObject): readonly string[] => {
  const now = handedOut(live);
  return [...handedOut(before)]
    .filter(([field, value]) => now.get(field) !== value)
    .map(([field, value]) => `${field} was ${value}, now ${now.get(field) ?? "none"}`);
};

/** Whether the API server allocates this field of a Service. */
export const isAllocated = (resource: Resource, path: () => readonly string[]): boolean => {
  const last = isService(resource) ? path().at(-1) : undefined;
  return Object.values(FIELDS).some((names) => names.some((name) => last === `f:${name}`));
};

/** The object without what the API server allocates to a Service: that is reported separately. */
export const unallocated = (resource: Resource, object: KubeObject): KubeObject =>
  isService(resource) ? withoutAllocations(object, ["addresses", "ports"]) : object;

/** The Service without these allocations, to get new ones. */
export const withoutAllocations = (before: KubeObject, taken: readonly Allocation[]): KubeObject => {
  const names = taken.flatMap((allocation) => FIELDS[allocation]);
  if (names.length === 0) return before;
  const { ports } = asObject(before["spec"]);
  return {
    ...before,
    spec: {
      ...without(before["spec"], names),
      ...(Array.isArray(ports) ? { ports: ports.map((port: unknown) => without(port, names)) } : {}),
    },
  };
};
