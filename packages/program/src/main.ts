// The program of the image, `janus-controller`: the controller of Transactions, with --blueprints that of ActionSets, or the Git journal.
await (process.argv.includes("--blueprints")
  ? import("@janus/blueprints/main")
  : process.argv.includes("--git-journal")
    ? import("@janus/git-journal/main")
    : import("@janus/controller/main"));
