import { MAX_CHANGES, transactions } from "@janus/api";
import { controller } from "@janus/controller";
import { jsonLog } from "@janus/runtime/parts";
import { type Api, connect, loadConfig, type Resource } from "@janus/kube";
import { configMaps, namespaces, serviceAccounts } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { startControlPlane } from "../control-plane/control-plane.ts";
import { installTransactions } from "../crash/transactions.ts";
import { must } from "../crash/world.ts";

/**
 * What atomicity costs: a Transaction of N ConfigMap patches against the least that any checkpointed sequence needs, N times
 * two serial writes with the same client, in turn in the same run. Machines differ and drift; the ratio is what counts.
 */

const NAMESPACE = "bench";
const SIZES = [1, 10, 100, MAX_CHANGES] as const;
const ROUNDS = 3;

const roleBindings: Resource = {
  ...configMaps,
  group: "rbac.authorization.k8s.io",
  plural: "rolebindings",
  kind: "RoleBinding",
};

const create = async (api: Api, of: Resource, body: object): Promise<void> => {
  const namespace = of.namespaced ? { namespace: NAMESPACE } : {};
  must(await api.send({ verb: "create", resource: of, ...namespace, body }));
};

const configMap = (name: string, data: object): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: NAMESPACE },
  data,
});

const prepare = async (api: Api): Promise<void> => {
  await installTransactions(api);
  await create(api, namespaces, {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: NAMESPACE },
  });
  await create(api, serviceAccounts, {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { name: "bench" },
  });
  await create(api, roleBindings, {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "RoleBinding",
    metadata: { name: "bench" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "admin" },
    subjects: [{ kind: "ServiceAccount", name: "bench", namespace: NAMESPACE }],
  });
  for (let n = 0; n < Math.max(...SIZES); n += 1)
    await create(api, configMaps, configMap(`target-${n}`, { value: "0" }));
  await create(api, configMaps, configMap("checkpoint", { cursor: "0" }));
};

/** ms for N times two serial writes: the target, and a small object that counts. */
const bare = async (api: Api, size: number, value: string): Promise<number> => {
  const start = performance.now();
  for (let n = 0; n < size; n += 1) {
    const name = `target-${n}`;
    const body = configMap(name, { value });
    must(
      await api.send({
        verb: "apply",
        resource: configMaps,
        namespace: NAMESPACE,
        name,
        body,
        fieldManager: "bench",
        force: true,
      }),
    );
    const cursor = { data: { cursor: String(n) } };
    must(
      await api.send({
        verb: "mergePatch",
        resource: configMaps,
        namespace: NAMESPACE,
        name: "checkpoint",
        body: cursor,
      }),
    );
  }
  return performance.now() - start;
};

/** ms from the creation of a Transaction until it is Committed. */
const transaction = async (api: Api, size: number, value: string): Promise<number> => {
  const name = `bench-${size}-${value}`;
  const changes = Array.from({ length: size }, (_, n) => ({
    type: "Patch",
    target: { apiVersion: "v1", kind: "ConfigMap", name: `target-${n}` },
    content: { data: { value } },
  }));
  const start = performance.now();
  await create(api, transactions, {
    apiVersion: "backup.janus.io/v1alpha1",
    kind: "Transaction",
    metadata: { name, namespace: NAMESPACE },
    spec: { serviceAccountName: "bench", changes },
  });
  for (;;) {
    const seen = must(await api.send({ verb: "get", resource: transactions, namespace: NAMESPACE, name }));
    const { phase } = (seen["status"] ?? {}) as { readonly phase?: string };
    if (phase === "Committed") return performance.now() - start;
    if (phase === "Failed" || phase === "RolledBack") throw new Error(JSON.stringify(seen["status"]));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const plane = await startControlPlane({ log: say });
try {
  const config = loadConfig({}, plane.kubeconfig);
  if (E.isLeft(config)) throw new Error(config.left);
  const api = connect(config.right);
  say(`preparing ${Math.max(...SIZES)} ConfigMaps`);
  await prepare(api);
  const janus = controller(connect(config.right), {
    settings: { controllerNamespace: NAMESPACE, writeTimeout: 5000, margin: 1000, recoveryDelay: 30_000 },
    concurrency: 4,
    identity: "bench",
    log: jsonLog("error"),
  });
  await janus.synced;
  say("");
  say("changes   two bare writes each   Transaction   ratio   (medians of 3 rounds, in turn)");
  for (const size of SIZES) {
    const bares: number[] = [];
    const wholes: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      bares.push(await bare(api, size, `bare-${round}`));
      wholes.push(await transaction(api, size, `r${round}`));
    }
    const [a, b] = [median(bares), median(wholes)];
    const cells = [String(size).padStart(7), `${a.toFixed(0)} ms`.padStart(23), `${b.toFixed(0)} ms`.padStart(14)];
    say([...cells, (b / a).toFixed(2).padStart(8)].join(""));
  }
  await janus.stop();
  await api.close();
} finally {
  await plane.stop();
}
process.exit(0);
