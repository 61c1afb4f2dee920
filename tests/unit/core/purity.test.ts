import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

const core = new URL("../../../packages/controller/src/core/", import.meta.url);
const files = readdirSync(core, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));

const allowed =
  /^((\.\/|\.\.\/)([\w-]+\/)?[\w-]+\.ts|@janus\/(api|types)|fp-ts\/lib\/\w+\.js|@noble\/hashes\/\w+\.js|fflate|@bufbuild\/cel)$/;

it("the core is there", () => {
  expect(files).toContain("decide.ts");
});

it.each(files)("%s imports nothing but the core, @janus/api, fp-ts, hashes, gzip and CEL", (file) => {
  const text = readFileSync(new URL(file, core), "utf8");
  const imports = [...text.matchAll(/(?:\bfrom|\bimport\(?)\s*["']([^"']+)["']/g)].map(([, name = ""]) => name);
  expect(imports.filter((name) => !allowed.test(name))).toEqual([]);
});
