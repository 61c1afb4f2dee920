// Decides when a Service is ready: a load balancer has its address.
import type { KubeObject } from "@janus/types";
import { type GateState, met, notYet } from "./gate-state.ts";
import { objectsAt, textAt } from "./read-fields.ts";

/** Ready: as soon as it exists. A load balancer has to have its address as well; kstatus is content with its cluster IP. */
export const readyService = (service: KubeObject): GateState => {
  if (textAt(service, "spec", "type") !== "LoadBalancer") return met;
  if (textAt(service, "spec", "clusterIP") === "") return notYet("no cluster IP yet");
  const hasAddress = objectsAt(service, "status", "loadBalancer", "ingress").some(
    (ingress) => textAt(ingress, "ip") !== "" || textAt(ingress, "hostname") !== "",
  );
  return hasAddress ? met : notYet("the load balancer has no address yet");
};
