import { beforeAll, describe, expect, it } from "vitest";
import { kubectl, kubectlWith, type Outcome } from "../fixtures/cluster.ts";
import { install } from "./install.ts";

interface Container {
  readonly securityContext: object;
}

interface Deployment {
  readonly spec: { readonly template: { readonly spec: { readonly containers: readonly Container[] } } };
}

const namespace = "janus-system";

/** What has changed in them since they were made, as a count: the generation of each. */
const generations = async (): Promise<string> => {
  const objects = ["crd/transactions.backup.janus.io", "deployment/janus-controller"];
  const { stdout } = await kubectl("get", ...objects, "-n", namespace, "-o=jsonpath={.items[*].metadata.generation}");
  return stdout;
};

const podTemplate = async (): Promise<Deployment["spec"]["template"]> => {
  const { stdout } = await kubectl("get", "deployment/janus-controller", "-n", namespace, "-o", "json");
  return (JSON.parse(stdout) as Deployment).spec.template;
};

const tryPod = (spec: object): Promise<Outcome> => {
  const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "janus-try", namespace }, spec };
  return kubectlWith({ stdin: JSON.stringify(pod) }, "create", "--dry-run=server", "--warnings-as-errors", "-f", "-");
};

describe("what npm run manifests prints", () => {
  let applied: Outcome;

  beforeAll(async () => {
    applied = await install();
  });

  it("is accepted by the API server, to the last field and without a warning", () => {
    expect(applied).toMatchObject({ code: 0, stderr: "" });
  });

  it("can be applied again and changes nothing", async () => {
    const before = await generations();
    expect(before).toMatch(/^\d+ \d+$/);
    expect(await install()).toMatchObject({ code: 0, stderr: "" });
    expect(await generations()).toBe(before);
  });
});

describe("the controller's Pod", () => {
  it("is admitted to the restricted namespace", async () => {
    expect(await tryPod((await podTemplate()).spec)).toMatchObject({ code: 0, stderr: "" });
  });

  it("would not be if it gave up any one of its restrictions", async () => {
    const { spec } = await podTemplate();
    const relaxed = { ...spec, containers: spec.containers.map((one) => ({ ...one, securityContext: {} })) };
    expect((await tryPod(relaxed)).stderr).toContain("violates PodSecurity");
  });

  it("is really made by its Deployment", async () => {
    const created = ["wait", "--for=jsonpath={.status.replicas}=2", "--timeout=30s"];
    expect(await kubectl(...created, "deployment/janus-controller", "-n", namespace)).toMatchObject({ code: 0 });
  });
});
