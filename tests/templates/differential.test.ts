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
  parse === undefined ? (execute === undefined ? { text: Buffer.from(text, "base64").toString() } : { execute }) : { parse };

/** Where something is in the memory of Go. */
const withoutAddresses = (text: string): string => text.replaceAll(/0[xX][0-9a-fA-F]{9,}/gu, "0x…");

/** What a verb that is not for times shows of one is of no use: Go's own fields. */
const isAlike = (a: Result, b: Result): boolean =>
  "text" in a && "text" in b ? (withoutAddresses(a.text) === withoutAddresses(b.text) || b.text.includes("time.Location")) : ("parse" in a && "parse" in b) || ("execute" in a && "execute" in b);

describe.skipIf(!(await hasOracle()))("templates, compared with Go", () => {
  it(`renders ${CASES} templates as Go does, or refuses them as Go does`, async () => {
    let rendered = 0;
    for (let from = 0; from < CASES; from += BATCH) {
      const cases = Array.from({ length: Math.min(BATCH, CASES - from) }, (_, n) => caseOf(seed * 1_000_003 + from + n));
      const said = await askOracle<Said>(
        "render",
        cases.map(({ template, ...rest }) => ({ template: Buffer.from(template).toString("base64"), ...rest })),
      );
      const results = cases.map((one, n) => ({ one, ours: ours(one), theirs: theirs(said[n] as Said) }));
      expect(results.filter((result) => !isAlike(result.ours, result.theirs)).slice(0, 5)).toEqual([]);
      rendered += results.filter((result) => "text" in result.ours).length;
    }
    // Templates that are all refused would agree, too.
    expect(rendered).toBeGreaterThan(CASES / 5);
  }, 1_800_000);
});
