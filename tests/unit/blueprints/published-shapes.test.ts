// Tests that what published blueprints are made of is accepted and rendered: each construct once, in our own words.
import { asObject, type JsonObject, type KubeObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { ActionSet, ActionSetSpec } from "../../../packages/blueprints/src/api/action-set.ts";
import { BlueprintAction } from "../../../packages/blueprints/src/api/blueprint.ts";
import { renderArgs } from "../../../packages/blueprints/src/core/args.ts";
import { functionOf } from "../../../packages/blueprints/src/core/functions/index.ts";
import { newJournal } from "../../../packages/blueprints/src/core/journal.ts";
import { paramsOf } from "../../../packages/blueprints/src/core/params.ts";
import type { RenderedJson, RenderedObject } from "../../../packages/blueprints/src/core/render-args.ts";
import type { Inquiry } from "../../../packages/blueprints/src/core/requests.ts";
import { actionProblems } from "../../../packages/blueprints/src/core/action-problems.ts";
import { isText } from "../../../packages/blueprints/src/core/text.ts";

const must = <A>(either: E.Either<unknown, A>): A => {
  if (E.isLeft(either)) throw new Error(JSON.stringify(either.left));
  return either.right;
};

const bytes = (text: string): string => Buffer.from(text).toString("base64");
const ref = (kind: string, name: string, namespace = "shop") => ({ kind, name, namespace });
const object = (kind: string, name: string, data: object): KubeObject => ({
  apiVersion: "v1",
  kind,
  metadata: { name, namespace: "shop", labels: { app: name } },
  data,
});

const OBJECTS: Readonly<Record<string, KubeObject>> = {
  "Secret/shop/db": object("Secret", "db", { password: bytes("p$w"), "postgres-url": bytes(bytes("pg://db")) }),
  "ConfigMap/shop/location": object("ConfigMap", "location", { bucket: "backups", nodes: "a b" }),
};

const inquiry: Inquiry = {
  missing: [],
  ask: ({ fact }) => {
    const found = OBJECTS[fact];
    if (found === undefined) throw new Error(`nobody was to ask for ${fact}`);
    return E.right(found);
  },
};

const META = { name: "db", namespace: "shop", labels: { app: "db", "app.kubernetes.io/instance": "prod" } };
const subject: JsonObject = { apiVersion: "apps/v1", kind: "StatefulSet", metadata: META, spec: { replicas: 2 } };
const workload: JsonObject = {
  Pods: ["db-0", "db-1"],
  Containers: [["postgres", "exporter"], ["postgres"]],
  PersistentVolumeClaims: { "db-0": { "data-db-0": "/var/lib/data" } },
};

/** What a phase of a backup sees after another one. @param kind of the object of the action */
const paramsOn = (kind: string, func: string, args: object) => {
  const blueprint = {
    phases: [
      { func: "KubeTask", name: "dump", objects: { creds: ref("Secret", "{{ .Object.metadata.labels.app }}") } },
      { func, name: "upload", args },
    ],
  };
  const spec = {
    actions: [
      {
        name: "backup",
        blueprint: "b",
        object: ref(kind, kind === "namespace" ? "shop" : "db"),
        secrets: { db: ref("Secret", "db") },
        configMaps: { location: ref("ConfigMap", "location") },
        artifacts: {
          cloudObject: { keyValue: { path: "daily/1", root: "/" } },
          snapshot: { kopiaSnapshot: '{"id":"k1"}' },
        },
        options: { level: "full", replicas: "2" },
        podOverride: { nodeSelector: { disk: "ssd" } },
      },
    ],
  };
  const actionSet = must(
    ActionSet.decode({ metadata: { name: "a", namespace: "shop", uid: "u", resourceVersion: "1" }, spec }),
  );
  const journal = newJournal({
    serviceAccount: "ops",
    time: "2026-02-03T04:05:06.700Z",
    seed: "",
    spec: must(ActionSetSpec.decode(spec)),
    actions: [
      {
        blueprint: must(BlueprintAction.decode(blueprint)),
        phases: [
          { state: "complete", attempt: 1, output: { backupID: "b1", "file-count": "7" } },
          { state: "running", attempt: 1 },
        ],
        object: subject,
        workload,
        configMaps: { location: OBJECTS["ConfigMap/shop/location"] as unknown as JsonObject },
      },
    ],
  });
  const params = paramsOf(inquiry, actionSet, journal, { action: 0, phase: 1 });
  if (params === undefined) throw new Error("something is still to be read");
  return must(params);
};

/** Text without its marks of Secrets. */
const shown = (value: RenderedJson): unknown => {
  if (isText(value)) return value.pieces.map(({ text }) => text).join("");
  if (Array.isArray(value)) return (value as readonly RenderedJson[]).map(shown);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value as RenderedObject).map(([name, one]) => [name, shown(one)]));
};

const rendered = (args: JsonObject, kind = "statefulset", func = "KubeTask"): unknown =>
  shown(must(renderArgs(functionOf(func)?.args ?? {}, args, paramsOn(kind, func, args), { now: 0, seed: "" })));

describe("templates of published blueprints", () => {
  it.each([
    ["the object, with lower-case names", "{{ .Object.metadata.namespace }}/{{ .Object.spec.replicas }}", "shop/2"],
    ["a label whose name is no word", '{{ index .Object.metadata.labels "app.kubernetes.io/instance" }}', "prod"],
    ["the first Pod", "{{ index .StatefulSet.Pods 0 }}", "db-0"],
    ["the last Pod", "{{ index .StatefulSet.Pods (sub (len .StatefulSet.Pods) 1) }}", "db-1"],
    ["a container", "{{ index .StatefulSet.Containers 0 1 }}", "exporter"],
    ["a claim", '{{ index .StatefulSet.PersistentVolumeClaims "db-0" "data-db-0" }}', "/var/lib/data"],
    [
      "a loop with two variables",
      "{{ range $i, $pod := .StatefulSet.Pods }}{{ $i }}={{ $pod }} {{ end }}",
      "0=db-0 1=db-1 ",
    ],
    [
      "a loop over a map",
      "{{ range $pod, $claims := .StatefulSet.PersistentVolumeClaims }}{{ $pod }}{{ range $pvc, $at := $claims }} {{ $pvc }}{{ end }}{{ end }}",
      "db-0 data-db-0",
    ],
    ["a loop that ends early", "{{ range .StatefulSet.Pods }}{{ . }}{{ break }}{{ end }}", "db-0"],
    ["a choice", '{{ if eq .Options.level "full" }}all{{ else }}some{{ end }}', "all"],
    ["trimmed blanks", "a {{- if .StatefulSet }} b {{- end }} c", "a b c"],
    ["a value of a Secret", "{{ .Secrets.db.Data.password | toString }}", "p$w"],
    ["a value that is encoded once more", '{{ index .Secrets.db.Data "postgres-url" | toString | b64dec }}', "pg://db"],
    ["a Secret of a former phase", "{{ .Phases.dump.Secrets.creds.Data.password | toString | quote }}", '"p$w"'],
    ["the name of a Secret", "{{ .Secrets.db.Name }}/{{ .Secrets.db.Namespace }}", "db/shop"],
    ["a ConfigMap", "{{ .ConfigMaps.location.Data.bucket }}", "backups"],
    ["an output", "{{ .Phases.dump.Output.backupID }}", "b1"],
    ["an output whose name is no word", '{{ index .Phases.dump.Output "file-count" }}', "7"],
    ["an artifact", "{{ .ArtifactsIn.cloudObject.KeyValue.path }}", "daily/1"],
    ["a snapshot of kopia", "{{ .ArtifactsIn.snapshot.KopiaSnapshot }}", '{"id":"k1"}'],
    [
      "the time",
      '{{ toDate "2006-01-02T15:04:05.999999999Z07:00" .Time | date "2006-01-02T15-04-05" }}',
      "2026-02-03T04-05-06",
    ],
    ["JSON", "{{ toJson .StatefulSet.Pods }}", '["db-0","db-1"]'],
    ["a changed text", '{{ .ArtifactsIn.cloudObject.KeyValue.path | replace "/" "-" | upper }}', "DAILY-1"],
    ["an option that may be missing", '{{ if index .Options "none" }}x{{ else }}{{ .Options.level }}{{ end }}', "full"],
    [
      "a variable",
      '{{ $path := printf "s3://%s/%s" .ConfigMaps.location.Data.bucket .Options.level }}{{ $path }}',
      "s3://backups/full",
    ],
    ["the name of the phase", "{{ .CurrentPhase }}", "upload"],
    ["the override of Pods", "{{ .PodOverride.nodeSelector.disk }}", "ssd"],
    [
      "a shell, not a template",
      "set -o pipefail; echo ${HOME} { a } }} | tee $(date)",
      "set -o pipefail; echo ${HOME} { a } }} | tee $(date)",
    ],
  ])("%s", (_, template, text) => {
    expect(rendered({ image: "i", command: ["sh", "-c", template] })).toMatchObject({ command: ["sh", "-c", text] });
  });

  it.each([
    ["deployment", "{{ .Deployment.Name }}/{{ len .Deployment.Pods }}", "db/2"],
    ["deploymentconfig", "{{ .DeploymentConfig.Namespace }}", "shop"],
    ["pvc", "{{ .PVC.Namespace }}/{{ .PVC.Name }}", "shop/db"],
    ["namespace", "{{ .Namespace.Name }}", "shop"],
  ])("of an action on a %s", (kind, template, text) => {
    expect(rendered({ image: template }, kind)).toEqual({ image: text });
  });

  it("in keys, in lists of objects, and beside numbers and booleans", () => {
    const args = {
      image: "i",
      command: "date",
      podLabels: { "{{ .Options.level }}": "{{ .Object.metadata.name }}" },
      podOverride: {
        hostNetwork: true,
        terminationGracePeriodSeconds: 5,
        tolerations: [{ key: "{{ .Options.level }}" }],
      },
    };
    expect(rendered(args)).toEqual({
      ...args,
      podLabels: { full: "db" },
      podOverride: { ...args.podOverride, tolerations: [{ key: "full" }] },
    });
  });
});

const task = (name: string, ...command: readonly string[]) => ({
  func: "KubeTask",
  name,
  args: { namespace: "{{ .Object.metadata.namespace }}", image: "ghcr.io/kanisterio/kanister-tools:0.113.0", command },
});

/** The shapes of actions: each is accepted as a whole. */
const ACTIONS: Readonly<Record<string, object>> = {
  "a dump that is streamed to the store, with an artifact and a clean-up": {
    kind: "StatefulSet",
    secretNames: ["db"],
    configMapNames: ["location"],
    outputArtifacts: { cloudObject: { keyValue: { path: "{{ .Phases.dump.Output.path }}" } } },
    phases: [
      {
        ...task(
          "dump",
          "bash",
          "-o",
          "errexit",
          "-c",
          "pg_dump | kando location push --profile '{{ toJson .Profile }}' --path x -\nkando output path x",
        ),
        objects: { creds: ref("Secret", "{{ .StatefulSet.Name }}-db", "{{ .StatefulSet.Namespace }}") },
      },
    ],
    deferPhase: task("unlock", "sh", "-c", "echo {{ .Phases.dump.Output.path }}"),
  },
  "a restore from an artifact of a kopia snapshot": {
    inputArtifactNames: ["cloudObject"],
    phases: [
      task(
        "load",
        "kando",
        "location",
        "pull",
        "--kopia-snapshot",
        "{{ .ArtifactsIn.cloudObject.KopiaSnapshot }}",
        "-",
      ),
    ],
  },
  "one that scales down, works on what it has made, waits, and scales up again": {
    kind: "Deployment",
    phases: [
      {
        func: "ScaleWorkload",
        name: "down",
        args: { name: "{{ .Deployment.Name }}", namespace: "shop", kind: "Deployment", replicas: 0 },
      },
      {
        func: "KubeOps",
        name: "make",
        args: {
          operation: "create",
          namespace: "{{ .Deployment.Namespace }}",
          spec: "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: '{{ .Deployment.Name }}-lock'\ndata:\n  at: '{{ .Time }}'\n",
        },
      },
      {
        func: "Wait",
        name: "wait",
        args: {
          timeout: "5m",
          conditions: {
            anyOf: [
              {
                condition:
                  '{{ if and (eq "{$.status.phase}" "Bound") (ne "{ $.spec.volumeName }" "") }}true{{ else }}false{{ end }}',
                objectReference: {
                  apiVersion: "v1",
                  resource: "persistentvolumeclaims",
                  name: "{{ .Phases.make.Output.name }}",
                  namespace: "shop",
                },
              },
            ],
          },
        },
      },
      {
        func: "WaitV2",
        name: "again",
        args: {
          timeout: "1m",
          conditions: {
            allOf: [
              {
                condition:
                  '{{ $ready := false }}{{ range .status.conditions }}{{ if and (eq .type "Available") (eq .status "True") }}{{ $ready = true }}{{ end }}{{ end }}{{ $ready }}',
                objectReference: {
                  apiVersion: "v1",
                  group: "apps",
                  resource: "deployments",
                  name: "db",
                  namespace: "shop",
                },
              },
            ],
          },
        },
      },
      { func: "ScaleWorkload", name: "up", args: { replicas: "{{ .Phases.down.Output.originalReplicaCount }}" } },
      {
        func: "KubeOps",
        name: "drop",
        args: {
          operation: "delete",
          objectReference: {
            apiVersion: "{{ .Phases.make.Output.apiVersion }}",
            group: "{{ .Phases.make.Output.group }}",
            resource: "{{ .Phases.make.Output.resource }}",
            name: "{{ .Phases.make.Output.name }}",
            namespace: "{{ .Phases.make.Output.namespace }}",
          },
        },
      },
    ],
  },
  "snapshots of volumes": {
    outputArtifacts: {
      snapshotInfo: {
        keyValue: { name: "{{ .Phases.take.Output.name }}", restoreSize: "{{ .Phases.take.Output.restoreSize }}" },
      },
    },
    phases: [
      {
        func: "CreateCSISnapshot",
        name: "take",
        args: { pvc: "{{ .PVC.Name }}", namespace: "{{ .PVC.Namespace }}", snapshotClass: "csi" },
      },
      {
        func: "RestoreCSISnapshot",
        name: "restore",
        args: {
          name: "s",
          pvc: "new",
          namespace: "shop",
          storageClass: "csi",
          restoreSize: "{{ .Phases.take.Output.restoreSize }}",
          accessModes: ["ReadWriteOnce"],
          volumeMode: "Filesystem",
        },
      },
      {
        func: "DeleteCSISnapshot",
        name: "delete",
        args: { name: "{{ .Phases.take.Output.name }}", namespace: "{{ .PVC.Namespace }}" },
      },
    ],
  },
};

describe("actions of published blueprints", () => {
  it.each(Object.entries(ACTIONS))("%s", (_, action) => {
    expect(actionProblems(must(BlueprintAction.decode(asObject(action as JsonObject))))).toEqual([]);
  });
});
