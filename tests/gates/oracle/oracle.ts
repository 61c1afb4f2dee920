import { goProgram } from "../../fixtures/go-program.ts";

/** What kstatus says of objects (`kstatus`), and what kubectl's JSONPath finds in them (`jsonpath`). */
export const {
  isAvailable: hasOracle,
  build: buildOracle,
  ask: askOracle,
} = goProgram(import.meta.dirname, "gates", "a minute");
