// Finds ActionSets that nobody executes: those that no controller takes up, and those that Kanister has left running.
import { isTerminal, RUNNING } from "@janus/blueprints/authoring";
import type { KubeObject } from "@janus/kube";
import { asObject } from "@janus/types";
import type { Finding } from "./checkup.ts";

/** A controller takes one up at once, in ms. */
const PATIENCE = 60_000;

const listed = (all: readonly KubeObject[]): string => {
  const names = all.map(({ metadata: { name = "" } }) => name);
  return names.length <= 3 ? names.join(", ") : `${names.slice(0, 3).join(", ")} and ${names.length - 3} more`;
};

const stateOf = (object: KubeObject): unknown => asObject(object["status"])["state"];

/** @param actionSets those of the namespace */
export const unexecuted = (actionSets: readonly KubeObject[], namespace: string, now: number): readonly Finding[] => {
  const free = actionSets.filter(
    (one) => one.metadata.finalizers?.includes(RUNNING) !== true && !isTerminal(stateOf(one) as string | undefined),
  );
  const left = free.filter((one) => stateOf(one) === "running");
  const late = free.filter(
    (one) => stateOf(one) !== "running" && now - Date.parse(one.metadata.creationTimestamp ?? "") > PATIENCE,
  );
  return [
    ...(left.length === 0
      ? []
      : [
          {
            isFine: false,
            what: `ActionSets that Kanister has left running in ${namespace}: ${listed(left)}`,
            cure: `if its controller is gone, nobody goes on with them: kubectl janus actionset abandon -n ${namespace}`,
          },
        ]),
    ...(late.length === 0
      ? []
      : [
          {
            isFine: false,
            what: `ActionSets that nobody has taken up in ${namespace}: ${listed(late)}`,
            cure: "the controller of Blueprints is not there, or watches other namespaces (blueprints.watchNamespaces)",
          },
        ]),
  ];
};
