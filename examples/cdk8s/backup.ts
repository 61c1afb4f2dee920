// Prints a Blueprint that backs the shop up and restores it, and an ActionSet that runs the backup.
import { ActionSet, Artifact, Blueprint, functions } from "@janus/cdk8s";
import { App, Chart } from "cdk8s";

const { NAMESPACE: namespace = "shop", RUN: run = "1" } = process.env;
const { KubeTask, ScaleWorkload } = functions;
const image = "registry.example.com/shop-tools:1.0";

const dump = KubeTask({ name: "dump", args: { image, command: ["sh", "-c", 'kando output id "$(shop-dump)"'] } });
const copy = new Artifact("copy", { id: dump.output("id") });

const stop = ScaleWorkload({ name: "stop", args: { replicas: 0 } });
const load = KubeTask({ name: "load", args: { image, command: ["shop-load", copy.value("id")] } });
const start = ScaleWorkload({ name: "start", args: { replicas: stop.output("originalReplicaCount") } });

const app = new App();
const backup = new Chart(app, "backup", { namespace });
const blueprint = new Blueprint(backup, "shop", {
  metadata: { name: "shop" },
  actions: {
    backup: { kind: "Deployment", phases: [dump], outputArtifacts: [copy] },
    restore: { kind: "Deployment", phases: [stop, load, start], inputArtifacts: [copy] },
  },
});

// An ActionSet is executed once: each run has a name of its own.
new ActionSet(backup, "run", {
  metadata: { name: `backup-${run}` },
  serviceAccount: "shop-backup",
  actions: [{ name: "backup", blueprint, object: { kind: "deployment", name: "shop", namespace } }],
});

process.stdout.write(app.synthYaml());
