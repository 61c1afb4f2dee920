// `npm run chart:write`: writes the generated files of the Helm chart.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { printedFiles } from "./printed-files.ts";

const directory = path.resolve(import.meta.dirname, "../../../../charts/janus");

for (const [file, text] of Object.entries(printedFiles())) {
  mkdirSync(path.dirname(path.join(directory, file)), { recursive: true });
  writeFileSync(path.join(directory, file), text);
}
