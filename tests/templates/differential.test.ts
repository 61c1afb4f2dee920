// Holds our interpreter against Go's text/template with sprig 2.22, over templates made by chance.
import { parseTemplate, renderTemplate, textOfRendered } from "@janus/gotemplate";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { isExhaustive, seed } from "../fixtures/sample.ts";
import { askOracle, hasOracle } from "./oracle/oracle.ts";
import { type Case, caseOf } from "./templates.ts";
import { valueOf } from "./typed-data.ts";

const CASES = isExhaustive ? 200_000 : 10_000;
const BATCH = 10_000;

interface Said {
  /** Base64. */
  readonly text: string;
  readonly parse?: string;
  readonly execute?: string;
}

type Result = { readonly text: string } | { readonly parse: string } | { readonly execute: string };

const ours = ({ template, data, missingKey }: Case): Result => {
  const parsed = parseTemplate(template);
  if (E.isLeft(parsed)) return { parse: parsed.left.message };
  const rendered = renderTemplate(parsed.right, valueOf(data), {
    missingKey,
    now: new Date(0),
    random: (count) => new Uint8Array(count),
  });
  return E.isLeft(rendered) ? { execute: rendered.left.message } : { text: textOfRendered(rendered.right) };
};

const theirs = ({ text, parse, execute }: Said): Result =>
  parse === undefined
    ? execute === undefined
      ? { text: Buffer.from(text, "base64").toString() }
      : { execute }
    : { parse };

/** What Go prints of a pointer is where it points to in its memory. Only the Profile has pointers. */
const printsPointers = (template: string): boolean =>
  template.includes(".prof") && /(?:\.prof|\.KeyPair|[ (|{][$.])(?![.\w])/u.test(template);

/**
 * Go hands out what is behind the end of a slice, up to what it has allocated, and merges maps into what they contain until its
 * stack is full. It has complex numbers, too.
 */
const STRICTER = /slice bounds out of range|contains itself/u;

const isAlike = (template: string, ours: Result, theirs: Result): boolean => {
  if ("parse" in ours && ours.parse.includes("complex numbers")) return true;
  if ("execute" in ours && STRICTER.test(ours.execute)) return !("parse" in theirs);
  if ("text" in ours && "text" in theirs) return ours.text === theirs.text || printsPointers(template);
  return ("parse" in ours && "parse" in theirs) || ("execute" in ours && "execute" in theirs);
};

describe.skipIf(!(await hasOracle()))("templates, compared with Go", () => {
  it(`renders ${CASES} templates as Go does, or refuses them as Go does`, async () => {
    let rendered = 0;
    for (let from = 0; from < CASES; from += BATCH) {
      const cases = Array.from({ length: Math.min(BATCH, CASES - from) }, (_, n) =>
        caseOf(seed * 1_000_003 + from + n),
      );
      const said = await askOracle<Said>(
        "render",
        cases.map(({ template, ...rest }) => ({ template: Buffer.from(template).toString("base64"), ...rest })),
      );
      const results = cases.map((one, n) => ({ one, ours: ours(one), theirs: theirs(said[n] as Said) }));
      expect(results.filter((result) => !isAlike(result.one.template, result.ours, result.theirs)).slice(0, 5)).toEqual(
        [],
      );
      rendered += results.filter((result) => "text" in result.ours).length;
    }
    // Templates that are all refused would agree, too.
    expect(rendered).toBeGreaterThan(CASES / 5);
  }, 1_800_000);
});
