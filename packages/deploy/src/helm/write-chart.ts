// `npm run chart:write`: writes the Helm chart that lies in the repository.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { chart } from "./chart.ts";

const directory = path.resolve(import.meta.dirname, "../../../../charts/janus");

rmSync(directory, { recursive: true, force: true });
mkdirSync(path.join(directory, "templates"), { recursive: true });
for (const [file, text] of Object.entries(chart())) writeFileSync(path.join(directory, file), text);
