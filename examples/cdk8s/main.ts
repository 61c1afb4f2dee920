import { Transaction, TransactionPermissions } from "@janus/cdk8s";
import { App, Chart } from "cdk8s";
import { Namespace } from "cdk8s-plus-30";
import { Shop } from "./shop.ts";

const { NAMESPACE: namespace = "shop", VERSION: version = "1.0", RUN: run } = process.env;

const app = new App();
const shop = new Shop(app, "shop", { namespace, version });

// From here on, the chart prints one Transaction in place of its objects.
const transaction = Transaction.of(shop, "release", {
  serviceAccount: "shop-deployer",
  // Everything is rolled back unless the Deployment gets ready.
  changeOptions: ({ kind }) => (kind === "Deployment" ? { waitFor: ["ready"] } : {}),
  // Each run of the pipeline has a Transaction of its own: one that runs again after a failure releases again.
  run,
  ttlSecondsAfterFinished: 24 * 60 * 60,
});

// What must be there before the Transaction. An administrator applies it; it changes only when kinds or names do.
const access = new Chart(app, "access");
new Namespace(access, "namespace", { metadata: { name: namespace } });
new TransactionPermissions(access, "permissions", { transaction });

app.synth();
console.log(transaction.name);
