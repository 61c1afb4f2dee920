import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { directory as janusDirectory } from "../cli/command-line.ts";
import { commandsOf } from "../deploy/page-commands.ts";
import { type Installed, installed } from "../fixtures/installed.ts";
import { startKubelet } from "../fixtures/kubelet.ts";
import { running } from "../fixtures/pod-status.ts";
import { type Shell, shellOf } from "../fixtures/shell.ts";

let cluster: Installed;
beforeAll(async () => {
  cluster = await installed([]);
  await (await cluster.replica("janus")).start();
});
afterAll(() => cluster?.end());

/** Runs what stands below this heading of the page, and returns what was printed. */
const follow = async (shell: Shell, page: string, heading: string): Promise<string> => {
  let printed = "";
  for (const command of commandsOf(page, heading)) {
    const { code, stdout, stderr } = await shell(command);
    expect(code, `${command}\n${stdout}\n${stderr}`).toBe(0);
    printed += stdout;
  }
  return printed;
};

const imageOf = () =>
  cluster.kubectl("get", "-n=pipeline", "deployment/web", "-o=jsonpath={.spec.template.spec.containers[*].image}");

describe("docs/ci-pipeline.md", () => {
  const page = "docs/ci-pipeline.md";

  it("releases with kubectl and with kubectl janus, with the permissions that it gives the pipeline", async () => {
    const administrators = shellOf(cluster.controlPlane);
    const stop = await startKubelet(cluster.api, "pipeline", () => running);
    const [setUp = "", cancel = "", cancelWithout131 = ""] = commandsOf(page, "With kubectl");
    const [prepare = "", release = ""] = setUp.trim().split("\n");
    expect(await administrators(prepare)).toMatchObject({ code: 0 });

    const user = "system:serviceaccount:pipeline:pipeline";
    const groups = ["system:serviceaccounts", "system:serviceaccounts:pipeline", "system:authenticated"];
    const kubeconfig = await cluster.controlPlane.userKubeconfig(user, groups);
    const pipelines = shellOf(cluster.controlPlane, { kubeconfig, path: [janusDirectory] });
    expect(await pipelines(release)).toMatchObject({ code: 0 });
    expect(await imageOf()).toBe("nginx:1.29");
    expect(await follow(pipelines, page, "With kubectl janus")).toContain("Committed 2/2");
    expect(await imageOf()).toBe("nginx:1.30");
    expect(await pipelines("kubectl set image -n pipeline deployment/web web=nginx:1.31")).toMatchObject({ code: 1 });

    // It has finished, so this changes nothing.
    expect(await administrators(cancel)).toMatchObject({ code: 0 });
    expect(await administrators(cancelWithout131)).toMatchObject({ code: 0 });
    stop();
  });

  it("fails where the Transaction fails", async () => {
    const shell = shellOf(cluster.controlPlane);
    const { code, stdout } = await shell(
      `kubectl create namespace failing && sed 's/namespace: pipeline/namespace: failing/' examples/pipeline/transaction.yaml > $HOME/failing.yaml
       kubectl create serviceaccount -n failing deployer
       examples/pipeline/release.sh $HOME/failing.yaml`,
    );
    expect(code).toBe(1);
    expect(stdout).toMatch(/^release-\w+ +Failed +0\/1 .* no changes were applied/mu);
  });
});

describe("docs/argo-cd.md", () => {
  it("adds the health check and the actions to the ConfigMap of Argo CD, and keeps the rest of it", async () => {
    const shell = shellOf(cluster.controlPlane);
    await shell(
      "kubectl create namespace argocd && kubectl create configmap -n argocd argocd-cm --from-literal=url=here",
    );
    await follow(shell, "docs/argo-cd.md", "Set it up");
    const { data } = JSON.parse(await cluster.kubectl("get", "cm", "-n=argocd", "argocd-cm", "-o=json")) as {
      readonly data: Readonly<Record<string, string>>;
    };
    expect(Object.keys(data).toSorted()).toEqual([
      "resource.customizations.actions.backup.janus.io_Transaction",
      "resource.customizations.health.backup.janus.io_Transaction",
      "url",
    ]);
  });
});
