// Another controller of Transactions, on a control plane of its own that serves the same API.
import { spawn } from "node:child_process";
import path from "node:path";
import { startControlPlane } from "../../control-plane/control-plane.ts";
import { leash } from "../../control-plane/leash.ts";
import { installTransactions } from "../../crash/transactions.ts";
import { connect, loadConfig } from "@janus/kube";
import { must } from "../../load/world.ts";
import { type Cluster, cluster } from "./cluster.ts";
import { namesOf, patch } from "./objects.ts";

/**
 * Starts it in a shell, as administrator: KUBECONFIG says of what. Resolves when it has committed a Transaction.
 *
 * @param command may install more, and must not return
 */
export const startPeer = async (command: string, log: (line: string) => void): Promise<Cluster> => {
  const plane = await startControlPlane({ log });
  const api = connect(must(loadConfig({}, plane.kubeconfig)));
  await installTransactions(api);
  await api.close();
  const held = leash(path.join(plane.directory, "peer"));
  const env = { ...process.env, KUBECONFIG: plane.kubeconfig };
  const child = spawn("/bin/sh", ["-c", command], { env, stdio: ["ignore", 2, 2], detached: true });
  if (child.pid !== undefined) held.hold(child.pid);
  const made = await cluster(plane);
  const ended = new Promise<never>((_, reject) => {
    child.on("exit", (code) => reject(new Error(`${command} has ended (${code})`)));
  });
  const commitFirst = async (): Promise<void> => {
    await made.haveTargets("janus", 1);
    const changes = namesOf("janus", 1).map((target) => patch(target, "first"));
    await made.reach("Committed", "first", changes);
  };
  await Promise.race([commitFirst(), ended]);
  return {
    ...made,
    stop: async () => {
      await held.end();
      await made.stop();
    },
  };
};
