// `npm run controller`: the controller of Transactions, or with --blueprints that of ActionSets, against `$KUBECONFIG`.
await (process.argv.includes("--blueprints")
  ? import("../packages/blueprints/src/shell/main.ts")
  : import("../packages/controller/src/shell/main.ts"));
