// The process: flags, leader election, metrics and the loop are the runtime's.
import { runController } from "@janus/runtime";
import { configMaps, labelKeeper } from "./label-keeper.ts";

await runController({
  name: "label-keeper",
  about: "Keeps the label example.com/team on every ConfigMap.",
  version: "1.0.0",
  resource: configMaps,
  controller: labelKeeper,
});
