// `npm run trace:write`: writes docs/life-of-a-transaction.md.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { loadTraced } from "./load-traced.ts";

loadTraced();
// Only now: these load the core.
const { page } = await import("./page.ts");

writeFileSync(path.resolve(import.meta.dirname, "../../docs/life-of-a-transaction.md"), page());
