// Holds templates against what Go's text/template with sprig 2.22 made of them, by subject.
import { parseTemplate, renderTemplate, textOfRendered } from "@janus/gotemplate";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { type Typed, valueOf } from "../../templates/typed-data.ts";
import published from "./published-forms.json" with { type: "json" };
import results from "./results-of-go.json" with { type: "json" };

type Result = "is refused" | "fails" | { readonly text: string };
type Row = readonly [string, Result];

const resultOf = (source: string, data: Typed, missingKey: "default" | "error"): Result => {
  const parsed = parseTemplate(source);
  if (E.isLeft(parsed)) return "is refused";
  const rendered = renderTemplate(parsed.right, valueOf(data), {
    missingKey,
    now: new Date(0),
    random: (count) => new Uint8Array(count),
  });
  return E.isLeft(rendered) ? "fails" : { text: textOfRendered(rendered.right) };
};

describe.each(Object.entries(results.subjects))("%s", (_, rows) => {
  it.each(rows as unknown as Row[])("as in Go: %s", (source, result) => {
    expect(resultOf(source, results.data, "default")).toEqual(result);
  });
});

describe("forms of published blueprints", () => {
  it.each(published.rows as unknown as Row[])("as in Go: %s", (source, result) => {
    expect(resultOf(source, published.data, "error")).toEqual(result);
  });
});
