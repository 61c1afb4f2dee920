import { readFileSync } from "node:fs";
import type { KubeObject } from "@janus/types";

/** Objects as an API server 1.36 sent them, after edits by appliers, kubectl and controllers. */
export const samples = JSON.parse(
  readFileSync(new URL("samples.json", import.meta.url), "utf8"),
) as readonly KubeObject[];
