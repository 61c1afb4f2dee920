// Reads the version of a package, which its entry point tells the process.
import { readFileSync } from "node:fs";

/** The version in this package.json: it is there beside the compiled files, too. */
export const packageVersion = (manifest: URL): string =>
  (JSON.parse(readFileSync(manifest, "utf8")) as { readonly version: string }).version;
