// `npm run reference:write`: writes the pages that are printed from commands and fields.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { printed } from "./printed.ts";

const repository = path.resolve(import.meta.dirname, "../../../..");

for (const [file, text] of Object.entries(await printed())) writeFileSync(path.join(repository, file), text);
