import { createHash } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { MAX_CHANGES } from "@janus/api";
import type { ChangeManifest, TransactionManifest } from "@janus/authoring";
import { surplusBytes } from "@janus/controller";
import { expect, it } from "vitest";
import { asStored } from "../../../packages/cli/src/manifests/as-stored.ts";
import { contentsAside } from "../../../packages/cli/src/manifests/contents-aside.ts";

const change = (kind: string, name: string, bytes: number): ChangeManifest => ({
  target: { apiVersion: "v1", kind, name },
  type: "Apply",
  content: { data: { text: `${name} `.padEnd(bytes, "x") } },
});

const txn = (changes: readonly ChangeManifest[]): TransactionManifest => ({
  apiVersion: "backup.janus.io/v1alpha1",
  kind: "Transaction",
  metadata: { name: "release" },
  spec: { serviceAccountName: "deployer", changes },
});

/** The contents of the changes by index, wherever they are. */
const contentsOf = ({ manifest, objects }: ReturnType<typeof contentsAside>) =>
  manifest.spec.changes.map(({ content, contentFrom }) => {
    const ref = contentFrom?.secretKeyRef ?? contentFrom?.configMapKeyRef;
    if (ref === undefined) return content;
    const object = objects.find(({ metadata }) => metadata.name === ref.name);
    const { [ref.key]: value = "" } = (object?.["binaryData"] ?? object?.["data"] ?? {}) as Record<string, string>;
    return JSON.parse(gunzipSync(Buffer.from(value, "base64")).toString()) as object;
  });

it("leaves what is neither large nor secret where it is", () => {
  const manifest = txn([change("ConfigMap", "a", 100_000), change("ConfigMap", "b", 10)]);
  expect(contentsAside(manifest, "shop")).toEqual({ manifest, objects: [], contents: new Map() });
});

it("keeps every Secret in a Secret, with something random, whatever its size", () => {
  const manifest = txn([change("ConfigMap", "a", 10), change("Secret", "b", 10), change("Secret", "c", 10)]);
  const [one, other] = [contentsAside(manifest, "shop"), contentsAside(manifest, "shop")];
  expect(one.objects).toMatchObject([{ kind: "Secret", immutable: true }]);
  expect(one.manifest.spec.changes.map(({ content }) => content === undefined)).toEqual([false, true, true]);
  expect(contentsOf(one)).toEqual(manifest.spec.changes.map(({ content }) => content));
  expect(one.objects[0]?.["data"]).not.toEqual(other.objects[0]?.["data"]);
});

it.each([
  ["a few large ones", Array.from({ length: 12 }, (_, n) => change("ConfigMap", `a-${n}`, 200_000))],
  [
    "as many as a Transaction has changes",
    Array.from({ length: MAX_CHANGES }, (_, n) => change("ConfigMap", `a-${n}`, 5_000)),
  ],
])("keeps the largest elsewhere until there is room for the status: %s", (_, changes) => {
  const aside = contentsAside(txn(changes), "shop");
  expect(surplusBytes(asStored(txn(changes), "shop"))).toBeGreaterThan(0);
  expect(surplusBytes(asStored(aside.manifest, "shop"))).toBeLessThanOrEqual(0);
  expect(contentsOf(aside)).toEqual(changes.map(({ content }) => content));
  for (const { kind } of aside.objects) expect(kind).toBe("ConfigMap");
});

// Digests in hexadecimal are compressed to half: six of these fill an object.
const digits = (n: number): string =>
  Array.from({ length: 4_700 }, (_, at) => createHash("sha256").update(`${n} ${at}`).digest("hex")).join("");

it("makes several objects where one has no room, each below 1 MiB", () => {
  const changes = Array.from({ length: 16 }, (_, n) => ({
    ...change("ConfigMap", `a-${n}`, 0),
    content: { text: digits(n) },
  }));
  const aside = contentsAside(txn(changes), "shop");
  expect(aside.objects.length).toBeGreaterThan(1);
  for (const object of aside.objects) {
    const sizes = Object.values(object["binaryData"] as Record<string, string>).map((text) => text.length * 0.75);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(2 ** 20);
  }
  expect(contentsOf(aside)).toEqual(changes.map(({ content }) => content));
});

it("refuses more than the controller reads", () => {
  const changes = Array.from({ length: 40 }, (_, n) => change("ConfigMap", `a-${n}`, 250_000));
  expect(() => contentsAside(txn(changes), "shop")).toThrow(
    "the manifests are larger than 8 MiB: split them into several Transactions",
  );
});
