import type { Fault } from "./fault.ts";
import { asObject } from "./json.ts";
import type { KubeObject, Resource } from "./object.ts";

/** What the API server hands out to a Service, and may not be able to hand out again. */
export type Allocation = "addresses" | "ports";

/** Which of them the API server refuses to hand out again, because somebody has it: `spec.clusterIPs`, `spec.ports[0].nodePort`. */
export const takenOf = ({ kind, group }: Resource, fault: Fault): Allocation | undefined => {
  if (kind !== "Service" || group !== "" || fault.kind !== "refused" || fault.code !== 422) return undefined;
  if (/nodePort|provided port/i.test(fault.message)) return "ports";
  return /clusterIP|provided IP/i.test(fault.message) ? "addresses" : undefined;
};

const FIELDS: Readonly<Record<Allocation, readonly string[]>> = {
  addresses: ["clusterIP", "clusterIPs"],
  ports: ["nodePort", "healthCheckNodePort"],
};

const without = (value: unknown, names: readonly string[]): object =>
  Object.fromEntries(Object.entries(asObject(value)).filter(([name]) => !names.includes(name)));

/** The Service without those, for new ones to be handed out. */
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
