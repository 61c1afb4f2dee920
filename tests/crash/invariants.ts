import type { KubeObject } from "@janus/kube";
import type { Play } from "./play.ts";
import { essence, type World } from "./world.ts";

/** Owners go by their names: one that was deleted comes back under another uid. */
const byName = (world: World): World => {
  const text = [...world].reduce(
    (text, [key, { metadata }]) => text.replaceAll(metadata.uid ?? "no uid", `uid of ${key}`),
    JSON.stringify([...world]),
  );
  return new Map(JSON.parse(text) as readonly (readonly [string, KubeObject])[]);
};

const same = (a: KubeObject | undefined, b: KubeObject | undefined): boolean =>
  JSON.stringify(a && essence(a)) === JSON.stringify(b && essence(b));

const isOurs = (key: string): boolean => key.includes("janus-journal-") || key.includes("-rollback");

/** How far two worlds differ in what is not Janus's own. */
const differences = (a: World, b: World): readonly string[] =>
  [...new Set([...a.keys(), ...b.keys()])]
    .filter((key) => !isOurs(key) && !key.startsWith("Lease/"))
    .filter((key) => !same(a.get(key), b.get(key)))
    .map(
      (key) =>
        `${key}: ${JSON.stringify(a.get(key) && essence(a.get(key) as KubeObject))} → ${JSON.stringify(b.get(key) && essence(b.get(key) as KubeObject))}`,
    );

/** Marks carry the uid of the Transaction, and times the moment: neither is the same in two plays. */
const neutral = (world: World, { metadata: { uid = "", namespace = "" } }: KubeObject): World => {
  const text = JSON.stringify([...world])
    .replaceAll(uid, "UID")
    .replaceAll(namespace, "NAMESPACE")
    .replaceAll(/\\"time\\":\\"[^"]*\\"|"time":"[^"]*"/g, '"time":""')
    .replaceAll(/"(clusterIP|clusterIPs)":("[^"]*"|\[[^\]]*\])/g, '"$1":""');
  return new Map(JSON.parse(text) as readonly (readonly [string, KubeObject])[]);
};

/**
 * What must hold in the end, whenever the controller died: a terminal phase; after Committed every target is in its
 * after-state, after RolledBack as it was before; no lock, no finalizer and no snapshot is left that should not be; nobody
 * else's object has changed.
 */
export const violations = ({ before, after, transaction }: Play, undisturbed: Play): readonly string[] => {
  const { phase } = transaction["status"] as { readonly phase: string };
  const expected = (undisturbed.transaction["status"] as { readonly phase: string }).phase;
  const left = [...after.keys()].filter((key) => key.startsWith("Lease/janus-lock") || key.includes("janus-journal-"));
  const stores = [...after.entries()].filter(([key]) => key.includes("-rollback"));
  const wrongStores = stores.filter(
    ([, { metadata }]) =>
      phase === "Committed" ||
      metadata.finalizers !== undefined ||
      !(metadata.ownerReferences ?? []).some(({ uid }) => uid === transaction.metadata.uid),
  );
  const bystander = "ConfigMap/bystander";
  const moved =
    before.get(bystander)?.metadata.resourceVersion === after.get(bystander)?.metadata.resourceVersion
      ? []
      : [bystander];
  return [
    ...(phase === expected ? [] : [`ended ${phase}, not ${expected}: ${JSON.stringify(transaction["status"])}`]),
    ...left.map((key) => `${key} is left`),
    ...wrongStores.map(([key]) => `${key} is left`),
    ...moved.map((key) => `${key} was touched`),
    ...(phase === "RolledBack"
      ? differences(byName(before), byName(after)).map((text) => `not restored: ${text}`)
      : []),
    ...(phase === "Committed"
      ? differences(neutral(undisturbed.after, undisturbed.transaction), neutral(after, transaction)).map(
          (text) => `not as committed: ${text}`,
        )
      : []),
  ];
};
