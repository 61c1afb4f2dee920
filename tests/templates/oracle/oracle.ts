// What Go makes of templates (`render`), for the tests to compare with.
import { goProgram } from "../../fixtures/go-program.ts";

export const { isAvailable: hasOracle, ask: askOracle } = goProgram(import.meta.dirname, "templates", "a minute");
