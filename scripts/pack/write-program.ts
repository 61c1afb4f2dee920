// Writes kubectl-janus as one file.
//
//   npm run -s cli:write -- [file]
import path from "node:path";
import { bundleProgram } from "./bundle-program.ts";

const root = path.resolve(import.meta.dirname, "../..");
const file = path.resolve(process.argv[2] ?? "kubectl-janus");
await bundleProgram(path.join(root, "packages/cli/src/main.ts"), file);
console.log(file);
