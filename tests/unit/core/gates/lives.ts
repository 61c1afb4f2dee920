import type { KubeObject } from "@janus/types";
import { failed, type GateState, met, notYet } from "../../../../packages/controller/src/core/gates/gate-state.ts";

/** An object as it is at one moment of its life, and whether it is ready then. */
export interface Moment {
  readonly moment: string;
  readonly object: KubeObject;
  readonly state: GateState;
}

type Spec = Readonly<Record<string, unknown>>;

const life =
  (apiVersion: string, kind: string, spec: Spec) =>
  (
    ...moments: readonly (readonly [moment: string, status: unknown, state: GateState, changed?: Spec])[]
  ): readonly Moment[] =>
    moments.map(([moment, status, state, changed]) => ({
      moment,
      object: {
        apiVersion,
        kind,
        metadata: {
          name: "web",
          namespace: "shop",
          uid: "u",
          creationTimestamp: "2026-01-01T12:00:00Z",
          generation: 2,
        },
        spec: { ...spec, ...changed },
        ...(status === undefined ? {} : { status }),
      },
      state,
    }));

const condition = (type: string, status: string, reason = "", message = "") => ({
  type,
  status,
  ...(reason === "" ? {} : { reason }),
  ...(message === "" ? {} : { message }),
});

const available = condition("Available", "True", "MinimumReplicasAvailable");
const unavailable = condition("Available", "False", "MinimumReplicasUnavailable", "too few Pods");
const progressing = condition("Progressing", "True", "ReplicaSetUpdated");
const complete = condition("Progressing", "True", "NewReplicaSetAvailable");
const late = condition(
  "Progressing",
  "False",
  "ProgressDeadlineExceeded",
  'ReplicaSet "web-1" has timed out progressing.',
);

const deployment = (all: number, updated: number, ready: number, available: number, conditions: readonly object[]) => ({
  observedGeneration: 2,
  replicas: all,
  updatedReplicas: updated,
  readyReplicas: ready,
  availableReplicas: available,
  conditions,
});

const web = (waitingFor: Spec, lastState: Spec = {}) => ({
  name: "web",
  ready: false,
  restartCount: 3,
  state: { waiting: waitingFor },
  lastState,
});
const crashing = web(
  { reason: "CrashLoopBackOff", message: "back-off 40s restarting failed container=web" },
  { terminated: { exitCode: 1, reason: "Error" } },
);
const scheduled = condition("PodScheduled", "True");

const wayOut = ", so that ready cannot be told: wait for a condition=… or a jsonpath=… instead";

const nothingYet = ["has just been created", undefined, met] as const;

/** What the controllers of Kubernetes write into the status of each kind, in the order in which they do. */
export const lives: Readonly<Record<string, readonly Moment[]>> = {
  Deployment: life("apps/v1", "Deployment", { replicas: 3, progressDeadlineSeconds: 600 })(
    ["has just been created", undefined, notYet("0 of 3 replicas created")],
    [
      "was changed, and is not seen yet",
      { ...deployment(3, 3, 3, 3, [available, complete]), observedGeneration: 1 },
      notYet("its controller has seen generation 1, not yet 2"),
    ],
    ["begins", deployment(3, 1, 2, 2, [available, progressing]), notYet("1 of 3 replicas updated")],
    ["goes on", deployment(3, 2, 2, 2, [available, progressing]), notYet("2 of 3 replicas updated")],
    [
      "still has an old Pod",
      deployment(4, 3, 3, 3, [available, progressing]),
      notYet("old replicas still to be terminated: 1"),
    ],
    ["waits for Pods", deployment(3, 3, 1, 1, [unavailable, progressing]), notYet("1 of 3 updated replicas available")],
    ["waits for readiness", deployment(3, 3, 2, 3, [available, progressing]), notYet("2 of 3 replicas ready")],
    [
      "is not reported as complete",
      deployment(3, 3, 3, 3, [available, progressing]),
      notYet("the rollout is not reported as complete yet"),
    ],
    [
      "is not reported as available",
      deployment(3, 3, 3, 3, [unavailable, complete]),
      notYet("condition Available is False: MinimumReplicasUnavailable: too few Pods"),
    ],
    ["has no condition", deployment(3, 3, 3, 3, [complete]), notYet("not reported as available yet")],
    ["is done", deployment(3, 3, 3, 3, [available, complete]), met],
    ["is done, without a deadline", deployment(3, 3, 3, 3, [available]), met, { progressDeadlineSeconds: 2 ** 31 - 1 }],
    [
      "is late",
      deployment(3, 1, 2, 2, [available, late]),
      failed('progress deadline exceeded: ReplicaSet "web-1" has timed out progressing.'),
    ],
    [
      "is paused",
      deployment(3, 0, 3, 3, [available, condition("Progressing", "Unknown", "DeploymentPaused")]),
      failed(
        "it is paused, so its rollout does not go on (0 of 3 replicas updated): set spec.paused to false, or do not wait for it",
      ),
      { paused: true },
    ],
    ["was paused when it was done", deployment(3, 3, 3, 3, [available, complete]), met, { paused: true }],
  ),
  StatefulSet: life("apps/v1", "StatefulSet", { replicas: 3, updateStrategy: { type: "RollingUpdate" } })(
    ["has just been created", undefined, notYet("0 of 3 replicas created")],
    ["has its Pods", { replicas: 3, readyReplicas: 1 }, notYet("1 of 3 replicas ready")],
    ["is scaled down", { replicas: 4, readyReplicas: 4 }, notYet("replicas still to be terminated: 1")],
    [
      "updates",
      { replicas: 3, readyReplicas: 3, currentReplicas: 2, updatedReplicas: 1 },
      notYet("2 of 3 replicas of the current revision"),
    ],
    [
      "is almost done",
      {
        replicas: 3,
        readyReplicas: 3,
        currentReplicas: 3,
        updatedReplicas: 2,
        currentRevision: "1",
        updateRevision: "2",
      },
      notYet("2 of 3 replicas updated"),
    ],
    ["is done", { replicas: 3, readyReplicas: 3, currentReplicas: 3, currentRevision: "2", updateRevision: "2" }, met],
    [
      "updates up to its partition",
      { replicas: 3, readyReplicas: 3, updatedReplicas: 0 },
      notYet("0 of 1 replicas updated"),
      { updateStrategy: { rollingUpdate: { partition: 2 } } },
    ],
    [
      "is updated up to its partition",
      { replicas: 3, readyReplicas: 3, updatedReplicas: 1, currentRevision: "1", updateRevision: "2" },
      met,
      { updateStrategy: { rollingUpdate: { partition: 2 } } },
    ],
    ["is updated by hand", { replicas: 1 }, met, { updateStrategy: { type: "OnDelete" } }],
  ),
  DaemonSet: life("apps/v1", "DaemonSet", {})(
    ["has just been created", undefined, notYet("not observed by its controller yet")],
    ["has no numbers", { observedGeneration: 2 }, notYet("not observed by its controller yet")],
    [
      "schedules",
      { observedGeneration: 2, desiredNumberScheduled: 2, currentNumberScheduled: 1 },
      notYet("1 of 2 Pods scheduled"),
    ],
    [
      "updates",
      { observedGeneration: 2, desiredNumberScheduled: 2, currentNumberScheduled: 2, updatedNumberScheduled: 1 },
      notYet("1 of 2 Pods updated"),
    ],
    [
      "waits for Pods",
      { observedGeneration: 2, desiredNumberScheduled: 2, currentNumberScheduled: 2, updatedNumberScheduled: 2 },
      notYet("0 of 2 Pods available"),
    ],
    [
      "waits for readiness",
      {
        observedGeneration: 2,
        desiredNumberScheduled: 2,
        currentNumberScheduled: 2,
        updatedNumberScheduled: 2,
        numberAvailable: 2,
        numberReady: 1,
      },
      notYet("1 of 2 Pods ready"),
    ],
    ["is for no node", { observedGeneration: 2, desiredNumberScheduled: 0 }, met],
  ),
  ReplicaSet: life("apps/v1", "ReplicaSet", { replicas: 2 })(
    ["has just been created", undefined, notYet("0 of 2 replicas created")],
    [
      "may not create Pods",
      { conditions: [condition("ReplicaFailure", "True", "FailedCreate", "exceeded quota")] },
      notYet("replicas cannot be created: FailedCreate: exceeded quota"),
    ],
    ["waits for Pods", { fullyLabeledReplicas: 2, availableReplicas: 1 }, notYet("1 of 2 replicas available")],
    ["waits for readiness", { fullyLabeledReplicas: 2, availableReplicas: 2 }, notYet("0 of 2 replicas ready")],
    [
      "is scaled down",
      { fullyLabeledReplicas: 2, availableReplicas: 2, readyReplicas: 2, replicas: 4 },
      notYet("replicas still to be terminated: 2"),
    ],
    ["is done", { fullyLabeledReplicas: 2, availableReplicas: 2, readyReplicas: 2, replicas: 2 }, met],
  ),
  Pod: life("v1", "Pod", {})(
    ["has just been created", undefined, notYet("not started yet")],
    [
      "is unschedulable",
      {
        phase: "Pending",
        conditions: [condition("PodScheduled", "False", "Unschedulable", "0/3 nodes are available")],
      },
      notYet("unschedulable: 0/3 nodes are available"),
    ],
    [
      "is starting",
      { phase: "Pending", conditions: [scheduled], containerStatuses: [web({ reason: "ContainerCreating" })] },
      notYet("phase Pending"),
    ],
    [
      "has no image",
      {
        phase: "Pending",
        containerStatuses: [web({ reason: "ImagePullBackOff", message: "Back-off pulling shop:v2" })],
      },
      notYet("container web in ImagePullBackOff: Back-off pulling shop:v2"),
    ],
    [
      "has an init container that fails",
      {
        phase: "Pending",
        initContainerStatuses: [{ ...crashing, name: "init" }],
        containerStatuses: [web({ reason: "PodInitializing" })],
      },
      notYet("container init in CrashLoopBackOff: exit code 1"),
    ],
    [
      "crash-loops",
      { phase: "Running", conditions: [condition("Ready", "False")], containerStatuses: [crashing] },
      notYet("container web in CrashLoopBackOff: exit code 1"),
    ],
    [
      "has run out of memory, again and again",
      {
        phase: "Running",
        containerStatuses: [
          web({ reason: "CrashLoopBackOff" }, { terminated: { exitCode: 137, reason: "OOMKilled" } }),
        ],
      },
      notYet("container web in CrashLoopBackOff: exit code 137 (OOMKilled)"),
    ],
    [
      "has just crashed",
      { phase: "Running", containerStatuses: [{ name: "web", state: { terminated: { exitCode: 2 } } }] },
      notYet("container web terminated: exit code 2"),
    ],
    [
      "does not pass its probe",
      {
        phase: "Running",
        conditions: [condition("Ready", "False", "ContainersNotReady", "containers with unready status: [web]")],
        containerStatuses: [{ name: "web", state: { running: {} } }],
      },
      notYet("condition Ready is False: ContainersNotReady: containers with unready status: [web]"),
    ],
    ["runs", { phase: "Running" }, notYet("running, but not ready")],
    ["is ready", { phase: "Running", conditions: [condition("Ready", "True")] }, met],
    ["is not heard of", { phase: "Unknown" }, notYet("phase Unknown")],
    ["has succeeded", { phase: "Succeeded", conditions: [condition("Ready", "False", "PodCompleted")] }, met],
    [
      "has failed",
      {
        phase: "Failed",
        containerStatuses: [{ name: "web", state: { terminated: { exitCode: 3, reason: "Error" } } }],
      },
      failed("failed: container web terminated: exit code 3"),
    ],
    [
      "was evicted",
      { phase: "Failed", reason: "Evicted", message: "The node was low on resource: memory." },
      failed("failed: Evicted: The node was low on resource: memory."),
    ],
    ["has failed, and nobody says why", { phase: "Failed" }, failed("failed")],
  ),
  PersistentVolumeClaim: life("v1", "PersistentVolumeClaim", {})(
    ["has just been created", undefined, notYet("not bound to a volume yet")],
    ["waits for a volume", { phase: "Pending" }, notYet("not bound to a volume: phase Pending")],
    ["is bound", { phase: "Bound" }, met],
    ["has lost its volume", { phase: "Lost" }, notYet("not bound to a volume: phase Lost")],
  ),
  Job: life("batch/v1", "Job", { completions: 2, parallelism: 1 })(
    ["has just been created", undefined, notYet("not started yet")],
    ["is suspended", { conditions: [condition("Suspended", "True")] }, notYet("suspended"), { suspend: true }],
    ["has started", { startTime: "2026-01-01T12:00:00Z", active: 1 }, notYet("0 of 2 Pods succeeded")],
    [
      "goes on",
      { startTime: "2026-01-01T12:00:00Z", active: 1, succeeded: 1, failed: 2 },
      notYet("1 of 2 Pods succeeded, 2 failed"),
    ],
    ["is complete", { startTime: "2026-01-01T12:00:00Z", conditions: [condition("Complete", "True")] }, met],
    [
      "has failed",
      {
        startTime: "2026-01-01T12:00:00Z",
        conditions: [condition("Failed", "True", "BackoffLimitExceeded", "too often")],
      },
      failed("failed: BackoffLimitExceeded: too often"),
    ],
  ),
  Service: life("v1", "Service", { type: "LoadBalancer", clusterIP: "10.0.0.1" })(
    ["has no cluster IP", undefined, notYet("no cluster IP yet"), { clusterIP: "" }],
    ["waits for its load balancer", { loadBalancer: {} }, notYet("the load balancer has no address yet")],
    ["has an address", { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } }, met],
    ["has a name", { loadBalancer: { ingress: [{ hostname: "web.example.com" }] } }, met],
    ["has no load balancer", { loadBalancer: {} }, met, { type: "ClusterIP" }],
    ["is headless", { loadBalancer: {} }, met, { type: "ClusterIP", clusterIP: "None" }],
  ),
  CustomResourceDefinition: life("apiextensions.k8s.io/v1", "CustomResourceDefinition", {})(
    ["has just been created", undefined, notYet("not established yet")],
    [
      "is being installed",
      { conditions: [condition("NamesAccepted", "True"), condition("Established", "False", "Installing")] },
      notYet("not established yet"),
    ],
    ["is established", { conditions: [condition("NamesAccepted", "True"), condition("Established", "True")] }, met],
    [
      "has a name that is taken",
      { conditions: [condition("NamesAccepted", "False", "PluralConflict", '"things" is already in use')] },
      failed('condition NamesAccepted is False: PluralConflict: "things" is already in use'),
    ],
    [
      "cannot be established",
      { conditions: [condition("Established", "False", "NotAccepted", "not all names are accepted")] },
      failed("condition Established is False: NotAccepted: not all names are accepted"),
    ],
  ),
  PodDisruptionBudget: life(
    "policy/v1",
    "PodDisruptionBudget",
    {},
  )(nothingYet, [
    "is not seen yet",
    { observedGeneration: 1 },
    notYet("its controller has seen generation 1, not yet 2"),
  ]),
  CronJob: life("batch/v1", "CronJob", {})(nothingYet),
  ConfigMap: life("v1", "ConfigMap", {})(nothingYet),
  Namespace: life("v1", "Namespace", {})(nothingYet, ["is active", { phase: "Active" }, met]),
  APIService: life(
    "apiregistration.k8s.io/v1",
    "APIService",
    {},
  )(nothingYet, ["has no server", { conditions: [condition("Available", "False", "MissingEndpoints")] }, met]),
  "a custom resource": life("example.com/v1", "Thing", {})(
    nothingYet,
    ["says nothing of readiness", { conditions: [condition("Synced", "False")] }, met],
    ["is ready", { conditions: [condition("Ready", "True")] }, met],
    [
      "is not ready",
      { conditions: [condition("Synced", "True"), condition("Ready", "False", "Starting", "wait")] },
      notYet("condition Ready is False: Starting: wait"),
    ],
    ["is not sure", { conditions: [condition("Ready", "Unknown")] }, notYet("condition Ready is Unknown")],
    ["has a condition of its own making", { conditions: [condition("Ready", "Maybe")] }, met],
    [
      "reconciles",
      { conditions: [condition("Ready", "True"), condition("Reconciling", "True", "Progressing", "almost")] },
      notYet("reconciling: Progressing: almost"),
    ],
    ["is done with it", { conditions: [condition("Reconciling", "False"), condition("Stalled", "False")] }, met],
    [
      "is stalled",
      { conditions: [condition("Ready", "Unknown"), condition("Stalled", "True", "InvalidSpec", "no such size")] },
      failed("stalled: InvalidSpec: no such size"),
    ],
    [
      "is stalled by what it was asked before",
      { observedGeneration: 1, conditions: [condition("Stalled", "True", "InvalidSpec")] },
      notYet("its controller has seen generation 1, not yet 2"),
    ],
    ["has seen its spec, and writes so in a text", { observedGeneration: "2" }, met],
    [
      "has not seen its spec, and writes so in a text",
      { observedGeneration: "1" },
      notYet("its controller has seen generation 1, not yet 2"),
    ],
    [
      "has seen a generation that is no number",
      { observedGeneration: "5fd8f5d8c4" },
      failed(`status.observedGeneration is no integer${wayOut}`),
    ],
    ["has a status that is none", "what?", failed(`status is no object${wayOut}`)],
    ["has conditions that are none", { conditions: "what?" }, failed(`status.conditions is no list${wayOut}`)],
    [
      "has a condition that is none",
      { conditions: [condition("Synced", "True"), { type: "Ready", status: true }] },
      failed(`status.conditions[1] is no condition with the texts type, status, reason and message${wayOut}`),
    ],
  ),
};
