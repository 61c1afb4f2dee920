// `npm run control-plane`: keeps a control plane running, which test runs find and use, until Ctrl-C.
import { once } from "node:events";
import { startControlPlane } from "./control-plane.ts";
import { findRunning, putSignpost, removeSignpost } from "./running.ts";

const running = await findRunning();
if (running !== undefined) {
  console.log(`One is running already:\n\n  export KUBECONFIG=${running.kubeconfig}\n`);
  process.exit(1);
}

// A signal that comes before it is up just ends this process: what was begun goes with it.
const controlPlane = await startControlPlane({ log: (line) => console.error(line) });
const toStop = Promise.race(["SIGINT", "SIGTERM", "SIGHUP"].map((signal) => once(process, signal)));
await putSignpost(controlPlane);
console.log(`
  export KUBECONFIG=${controlPlane.kubeconfig}
  alias kubectl=${controlPlane.binaries.kubectl}

Tests use it as long as it runs. Ctrl-C stops it and deletes everything in it.`);

const keepAlive = setInterval(() => {}, 1 << 30);
await toStop;
clearInterval(keepAlive);
await removeSignpost(controlPlane);
await controlPlane.stop();
process.exit(0);
