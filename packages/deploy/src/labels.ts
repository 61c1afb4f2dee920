/** The recommended labels (https://kubernetes.io/docs/concepts/overview/working-with-objects/common-labels/). */
export const labels = { "app.kubernetes.io/name": "janus", "app.kubernetes.io/part-of": "janus" } as const;

/** Labels of the controller's own objects; its Deployment selects its Pods by them, so they never change. */
export const controllerLabels = { ...labels, "app.kubernetes.io/component": "controller" } as const;

/** The leader puts it on its own Pod, and takes it off the Pod of the leader before. */
export const leaderLabel = { "backup.janus.io/leader": "true" } as const;

/** Of what has to do with metrics, apart from the Service that reaches the leader. */
export const metricsLabels = { ...labels, "app.kubernetes.io/component": "metrics" } as const;
