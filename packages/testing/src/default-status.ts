// The status of a ready object, by kind.
import { asObject, type KubeObject } from "@janus/types";

const condition = (type: string, reason = type): object => ({ type, status: "True", reason, message: "simulated" });

const replicas = ({ spec }: KubeObject): number => {
  const { replicas = 1 } = asObject(spec);
  return typeof replicas === "number" ? replicas : 1;
};

/** The status of each kind when its controller is done. */
const STATUS: Readonly<Record<string, (object: KubeObject) => object>> = {
  "apps Deployment": (object) => ({
    replicas: replicas(object),
    updatedReplicas: replicas(object),
    readyReplicas: replicas(object),
    availableReplicas: replicas(object),
    conditions: [
      condition("Available", "MinimumReplicasAvailable"),
      condition("Progressing", "NewReplicaSetAvailable"),
    ],
  }),
  "apps ReplicaSet": (object) => ({
    replicas: replicas(object),
    fullyLabeledReplicas: replicas(object),
    readyReplicas: replicas(object),
    availableReplicas: replicas(object),
  }),
  "apps StatefulSet": (object) => ({
    replicas: replicas(object),
    readyReplicas: replicas(object),
    availableReplicas: replicas(object),
    updatedReplicas: replicas(object),
    currentReplicas: replicas(object),
    currentRevision: "simulated",
    updateRevision: "simulated",
  }),
  "apps DaemonSet": () => ({
    desiredNumberScheduled: 1,
    currentNumberScheduled: 1,
    updatedNumberScheduled: 1,
    numberAvailable: 1,
    numberReady: 1,
    numberMisscheduled: 0,
  }),
  "batch Job": () => ({ succeeded: 1, conditions: [condition("Complete")] }),
  " Pod": () => ({ phase: "Running", conditions: [condition("Ready"), condition("PodScheduled")] }),
  " PersistentVolumeClaim": () => ({ phase: "Bound" }),
  " Namespace": () => ({ phase: "Active" }),
  "apiextensions.k8s.io CustomResourceDefinition": () => ({
    conditions: [condition("NamesAccepted", "NoConflicts"), condition("Established", "InitialNamesAccepted")],
  }),
};

/** The status of an object that is ready, by its kind. */
export const defaultStatus = (object: KubeObject): object => {
  const group = object.apiVersion.split("/").slice(0, -1).join("");
  const status = STATUS[`${group} ${object.kind}`] ?? (() => ({ conditions: [condition("Ready")] }));
  const { generation } = object.metadata;
  return { ...(generation === undefined ? {} : { observedGeneration: generation }), ...status(object) };
};
