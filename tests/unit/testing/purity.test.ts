import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

const source = new URL("../../../packages/testing/src/", import.meta.url);
const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));

const allowed =
  /^(\.{1,2}\/([\w-]+\/)*[\w-]+\.ts|@janus\/(api|authoring|types|controller\/core(\/[\w-]+)*)|fp-ts\/lib\/\w+\.js)$/;

it.each(files)("%s imports neither Node nor the shell of the controller", (file) => {
  const text = readFileSync(new URL(file, source), "utf8");
  const imports = [...text.matchAll(/(?:\bfrom|\bimport\(?)\s*["']([^"']+)["']/g)].map(([, name = ""]) => name);
  expect(imports.filter((name) => !allowed.test(name))).toEqual([]);
});

it("what users see has no types of other libraries", () => {
  for (const file of ["options.ts", "simulation.ts", "api-server/denied.ts"]) {
    const text = readFileSync(new URL(file, source), "utf8");
    expect(text).not.toMatch(/fp-ts|io-ts|@janus\//);
  }
});
