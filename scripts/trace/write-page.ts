// `npm run trace:write`: writes docs/life-of-a-transaction.md.
import { writeFileSync } from "node:fs";
import path from "node:path";
import "./load-traced.ts";

// Only now: the modules of the core that it traces must not be loaded before load-traced.ts has run.
const { page } = await import("./page.ts");

writeFileSync(path.resolve(import.meta.dirname, "../../docs/life-of-a-transaction.md"), page());
