// Builds the program that has Argo CD's own code, for minutes and at a low priority: `.ci/run` does it beside suites that need none.
import { findBinaries } from "../../control-plane/binaries/find.ts";
import { buildArgoCd, hasArgoCd } from "./argo-cd.ts";

if (await hasArgoCd()) {
  // Go compiles for the control plane most of what it needs; two builds at once would compile that twice.
  await findBinaries(process.env, console.log);
  await buildArgoCd();
}
