// The programs sops, age and age-keygen, built from source, for tests to compare with.
import { goTools } from "../../fixtures/go-program.ts";

export const { isAvailable: hasSops, directory: sopsDirectory } = goTools(import.meta.dirname, "sops", "ten minutes");
