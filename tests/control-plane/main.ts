// `npm run control-plane`: keeps a control plane running, which test runs find and use, until Ctrl-C.
import { once } from "node:events";
import { parseArgs } from "node:util";
import { startControlPlane } from "./control-plane.ts";
import { findRunning, putSignpost, removeSignpost } from "./running.ts";

const HELP = `Usage: npm run control-plane [-- --private]

Keeps a Kubernetes control plane (etcd, kube-apiserver, kube-controller-manager) running on loopback until Ctrl-C, and
prints the KUBECONFIG to use with kubectl. Every test run of this user uses it meanwhile, whichever clone it is of. Ctrl-C
deletes everything in it.

The first time it gets the binaries, into ~/.cache/janus: CONTRIBUTING.md says from where.

Flags:
  --private   No test run uses it: it can be paused, or filled. There may be several.
  --help      Shows this text.
`;

const flagsOf = (): { readonly help: boolean; readonly private: boolean } => {
  try {
    const flag = { type: "boolean", default: false } as const;
    return parseArgs({ options: { help: flag, private: flag } }).values;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${HELP}`);
    process.exit(2);
  }
};

const flags = flagsOf();
if (flags.help) {
  process.stdout.write(HELP);
  process.exit(0);
}

const running = flags.private ? undefined : await findRunning();
if (running !== undefined) {
  console.log(`One is running already:\n\n  export KUBECONFIG=${running.kubeconfig}\n`);
  process.exit(1);
}

// A signal that comes before it is up just ends this process: what was begun goes with it.
const controlPlane = await startControlPlane({ log: (line) => console.error(line) });
const toStop = Promise.race(["SIGINT", "SIGTERM", "SIGHUP"].map((signal) => once(process, signal)));
if (!flags.private) await putSignpost(controlPlane);
console.log(`
  export KUBECONFIG=${controlPlane.kubeconfig}
  alias kubectl=${controlPlane.binaries.kubectl}

${flags.private ? "No test run uses it." : "Tests use it as long as it runs."} Ctrl-C stops it and deletes everything in it.`);

const keepAlive = setInterval(() => {}, 1 << 30);
await toStop;
clearInterval(keepAlive);
await removeSignpost(controlPlane);
await controlPlane.stop();
process.exit(0);
