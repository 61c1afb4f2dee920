import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import * as constructs from "@janus/deploy";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import type { Manifest } from "../fixtures/administrator.ts";
import { freshNamespace, kubectlWith } from "../fixtures/cluster.ts";

const root = new URL("../../", import.meta.url);
const page = readFileSync(new URL("docs/cdk8s.md", root), "utf8");
const [whole = "", parts = "", transaction = ""] = [...page.matchAll(/^```ts\n(.*?)^```$/gmsu)].map(
  ([, code = ""]) => code,
);

/** What a program of the page prints. It is run where it finds the packages that it imports. */
const printed = async (code: string): Promise<readonly Manifest[]> => {
  const child = spawn(process.execPath, ["--conditions=source", "--input-type=module-typescript", "-"], {
    cwd: fileURLToPath(new URL("packages/deploy", root)),
    stdio: ["pipe", "pipe", "inherit"],
  });
  child.stdin.end(code);
  return parseAllDocuments(await text(child.stdout)).flatMap((document) => document.toJS() as Manifest);
};

const names = (manifests: readonly Manifest[]) => manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`);

describe("docs/cdk8s.md", () => {
  it("installs it all", async () => {
    const manifests = await printed(whole);
    expect(names(manifests)).toContain("Deployment janus-controller");
    expect(manifests.length).toBe(
      names(constructs.installation({ actsAs: [{ namespace: "shop" }], monitoring: true })).length,
    );
  });

  it("composes parts, with no rights in the whole cluster but for the fence", async () => {
    const manifests = await printed(parts);
    expect(names(manifests).filter((name) => name.startsWith("ClusterRoleBinding"))).toEqual([
      "ClusterRoleBinding janus-controller-fence",
    ]);
    expect(names(manifests)).toContain("Deployment janus-controller");
  });

  it("has every construct", () => {
    const all = Object.entries(constructs).flatMap(([name, value]) =>
      typeof value === "function" && /^[A-Z]/u.test(name) ? [name] : [],
    );
    expect(all.length).toBeGreaterThan(15);
    expect(all.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });

  it("makes a Transaction that keeps labels, annotations and namespaces, and that the API server accepts", async () => {
    const [manifest] = await printed(transaction);
    expect(manifest).toMatchObject({
      spec: {
        changes: [
          {
            target: { kind: "ConfigMap", name: "app-config", namespace: "shop" },
            content: {
              metadata: {
                labels: { "app.kubernetes.io/part-of": "shop" },
                annotations: { "example.com/owner": "team-shop" },
              },
              data: { version: "2.0" },
            },
          },
        ],
      },
    });
    const namespace = await freshNamespace();
    const object = { ...manifest, metadata: { ...manifest?.metadata, namespace } };
    const created = await kubectlWith(
      { stdin: JSON.stringify(object) },
      ..."create --dry-run=server --validate=strict -f -".split(" "),
    );
    expect(created).toMatchObject({ code: 0 });
  });
});
