import { expect, it } from "vitest";
import { printed } from "../../../packages/cli/src/reference/printed.ts";
import { page } from "./page.ts";

const pages = Object.entries(await printed());

it.each(pages)("%s is what is printed now: else run npm run reference:write", (file, text) => {
  expect(page(file)).toBe(text);
});

it("prints every help within 80 columns", () => {
  const commands = page("docs/reference/cli.md");
  expect(commands.split("\n").filter((line) => !/^(?:<!--|Every)/u.test(line) && line.length > 80)).toEqual([]);
});
