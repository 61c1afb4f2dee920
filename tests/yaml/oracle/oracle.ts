import { goProgram } from "../../fixtures/go-program.ts";

/** What kubectl reads in a file (`read`). */
export const { isAvailable: hasOracle, ask: askOracle } = goProgram(import.meta.dirname, "yaml", "a minute");
