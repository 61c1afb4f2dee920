// `npm run chart:write`: writes those files of the Helm chart that are not written by hand.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { printedFiles } from "./printed-files.ts";

const directory = path.resolve(import.meta.dirname, "../../../../charts/janus");

for (const [file, text] of Object.entries(printedFiles())) {
  mkdirSync(path.dirname(path.join(directory, file)), { recursive: true });
  writeFileSync(path.join(directory, file), text);
}
