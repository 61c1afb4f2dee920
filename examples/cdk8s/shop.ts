import { Chart, Duration } from "cdk8s";
import { ConfigMap, Deployment, EnvValue, Secret } from "cdk8s-plus-30";
import type { Construct } from "constructs";

export interface ShopProps {
  readonly namespace: string;
  readonly version: string;
}

/** A shop as one would write it without Janus. */
export class Shop extends Chart {
  constructor(scope: Construct, id: string, { namespace, version }: ShopProps) {
    super(scope, id, { namespace, labels: { "app.kubernetes.io/part-of": "shop" } });
    const config = new ConfigMap(this, "Config", { metadata: { name: "shop" }, data: { version } });
    const secret = new Secret(this, "Token", { metadata: { name: "shop" }, stringData: { token: `of-${version}` } });
    const web = new Deployment(this, "Web", {
      metadata: { name: "shop" },
      replicas: 2,
      // A rollout without progress for so long has failed: the Transaction does not wait any longer.
      progressDeadline: Duration.seconds(30),
      containers: [
        {
          image: `registry.example.com/shop:${version}`,
          port: 8080,
          envVariables: {
            VERSION: EnvValue.fromConfigMap(config, "version"),
            TOKEN: EnvValue.fromSecretValue({ secret, key: "token" }),
          },
        },
      ],
    });
    web.exposeViaService({ name: "shop", ports: [{ port: 80, targetPort: 8080 }] });
  }
}
