// The program of the image, `janus-controller`: the controller of Transactions, or with --blueprints that of ActionSets.
await (process.argv.includes("--blueprints") ? import("@janus/blueprints/main") : import("@janus/controller/main"));
