// The version of the controller.
import { readFileSync } from "node:fs";

/** The version of this package, which exists beside the compiled files, too. */
export const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
  readonly version: string;
};
