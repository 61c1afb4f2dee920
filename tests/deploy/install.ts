import { execFileSync } from "node:child_process";
import path from "node:path";
import { controlPlane, kubectlWith, type Outcome } from "../fixtures/cluster.ts";

/** What `npm run -s manifests` prints with these flags. The last `--image` wins. */
export const printedManifests = (...flags: readonly string[]): string =>
  execFileSync("npm", ["run", "-s", "manifests", "--", "--image=registry.example.com/janus:0.1.0", ...flags], {
    cwd: path.resolve(import.meta.dirname, "../.."),
    encoding: "utf8",
  });

/**
 * Installs that as a careful person would: an unknown field or a warning is an error. It can be done again and again.
 * The control plane is that of the test run, unless `kubeconfig` is of another one.
 */
export const install = async (kubeconfig = controlPlane.kubeconfig): Promise<Outcome> => {
  const strictly = ["--server-side", "--validate=strict", "--warnings-as-errors"];
  const applied = await kubectlWith({ stdin: printedManifests(), kubeconfig }, "apply", ...strictly, "-f", "-");
  const established = ["wait", "--for=condition=Established", "--timeout=300s"];
  await kubectlWith({ kubeconfig }, ...established, "crd/transactions.backup.janus.io");
  return applied;
};
