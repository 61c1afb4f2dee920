// The labels of the controller's objects.
import { LEADER_LABEL } from "@janus/api";

/** The recommended labels (https://kubernetes.io/docs/concepts/overview/working-with-objects/common-labels/). */
export const labels = { "app.kubernetes.io/name": "janus", "app.kubernetes.io/part-of": "janus" } as const;

/** Labels of the controller's own objects; its Deployment selects its Pods by them, so they never change. */
export const controllerLabels = { ...labels, "app.kubernetes.io/component": "controller" } as const;

/** Labels of the objects of the Blueprint controller; its Deployment selects its Pods by them, so they never change. */
export const blueprintsLabels = { ...labels, "app.kubernetes.io/component": "blueprints" } as const;

/** Labels of the objects of the controller of the Git journal; its Deployment selects its Pods by them, so they never change. */
export const gitJournalLabels = { ...labels, "app.kubernetes.io/component": "git-journal" } as const;

/** Each controller sets it on its own Pod while it leads, and removes it otherwise. */
export const leaderLabel = { [LEADER_LABEL]: "true" } as const;

/** The same of the Git journal: its leader serves the webhook. */
export const gitJournalLeaderLabel = { "janus.io/git-journal-leader": "true" } as const;

/** Labels of the objects for metrics, which distinguish them from the Service of the leader. */
export const metricsLabels = { ...labels, "app.kubernetes.io/component": "metrics" } as const;
