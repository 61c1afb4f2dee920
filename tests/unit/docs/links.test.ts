import { existsSync, globSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { page, root } from "./page.ts";

const pages = globSync(["*.md", "docs/**/*.md", "examples/*.md", "examples/*/*.md", "tests/*.md"], {
  cwd: fileURLToPath(root),
});

const prose = (text: string): string => text.replaceAll(/^```.*?^```$/gmsu, "");

/** As GitHub makes them of headings. */
const anchors = (text: string): ReadonlySet<string> =>
  new Set(
    [...prose(text).matchAll(/^#+ (.+)$/gmu)].map(([, heading = ""]) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );

const links = pages.flatMap((from) =>
  // `[text](link)`, and the `[label]: link` of others that are but a label.
  [...prose(page(from)).matchAll(/\]\(([^)\s]+)\)|^\[[^\]]+\]: (\S+)$/gmu)].flatMap(
    ([, inline = "", defined = inline]) => (/^https?:/u.test(defined) ? [] : [{ from, to: defined }]),
  ),
);

it("the pages link to each other", () => {
  expect(links.length).toBeGreaterThan(50);
});

/** What is not there of what a link leads to; undefined: nothing. */
const missing = (from: string, to: string): string | undefined => {
  const url = new URL(to, new URL(from, root));
  const file = decodeURIComponent(url.pathname).slice(fileURLToPath(root).length);
  if (!existsSync(new URL(file, root))) return file;
  const anchor = url.hash.slice(1);
  return anchor === "" || anchors(page(file)).has(anchor) ? undefined : `${file}#${anchor}`;
};

it.each(links)("$from links to something that is there: $to", ({ from, to }) => {
  expect(missing(from, to)).toBeUndefined();
});
