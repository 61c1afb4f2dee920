// Builds sops and age for the tests, for minutes and at a low priority; in CI before all tests, and once.
import { sopsDirectory } from "./tools.ts";

console.log(await sopsDirectory());
