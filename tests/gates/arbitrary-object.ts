import type { JsonObject, KubeObject } from "@janus/types";
import * as fc from "fast-check";

type Fields = fc.Arbitrary<JsonObject>;

/** Any of the fields, or none. */
const fields = (of: Readonly<Record<string, fc.Arbitrary<unknown>>>): Fields =>
  fc.record(of, { requiredKeys: [] }) as Fields;

const count = fc.integer({ min: 0, max: 3 });
const counts = (...names: readonly string[]): Readonly<Record<string, fc.Arbitrary<number>>> =>
  Object.fromEntries(names.map((name) => [name, count]));

const REASONS = [
  "ProgressDeadlineExceeded",
  "NewReplicaSetAvailable",
  "Installing",
  "Unschedulable",
  "BackoffLimitExceeded",
  "Other",
  "",
];

const condition = (types: readonly string[]): Fields =>
  fc.oneof(
    {
      weight: 30,
      arbitrary: fc.record(
        {
          type: fc.oneof(
            { weight: 8, arbitrary: fc.constantFrom(...types, "Ready") },
            { weight: 1, arbitrary: fc.constantFrom("Reconciling", "Stalled", "Other") },
          ),
          status: fc.oneof(
            { weight: 5, arbitrary: fc.constantFrom("True", "False") },
            { weight: 1, arbitrary: fc.constantFrom("Unknown", "true", "") },
          ),
          reason: fc.constantFrom(...REASONS),
          message: fc.constantFrom("what happened", ""),
        },
        { requiredKeys: ["type", "status"] },
      ),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom<JsonObject>(
        {},
        { type: "Ready" },
        { type: "Ready", status: null },
        { type: "Ready", status: true },
        { type: "Stalled", status: "True", reason: {} },
        { type: 7, status: "True" },
      ),
    },
  );

/** Not what the API server stores of any kind that it knows; a custom resource may have anything. */
const malformed = fc.constantFrom<unknown>("text", 7, true, ["text"], [["list"]]);

const object = (
  apiVersion: string,
  kind: string,
  spec: Fields,
  status: Readonly<Record<string, fc.Arbitrary<unknown>>>,
  conditions: readonly string[] = [],
): fc.Arbitrary<KubeObject> =>
  fc
    .record(
      {
        metadata: fc.record(
          {
            name: fc.constant("web"),
            generation: fc.oneof({ weight: 30, arbitrary: fc.constantFrom(1, 2) }, { weight: 1, arbitrary: malformed }),
            creationTimestamp: fc.constantFrom("2020-01-01T00:00:00Z", "2099-01-01T00:00:00Z"),
          },
          { requiredKeys: ["name"] },
        ),
        deletionTimestamp: fc.oneof(
          { weight: 20, arbitrary: fc.constant(undefined) },
          { weight: 1, arbitrary: fc.constant("2026-01-01T00:00:00Z") },
        ),
        spec,
        status: fc.oneof(
          {
            weight: 40,
            arbitrary: fields({
              ...status,
              observedGeneration: fc.oneof(
                { weight: 30, arbitrary: fc.constantFrom(1, 2, 2) },
                { weight: 1, arbitrary: fc.constantFrom("1", "2") },
                { weight: 1, arbitrary: malformed },
              ),
              conditions: fc.oneof(
                { weight: 30, arbitrary: fc.array(condition(conditions), { maxLength: 4 }) },
                { weight: 1, arbitrary: malformed },
                { weight: 1, arbitrary: fc.constant(null) },
              ),
            }),
          },
          { weight: 1, arbitrary: malformed },
        ),
      },
      { requiredKeys: ["metadata", "spec"] },
    )
    .map(({ metadata, deletionTimestamp, spec, status }) => ({
      apiVersion,
      kind,
      metadata: { ...metadata, ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }) } as JsonObject,
      spec,
      ...(status === undefined ? {} : { status }),
    }));

const none = fc.constant({});
const replicas = fields({ replicas: count });

const container = fields({
  name: fc.constantFrom("web", "proxy"),
  ready: fc.boolean(),
  state: fc.constantFrom<JsonObject>(
    {},
    { running: {} },
    { waiting: {} },
    { waiting: { reason: "ContainerCreating" } },
    { waiting: { reason: "CrashLoopBackOff", message: "back-off 10s" } },
    { waiting: { reason: "ImagePullBackOff", message: "cannot pull" } },
    { terminated: { exitCode: 1, reason: "Error" } },
    { terminated: { exitCode: 0, reason: "Completed" } },
  ),
});

/** Objects of each kind that kstatus knows, and of some others, as they are at any time of their life. */
export const arbitraryObjects: Readonly<Record<string, fc.Arbitrary<KubeObject>>> = {
  Deployment: object(
    "apps/v1",
    "Deployment",
    fields({
      replicas: count,
      progressDeadlineSeconds: fc.constantFrom(600, 2 ** 31 - 1),
      paused: fc.constantFrom(true, false, false),
    }),
    counts("replicas", "updatedReplicas", "readyReplicas", "availableReplicas"),
    ["Progressing", "Available", "ReplicaFailure"],
  ),
  StatefulSet: object(
    "apps/v1",
    "StatefulSet",
    fields({
      replicas: count,
      updateStrategy: fields({
        type: fc.constantFrom("RollingUpdate", "RollingUpdate", "OnDelete"),
        rollingUpdate: fields({ partition: fc.integer({ min: -1, max: 4 }) }),
      }),
    }),
    {
      ...counts("replicas", "readyReplicas", "currentReplicas", "updatedReplicas"),
      currentRevision: fc.constantFrom("web-1", "web-2"),
      updateRevision: fc.constantFrom("web-1", "web-2"),
    },
  ),
  DaemonSet: object("apps/v1", "DaemonSet", none, {
    ...counts("currentNumberScheduled", "updatedNumberScheduled", "numberAvailable", "numberReady"),
    desiredNumberScheduled: fc.integer({ min: -1, max: 3 }),
  }),
  ReplicaSet: object(
    "apps/v1",
    "ReplicaSet",
    replicas,
    counts("replicas", "readyReplicas", "availableReplicas", "fullyLabeledReplicas"),
    ["ReplicaFailure"],
  ),
  Pod: object(
    "v1",
    "Pod",
    none,
    {
      phase: fc.constantFrom("Pending", "Running", "Running", "Succeeded", "Failed", "Unknown", ""),
      containerStatuses: fc.array(container, { maxLength: 3 }),
      initContainerStatuses: fc.array(container, { maxLength: 1 }),
    },
    ["PodScheduled", "Ready", "ContainersReady"],
  ),
  PersistentVolumeClaim: object("v1", "PersistentVolumeClaim", none, {
    phase: fc.constantFrom("Pending", "Bound", "Lost"),
  }),
  Job: object(
    "batch/v1",
    "Job",
    fields({ completions: count, parallelism: count, suspend: fc.boolean() }),
    { ...counts("succeeded", "active", "failed"), startTime: fc.constant("2026-01-01T00:00:00Z") },
    ["Complete", "Failed", "Suspended", "FailureTarget"],
  ),
  CronJob: object("batch/v1", "CronJob", none, {}),
  Service: object(
    "v1",
    "Service",
    fields({
      type: fc.constantFrom("ClusterIP", "NodePort", "LoadBalancer", "LoadBalancer", "ExternalName"),
      clusterIP: fc.constantFrom("10.0.0.1", "10.0.0.1", "None", ""),
    }),
    {
      loadBalancer: fc.constantFrom<JsonObject>(
        {},
        { ingress: [] },
        { ingress: [{ ip: "192.0.2.1" }] },
        { ingress: [{ hostname: "web.example.com" }] },
      ),
    },
  ),
  PodDisruptionBudget: object("policy/v1", "PodDisruptionBudget", none, counts("disruptionsAllowed"), [
    "DisruptionAllowed",
  ]),
  CustomResourceDefinition: object("apiextensions.k8s.io/v1", "CustomResourceDefinition", none, {}, [
    "NamesAccepted",
    "Established",
    "Terminating",
  ]),
  APIService: object("apiregistration.k8s.io/v1", "APIService", none, {}, ["Available"]),
  Namespace: object("v1", "Namespace", none, { phase: fc.constantFrom("Active", "Terminating") }),
  ConfigMap: object("v1", "ConfigMap", none, {}),
  Secret: object("v1", "Secret", none, {}),
  Node: object("v1", "Node", none, {}, ["MemoryPressure"]),
  HorizontalPodAutoscaler: object("autoscaling/v2", "HorizontalPodAutoscaler", replicas, counts("currentReplicas"), [
    "AbleToScale",
    "ScalingActive",
  ]),
  "a custom resource": object("example.com/v1", "Thing", none, counts("replicas")),
  "a custom resource called Pod": object("example.com/v1", "Pod", none, { phase: fc.constant("Failed") }),
};
