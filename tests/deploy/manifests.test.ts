import { beforeAll, describe, expect, it } from "vitest";
import { kubectl, kubectlWith, type Outcome } from "../fixtures/cluster.ts";
import { install } from "./install.ts";

type Restrictions = Readonly<Record<string, unknown>>;

interface Deployment {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly securityContext: Restrictions;
        readonly containers: readonly { readonly securityContext: Restrictions }[];
      };
    };
  };
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

  it.each(["allowPrivilegeEscalation", "capabilities", "runAsNonRoot", "seccompProfile"])(
    "would not be if it gave up its %s",
    async (restriction) => {
      const { spec } = await podTemplate();
      const without = (all: Restrictions): Restrictions =>
        Object.fromEntries(Object.entries(all).filter(([name]) => name !== restriction));
      const relaxed = {
        ...spec,
        securityContext: without(spec.securityContext),
        containers: spec.containers.map((one) => ({ ...one, securityContext: without(one.securityContext) })),
      };
      const { stderr } = await tryPod(relaxed);
      expect(stderr).toContain("violates PodSecurity");
      expect(stderr).toContain(restriction);
    },
  );
});
