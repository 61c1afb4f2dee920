/** What somebody who has installed a package writes first. */
export interface Program {
  /** What is installed with it. */
  readonly peers: readonly string[];
  readonly imports: readonly string[];
  readonly body: string;
  readonly prints: string;
}

const CDK8S = ["cdk8s@2.70.106", "constructs@10.8.1"];

export const programs: Readonly<Record<string, Program>> = {
  "@janus/cdk8s": {
    peers: CDK8S,
    imports: [
      'import { Change, parse, type Parsed, Transaction, type TransactionManifest } from "@janus/cdk8s";',
      'import { ApiObject, App, Chart, Duration } from "cdk8s";',
    ],
    body: `
      const shop = new Chart(new App(), "shop", { namespace: "shop" });
      const config = new ApiObject(shop, "Config", { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "config" } });
      const transaction = new Transaction(shop, "Release", {
        serviceAccount: "deploy-sa",
        timeout: Duration.minutes(5),
        changes: [Change.apply(config, { waitFor: ["create"] })],
      });
      const parsed: Parsed<TransactionManifest> = parse(shop.toJson()[0]);
      const wrong = parse({ ...transaction.manifest, spec: {} });
      if (parsed.ok && !wrong.ok) console.log(parsed.value.spec.timeout, wrong.errors.length > 0);
    `,
    prints: "5m true\n",
  },
  "@janus/deploy": {
    peers: [...CDK8S, "cdk8s-plus-30@2.4.10"],
    imports: ['import { Janus, type JanusProps } from "@janus/deploy";', 'import { App, Chart } from "cdk8s";'],
    body: `
      const props: JanusProps = { image: "registry.example.com/janus:0.1.0", actsAs: [{ namespace: "shop" }] };
      const platform = new Chart(new App(), "platform");
      new Janus(platform, "Janus", props);
      console.log(platform.toJson().some(({ kind }) => kind === "CustomResourceDefinition"));
    `,
    prints: "true\n",
  },
  "@janus/runtime": {
    peers: [],
    imports: [
      'import { type ApiRequest, type KubeObject, objectController, runController, simulateController } from "@janus/runtime";',
    ],
    body: `
      const effect: ApiRequest = { purpose: "look", request: { verb: "raw", path: "/version" } };
      const object: KubeObject = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "app" } };
      const controller = objectController((_, now) =>
        now === 0 ? { type: "run", effects: [effect] } : { type: "wait", until: Infinity, because: "it was looked at" },
      );
      let now = 0;
      const steps: string[] = [];
      for (const { step } of simulateController(controller, {
        now: () => now,
        read: () => object,
        perform: (effect: ApiRequest) => {
          now += 1;
          return { type: "answered" as const, effect, object };
        },
        pause: (memory) => memory,
        wait: () => [],
      })) {
        steps.push(step.type);
        if (step.type === "wait") break;
      }
      console.log(steps.join(), typeof runController);
    `,
    prints: "run,wait function\n",
  },
  "@janus/testing": {
    peers: [],
    imports: [
      'import { parse, simulate, type SimulateOptions, type Simulation, type TransactionManifest } from "@janus/testing";',
    ],
    body: `
      const target = { apiVersion: "v1", kind: "ConfigMap", name: "app" };
      const transaction: TransactionManifest = {
        apiVersion: "backup.janus.io/v1alpha1",
        kind: "Transaction",
        metadata: { name: "release", namespace: "shop" },
        spec: {
          serviceAccountName: "deploy-sa",
          changes: [
            { type: "Patch", target, content: { data: { version: "2" } }, waitFor: ["cel=self.data.version == '2'"] },
            { type: "Create", target: { ...target, name: "more" }, content: {} },
          ],
        },
      };
      const live = [{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "app" }, data: { version: "1" } }];
      const options: SimulateOptions = { failAt: 1 };
      const { phase, rolledBack, objects, before }: Simulation = simulate(transaction, live, options);
      const isAsBefore = JSON.stringify(objects) === JSON.stringify(before);
      console.log(parse(transaction).ok, phase, rolledBack.length, isAsBefore);
    `,
    prints: "true RolledBack 1 true\n",
  },
};
