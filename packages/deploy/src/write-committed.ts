// `npm run manifests:write`: writes the manifests in the repository.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { committed } from "./committed.ts";

const repository = path.resolve(import.meta.dirname, "../../..");

for (const [file, text] of Object.entries(committed)) writeFileSync(path.join(repository, file), text);
