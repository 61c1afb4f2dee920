// The programs sops, age and age-keygen, built from source, for tests to compare with.
import { goTools } from "../../fixtures/go-program.ts";

const tools = goTools(import.meta.dirname, "sops", "ten minutes");

/** Whether tests can have them. `.ci/run` has no time to build them: there, `build.ts` has to come first. */
export const hasSops = async (): Promise<boolean> => {
  if (process.env["CI"] === undefined) return tools.isAvailable();
  const isBuilt = await tools.isBuilt();
  if (!isBuilt) console.log("sops and age are not built: nothing is compared with them");
  return isBuilt;
};

export const sopsDirectory = tools.directory;
