// How long the args of a phase take with a large template in the shape of published ones, parsed anew each time.
import { renderedAction } from "@janus/blueprints/authoring";
import * as E from "fp-ts/lib/Either.js";
import { type Figure, median, numbers, quantile } from "../figures.ts";

const ROUNDS = 300;

const object = (kind: string, name: string, more: object) => ({
  apiVersion: "v1",
  kind,
  metadata: { name, namespace: "shop", labels: { app: name } },
  ...more,
});
const bytes = (text: string): string => Buffer.from(text).toString("base64");

const VALUES = {
  object: { ...object("StatefulSet", "db", { spec: { replicas: 3 } }), apiVersion: "apps/v1" },
  workload: {
    Pods: ["db-0", "db-1", "db-2"],
    Containers: [["main"], ["main"], ["main"]],
    PersistentVolumeClaims: { "db-0": { "data-db-0": "/data" } },
  },
  configMaps: { location: object("ConfigMap", "location", { data: { bucket: "backups" } }) },
  secrets: { db: object("Secret", "db", { data: { username: bytes("admin"), password: bytes("p$w") } }) },
  profile: {
    ...object("Profile", "s3", {
      location: { type: "s3Compliant", bucket: "backups", endpoint: "https://s3.example.com", region: "eu" },
      credential: {
        type: "keyPair",
        keyPair: {
          idField: "id",
          secretField: "key",
          secret: { apiVersion: "v1", kind: "Secret", name: "s3", namespace: "shop" },
        },
      },
      skipSSLVerify: false,
    }),
    apiVersion: "cr.kanister.io/v1alpha1",
  },
  objects: [object("Secret", "s3", { data: { id: bytes("key-id"), key: bytes("key-secret") } })],
  outputs: { prepare: { snapshot: "snap-1" } },
};

/** One step of a restore, in the shape of those of databases that are restored Pod by Pod. */
const step = (name: string): string => `
# ${name}: stops the database, fetches its files, and starts it again
path='backups/{{ .StatefulSet.Namespace }}/{{ .StatefulSet.Name }}/{{ toDate "2006-01-02T15:04:05.999999999Z07:00" .Time | date "2006-01-02T15-04-05" }}/${name}.tgz'
export DB_USER='{{ index .Secrets.db.Data "username" | toString }}' DB_PASSWORD='{{ .Secrets.db.Data.password | toString }}'
{{ range $i, $pod := .StatefulSet.Pods }}
kubectl exec -n {{ $.StatefulSet.Namespace }} {{ $pod }} -c {{ index $.StatefulSet.Containers $i 0 }} -- sh -c "db-tool stop --force && rm -rf /data/*"
{{- if eq $i 0 }}
kubectl exec -n {{ $.StatefulSet.Namespace }} {{ $pod }} -- db-tool snapshot --from {{ $.Phases.prepare.Output.snapshot }} | gzip > /tmp/${name}.tgz
{{- end }}
{{ end }}
kando location push --profile '{{ toJson .Profile }}' --path "$path" /tmp/${name}.tgz
kando output ${name} "s3://{{ .ConfigMaps.location.Data.bucket }}/$path"
`;

const SCRIPT = `set -o errexit\n${["data", "log", "index", "users"].map(step).join("")}`;

const task = (name: string, script: string): object => ({
  func: "KubeTask",
  name,
  args: { namespace: "{{ .StatefulSet.Namespace }}", image: "tools", command: ["bash", "-c", script] },
});

export const renderFigures = (): readonly Figure[] => {
  const times = numbers(ROUNDS).map((round) => {
    const phases = [task("prepare", "true"), task("restore", `${SCRIPT}# ${round}`)];
    const before = process.cpuUsage();
    const rendered = renderedAction("restore", { phases }, VALUES, {
      namespace: "shop",
      time: "2026-02-03T04:05:06.7Z",
    });
    // Of CPU: whatever else the machine is doing.
    const took = process.cpuUsage(before).user / 1000;
    const wrong = rendered.phases.map(({ args }) => args).find(E.isLeft);
    if (wrong !== undefined) throw new Error(wrong.left);
    return took;
  });
  return [
    {
      what: `args of a phase with a template of ${(SCRIPT.length / 1024).toFixed(1)} KiB, rendered, in CPU time`,
      measured: `${median(times).toFixed(2)} ms (median; the first ${(times[0] ?? 0).toFixed(1)} ms; nine of ten within ${quantile(times, 0.9).toFixed(2)} ms)`,
      most: "2 ms",
    },
  ];
};
