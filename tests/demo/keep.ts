import type { ControlPlane } from "../control-plane/control-plane.ts";
import type { Replicas } from "./replicas.ts";
import { heading, say } from "./say.ts";
import { shop } from "./shop.ts";

/** What to try with kubectl while everything keeps running. */
export const thingsToTry = async ({ kubeconfig, binaries }: ControlPlane, replicas: Replicas): Promise<void> => {
  const { url } = await replicas.leader();
  heading("Still running, until Ctrl-C. In another terminal:");
  say();
  say(`export KUBECONFIG=${kubeconfig}`);
  say(`alias kubectl=${binaries.kubectl}`);
  say();
  say(`kubectl get txn -n ${shop} -o wide`);
  say(`kubectl describe txn -n ${shop} deploy-v3`);
  say(`kubectl describe txn -n ${shop} deploy-v4`);
  say(`kubectl get configmap -n ${shop} deploy-v3-rollback -o yaml`);
  say("kubectl explain txn.spec.changes");
  say("kubectl apply -f docs/examples/before.yaml");
  say("kubectl apply -f docs/examples/deploy-v2.yaml");
  say("kubectl wait -n example txn/deploy-v2 --timeout=60s \\");
  say("  --for=jsonpath='{.status.completedAt}'");
  say(`kubectl get lease -n janus-system janus-controller-leader -o yaml`);
  for (const one of replicas.all) {
    say(`curl -s ${one.url}/status`);
    say(`kill -9 ${one.pid()}  # ${one.name}; it is started again`);
    say(`tail -f ${one.logFile}`);
  }
  say(`curl -s ${url}/metrics | grep ^janus_`);
};
