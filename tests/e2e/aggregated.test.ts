import { expect, it, onTestFinished } from "vitest";
import type { Manifest } from "../fixtures/administrator.ts";
import { applying, creating, patching, updating } from "../fixtures/changes.ts";
import { clusterAdmin } from "../fixtures/cluster-admin.ts";
import { configMap } from "../fixtures/manifests.ts";
import { type Txn, workspace } from "../fixtures/workspace.ts";

const fails = { ...creating(configMap("never")), waitFor: ["jsonpath={.data.never}=x"], waitTimeout: "1s" };
const message = ({ status }: Txn, type = "Ready"): string =>
  status?.conditions?.find((condition) => condition.type === type)?.message ?? "";
const role = (name: string, more: object): Manifest => ({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRole",
  metadata: { name },
  ...more,
});
const rulesA = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get"] }];
const rulesB = [{ apiGroups: [""], resources: ["pods"], verbs: ["list"] }];

it.each([
  ["Create, then Apply", creating, applying],
  ["Apply, then Apply", applying, applying],
  ["Create, then Update", creating, updating],
  ["Create, then Patch", creating, patching],
] as const)(
  "restores the rules of a ClusterRole that a change has made an aggregated one: %s",
  async (_, first, type) => {
    const place = await workspace();
    await clusterAdmin(place.namespace);
    const label = `${place.namespace}.example.com/x`;
    const name = `${place.namespace}-agg`;
    const part = role(`${place.namespace}-part`, { rules: rulesA });
    await place.create({ ...part, metadata: { ...part.metadata, labels: { [label]: "y" } } });
    const aggregated = role(name, { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [label]: "y" } }] } });
    const plain = role(name, { rules: rulesB });
    onTestFinished(async () => {
      await place.remove(aggregated);
      await place.remove(part);
    });
    await place.janus();
    expect((await place.run([first(plain)], { name: "plain" })).status.phase).toBe("Committed");
    const before = await place.read(plain);
    await place.submit([{ ...type(aggregated), waitFor: ["jsonpath={.rules[0].resources[0]}=configmaps"] }, fails]);
    const txn = await place.over();
    expect(`${txn.status.phase} ${message(txn)} ${txn.status.progress}`).toMatch(/^RolledBack.*never/u);
    const { resourceVersion: _v, ...metadata } = before.metadata;
    const now = await place.read(plain);
    const { resourceVersion: _w, ...is } = now.metadata;
    expect({ ...now, metadata: is }).toEqual({ ...before, metadata });
  },
);
