// Act (e): a backup recipe whose controller is killed in the middle of a dump goes on, and ends complete.
import { createHash } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import path from "node:path";
import { kanisterCrds } from "@janus/blueprints";
import type { KubeObject } from "@janus/kube";
import { leash } from "../control-plane/leash.ts";
import { startNode } from "../fixtures/node/start-node.ts";
import { replica } from "../fixtures/replica.ts";
import { stopwatch } from "./print-progress.ts";
import { bold, dim, green, heading, say, sayWrapped } from "./say.ts";
import type { Stage } from "./stage.ts";
import { until } from "./until.ts";

const namespace = "recipes";
const rows = 20;
/** Of the dump, when the controller is killed. */
const killAt = 8;

const API_VERSION = "cr.kanister.io/v1alpha1";
const core = { apiVersion: "v1", namespace } as const;
const run = { apiVersion: API_VERSION, kind: "ActionSet", namespace, name: "backup-1" } as const;

const kando = (key: string, value: string): string =>
  `echo "###Phase-output###: {\\"key\\":\\"${key}\\",\\"value\\":\\"${value}\\"}"`;

const task = (name: string, script: string): object => ({
  func: "KubeTask",
  name,
  args: { image: "database-tools", command: ["sh", "-ec", script] },
});

const file = "{{ .Options.directory }}/dump.sql";

const recipe = {
  apiVersion: API_VERSION,
  kind: "Blueprint",
  metadata: { namespace, name: "database" },
  actions: {
    backup: {
      outputArtifacts: {
        dump: { keyValue: { sha256: "{{ .Phases.dump.Output.sha256 }}", rows: "{{ .Phases.count.Output.rows }}" } },
      },
      phases: [
        task(
          "dump",
          `for row in $(seq ${rows}); do echo "insert into orders values ($row);" >> ${file}; sleep 0.1; done; ` +
            kando("sha256", `$(sha256sum ${file} | cut -d ' ' -f 1)`),
        ),
        task("count", kando("rows", `$(grep -c insert ${file})`)),
      ],
      deferPhase: task("unlock", "echo unlocked >> {{ .Options.directory }}/unlocked"),
    },
  },
};

const actionSet = (directory: string) => ({
  apiVersion: API_VERSION,
  kind: "ActionSet",
  metadata: { namespace, name: run.name },
  spec: {
    serviceAccountName: "backup",
    actions: [
      {
        name: "backup",
        blueprint: "database",
        object: { apiVersion: "v1", resource: "configmaps", kind: "", name: "orders", namespace },
        options: { directory },
      },
    ],
  },
});

const linesOf = async (file: string): Promise<readonly string[]> =>
  (await readFile(file, "utf8").catch(() => "")).split("\n").filter((line) => line !== "");

interface Status {
  readonly state?: string;
  readonly actions?: readonly {
    readonly artifacts?: { readonly dump?: { readonly keyValue: Readonly<Record<string, string>> } };
  }[];
}
const statusOf = (object: KubeObject | undefined): Status => object?.["status"] ?? {};

/** Runs it on a node of this machine, whose Pods are processes. */
export const recipeResumes = async ({ admin, controlPlane, expectations: { expect } }: Stage): Promise<void> => {
  heading(`(e) A recipe survives a kill: ActionSet ${namespace}/${run.name}, of Kanister's kinds`);
  sayWrapped(
    `A Blueprint dumps a database of ${rows} rows, counts them, and unlocks it in the end. Its commands run in Pods, here as ` +
      "processes of this machine. The controller is killed with SIGKILL in the middle of the dump, and another one is started.",
    2,
    dim,
  );
  const directory = path.join(controlPlane.directory, "recipes");
  await mkdir(directory);
  const held = leash(directory);
  for (const crd of kanisterCrds) await admin.create(crd as unknown as KubeObject);
  await admin.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  await admin.create({ ...core, kind: "ServiceAccount", metadata: { namespace, name: "backup" } });
  await admin.create({
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "RoleBinding",
    metadata: { namespace, name: "backup" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "edit" },
    subjects: [{ kind: "ServiceAccount", namespace, name: "backup" }],
  });
  await admin.create({ ...core, kind: "ConfigMap", metadata: { namespace, name: "orders" } });
  const node = await startNode(admin.client, { namespace });
  const flags = [`--kubeconfig=${controlPlane.kubeconfig}`, `--watch-namespace=${namespace}`, "--leader-elect=false"];
  const program = [
    "--conditions=source",
    path.resolve(import.meta.dirname, "../../packages/blueprints/src/shell/main.ts"),
  ];
  const controller = await replica("blueprints", flags, directory, held, [], program);
  const time = stopwatch();
  try {
    await controller.start();
    await admin.create(recipe);
    time();
    await admin.create(actionSet(directory));
    const dump = path.join(directory, "dump.sql");
    await until(`${killAt} rows are dumped`, async () => (await linesOf(dump)).length >= killAt);
    await controller.kill();
    const written = (await linesOf(dump)).length;
    say(`${time()}  ${bold("SIGKILL")}      the controller, at row ${written} of ${rows}; its Pod goes on`);
    expect("the dump is not complete when the controller is killed", written < rows);
    await until("the Pod has ended without a controller", async () => (await linesOf(dump)).length === rows);
    expect("nobody has ended the ActionSet meanwhile", statusOf(await admin.get(run)).state === "running");
    await controller.start();
    say(`${time()}  ${bold("Started")}      another one, which finds the Pod, and reads its log`);
    await until("the ActionSet is complete", async () => statusOf(await admin.get(run)).state === "complete");
    const shown = statusOf(await admin.get(run)).actions?.[0]?.artifacts?.dump?.keyValue ?? {};
    const hash = createHash("sha256")
      .update(await readFile(dump))
      .digest("hex");
    say(
      `${time()}  ${green("complete")}     artifact dump: rows ${shown["rows"]}, sha256 ${shown["sha256"]?.slice(0, 12)}…`,
    );
    expect(
      "each row was dumped once",
      new Set(await linesOf(dump)).size === rows && (await linesOf(dump)).length === rows,
    );
    expect(
      "the artifact is that of the dump",
      shown["sha256"] === hash && shown["rows"] === `${rows}`,
      JSON.stringify(shown),
    );
    expect("the deferPhase ran once", (await linesOf(path.join(directory, "unlocked"))).length === 1);
    say(dim(`             each row once, unlocked once: no command ran twice`));
  } finally {
    await controller.end();
    await node.stop();
    await held.end();
  }
};
