import { installation } from "./installation.ts";
import { yaml } from "./render.ts";

process.stdout.write(yaml(installation()));
