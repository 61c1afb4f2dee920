import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

const source = new URL("../../../packages/testing/src/", import.meta.url);
const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));

const allowed =
  /^(\.{1,2}\/([\w-]+\/)*[\w-]+\.ts|@janus\/(api|authoring|types|runtime\/core|controller\/limits|controller\/core(\/[\w-]+)*)|fp-ts\/lib\/\w+\.js)$/;

it.each(files)("%s imports neither Node nor the shell of the controller", (file) => {
  const text = readFileSync(new URL(file, source), "utf8");
  const imports = [...text.matchAll(/(?:\bfrom|\bimport\(?)\s*["']([^"']+)["']/g)].map(([, name = ""]) => name);
  expect(imports.filter((name) => !allowed.test(name))).toEqual([]);
});

it("the numbers of the controller's process, which are in its shell, need nothing of it", () => {
  const text = readFileSync(new URL("../../controller/src/shell/limits.ts", source), "utf8");
  expect(text.match(/^import (?!type ).*/gm)).toBeNull();
});

it("what users see has no types of other libraries", () => {
  for (const file of ["options.ts", "simulation.ts", "api-server/denied.ts"]) {
    const text = readFileSync(new URL(file, source), "utf8");
    expect(text).not.toMatch(/fp-ts|io-ts|@janus\//);
  }
});

it("the pure part of the runtime imports neither Node nor a library with state", () => {
  const seen = new Set<string>();
  const libraries = new Set<string>();
  const look = (file: URL): void => {
    if (seen.has(file.href)) return;
    seen.add(file.href);
    const text = readFileSync(file, "utf8").replaceAll(/^(import|export) type .*$/gm, "");
    for (const [, name = ""] of text.matchAll(/(?:\bfrom|\bimport\(?)\s*["']([^"']+)["']/g))
      if (name.startsWith(".")) look(new URL(name, file));
      else libraries.add(name);
  };
  look(new URL("../../runtime/src/core.ts", source));
  expect(seen.size).toBeGreaterThan(1);
  expect([...libraries]).toEqual(["@janus/types"]);
});
