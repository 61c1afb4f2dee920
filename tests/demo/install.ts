import { execFile } from "node:child_process";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { KubeObject } from "@janus/kube";
import { parseAllDocuments } from "yaml";
import type { ControlPlane } from "../control-plane/control-plane.ts";
import { kubectl } from "./kubectl.ts";

/** No Pod runs here that would pull it. */
export const IMAGE = "--image=registry.example.com/janus:0.1.0";

/** What `npm run -s manifests` prints, with what its pages need to be tried: that the API server records who did what. */
export const printedManifests = async (): Promise<readonly KubeObject[]> => {
  const script = path.resolve(import.meta.dirname, "../../packages/deploy/src/manifests.ts");
  const flags = [IMAGE, "--stamp-users"];
  const { stdout } = await promisify(execFile)(process.execPath, ["--conditions=source", script, ...flags], {
    maxBuffer: 1 << 26,
  });
  return parseAllDocuments(stdout).map((document) => document.toJS() as KubeObject);
};

const needsKubelet = ({ kind }: KubeObject): boolean => kind === "Deployment";

/** One that is only dry run. */
const anyTransaction = {
  apiVersion: "backup.janus.io/v1alpha1",
  kind: "Transaction",
  metadata: { name: "any", namespace: "default" },
  spec: {
    serviceAccountName: "default",
    changes: [{ type: "Delete", target: { apiVersion: "v1", kind: "ConfigMap", name: "any" } }],
  },
};

/** Until the API server has the schema that it needs to stamp who creates a Transaction, which takes it some seconds. */
export const untilAccepted = async (controlPlane: ControlPlane): Promise<void> => {
  const giveUpAt = performance.now() + 300_000;
  for (;;) {
    try {
      await kubectl(controlPlane, JSON.stringify(anyTransaction), "create", "--dry-run=server", "-f", "-");
      return;
    } catch (error) {
      if (!String(error).includes("There can be a delay") || performance.now() > giveUpAt) throw error;
      await sleep(200);
    }
  }
};

/**
 * Installs these manifests, as the README says, and waits until Transactions are accepted.
 *
 * @returns what was left out: what only a kubelet could bring to life.
 */
export const install = async (
  controlPlane: ControlPlane,
  manifests: readonly KubeObject[],
): Promise<{ readonly installed: readonly KubeObject[]; readonly leftOut: readonly KubeObject[] }> => {
  const installed = manifests.filter((manifest) => !needsKubelet(manifest));
  const documents = installed.map((manifest) => JSON.stringify(manifest)).join("\n---\n");
  await kubectl(controlPlane, documents, "apply", "--server-side", "--validate=strict", "-f", "-");
  await kubectl(
    controlPlane,
    "",
    "wait",
    "--for=condition=Established",
    "--timeout=300s",
    "crd/transactions.backup.janus.io",
  );
  await untilAccepted(controlPlane);
  return { installed, leftOut: manifests.filter(needsKubelet) };
};
