import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { committed } from "../../../packages/deploy/src/committed.ts";

const repository = path.resolve(import.meta.dirname, "../../..");

it.each(Object.entries(committed))(
  "%s is what packages/deploy prints now: else run npm run manifests:write",
  (file, text) => {
    expect(readFileSync(path.join(repository, file), "utf8")).toBe(text);
  },
);

it("nothing else lies beside them but the Lua that one is printed from", () => {
  const files = readdirSync(path.join(repository, "deploy"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".lua"))
    .map(({ parentPath, name }) => path.relative(repository, path.join(parentPath, name)));
  expect(files.toSorted()).toEqual(Object.keys(committed).toSorted());
});
