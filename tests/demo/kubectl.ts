// Runs kubectl, as the administrator.
import { spawn } from "node:child_process";
import path from "node:path";
import { text } from "node:stream/consumers";
import type { ControlPlane } from "../control-plane/control-plane.ts";

/**
 * Resolves with what it has printed. Its caches go with the control plane.
 *
 * Errors: rejects with what it said, when it ends with another code than 0.
 */
export const kubectl = async (
  { binaries, kubeconfig, directory }: ControlPlane,
  stdin: string,
  ...args: readonly string[]
): Promise<string> => {
  const child = spawn(binaries.kubectl, args, {
    env: { ...process.env, KUBECONFIG: kubeconfig, KUBECACHEDIR: path.join(directory, "kubectl") },
    stdio: ["pipe", "pipe", "pipe"],
  });
  child.stdin.on("error", () => {}); // it ends early, and says why
  child.stdin.end(stdin);
  const { promise, resolve, reject } = Promise.withResolvers<number | null>();
  child.on("error", reject).on("exit", resolve);
  const [stderr, code, stdout] = await Promise.all([text(child.stderr), promise, text(child.stdout)]);
  if (code !== 0) throw new Error(`kubectl ${args[0]}: ${stderr.trim()}`);
  return stdout;
};
