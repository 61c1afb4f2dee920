// What renderTemplate promises whatever the template: it ends, it never throws, and no secret shows where nothing is marked.
import {
  fromJson,
  map,
  NIL,
  ofBytes,
  ofInt64,
  ofList,
  parseTemplate,
  type Rendered,
  renderTemplate,
  str,
  taint,
  type TemplateError,
  textOfRendered,
  type Value,
} from "@janus/gotemplate";
import * as fc from "fast-check";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { seed } from "../../fixtures/sample.ts";
import { caseOf } from "../../templates/templates.ts";
import { valueOf } from "../../templates/typed-data.ts";
import { anyCharacter } from "../core/arbitrary-text.ts";

const OPTIONS = { now: new Date("2026-11-27T02:00:00Z"), random: (count: number) => new Uint8Array(count).fill(7) };

const render = (
  source: string,
  data: Value = map({}),
  options: Partial<Parameters<typeof renderTemplate>[2]> = {},
): E.Either<TemplateError, Rendered> =>
  E.flatMap((template: Parameters<typeof renderTemplate>[0]) =>
    renderTemplate(template, data, { ...OPTIONS, ...options }),
  )(parseTemplate(source));

const messageOf = (result: E.Either<TemplateError, Rendered>): string | undefined =>
  E.isLeft(result) ? result.left.message : undefined;
const piecesOf = (result: E.Either<TemplateError, Rendered>): Rendered => (E.isRight(result) ? result.right : []);
/** Nothing, if there is an error. */
const textOf = (result: E.Either<TemplateError, Rendered>): string | undefined =>
  E.isRight(result) ? textOfRendered(result.right) : undefined;
const open = (pieces: Rendered): string =>
  pieces
    .filter(({ isTainted }) => !isTainted)
    .map(({ text }) => text)
    .join("");

describe("errors", () => {
  it.each([
    ["a\n{{ }", 'template, line 2: unexpected "}" in command'],
    ["{{ foo }}", 'template, line 1: function "foo" not defined'],
    [
      '{{ env "HOME" }}',
      'template, line 1: function "env" is not available: it would read the controller\'s own environment',
    ],
    ["{{ $x }}", 'template, line 1: undefined variable "$x"'],
    ["{{ if 1 }}", "template, line 1: unexpected end of the template"],
    ["{{ 1 | 2 }}", "template, line 1: non executable command in pipeline stage 2"],
    ["{{ 2i }}", "template, line 1: complex numbers are not available: 2i"],
  ])("says what cannot be parsed: %j", (source, message) => {
    expect(messageOf(render(source))).toBe(message);
  });

  it("names a missing key and the action that asked for it", () => {
    const result = render("x {{ .Phases.backup.Output.backupID }}", fromJson({ Phases: { backup: { Output: {} } } }), {
      missingKey: "error",
    });
    expect(result).toEqual(
      E.left({
        message: '"backupID" not found: {{ .Phases.backup.Output.backupID }}',
        line: 1,
        key: "backupID",
        expression: "{{ .Phases.backup.Output.backupID }}",
        isTainted: false,
      }),
    );
  });

  it("marks a message that may tell a secret", () => {
    const result = render("{{ fail .s }}", map({ s: taint(str("pw")) }));
    expect(E.isLeft(result) && result.left.isTainted).toBe(true);
  });
});

describe("bounds", () => {
  it.each([
    ["loops", "{{ range until 1000 }}{{ range until 1000 }}{{ end }}{{ end }}"],
    ["calls itself", '{{ define "t" }}{{ template "t" }}{{ end }}{{ template "t" }}'],
    ["doubles a text", '{{ $x := "ab" }}{{ range until 100 }}{{ $x = print $x $x }}{{ end }}'],
    ["doubles a list", "{{ $x := list 1 }}{{ range until 60 }}{{ $x = concat $x $x }}{{ end }}"],
    ["shares lists", "{{ $x := list 1 }}{{ range until 60 }}{{ $x = list $x $x }}{{ end }}{{ $x }}"],
    ["contains itself", '{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ $d }}'],
    ["repeats", '{{ repeat 100000000 "ab" }}'],
    ["pads", '{{ printf "%999999d%999999d" 1 1 }}'],
    ["has a list as long as an integer", "{{ until 9223372036854775807 }}"],
    ["counts as far as an integer", "{{ range 9223372036854775807 }}{{ end }}"],
    ["replaces", '{{ $x := repeat 1000 "a" }}{{ replace "a" (repeat 10000 "b") $x }}'],
    ["searches with an expression that doubles", '{{ regexMatch "((a{1,30}){1,30}){1,1}$" (repeat 50000 "a") }}'],
  ])("ends a template that %s", (_, source) => {
    expect(messageOf(render(source))).toMatch(/steps|longer|deep|too long|contains itself|too large/u);
  });

  it("takes no time for an expression that backtracks elsewhere", () => {
    expect(messageOf(render('{{ regexMatch "^(a+)+$" (print (repeat 300 "a") "b") }}'))).toBeUndefined();
  });

  it("leaves the data as they were", () => {
    const data = map({ m: map({ a: str("x") }) });
    expect(textOfRendered(piecesOf(render('{{ $_ := set .m "a" "y" }}{{ .m.a }}', data)))).toBe("y");
    expect(textOfRendered(piecesOf(render("{{ .m.a }}", data)))).toBe("x");
  });
});

describe("taint", () => {
  const data = map({ s: taint(str("pw")), n: taint(ofInt64(3)), l: ofList([taint(str("a")), str("b")]), u: str("u") });
  it.each([
    ["a{{ .s }}b", "ab"],
    ["{{ .s | upper | printf `%s!` }}.", "."],
    ["{{ if .s }}yes{{ end }}.", "."],
    ["{{ if eq .u `u` }}yes{{ end }}.", "yes."],
    ["{{ $x := `a` }}{{ if .s }}{{ $x = `b` }}{{ end }}{{ $x }}.", "."],
    ["{{ $x := `a` }}{{ if not .s }}{{ $x = `b` }}{{ end }}{{ $x }}.", "."],
    ["{{ $x := `a` }}{{ if not .s }}{{ print ($x = `b`) }}{{ end }}{{ $x }}.", "."],
    ["{{ range .n }}x{{ end }}.", "."],
    ["{{ range .l }}<{{ . }}>{{ end }}", "<><b>"],
    ["{{ len .l }} {{ len .s }}", "2 "],
    ["{{ index .l 1 }}{{ index .l 0 }}", "b"],
    ["{{ range $i, $e := .l }}{{ if $.s }}{{ break }}{{ end }}x{{ end }}.", "."],
    ["{{ $d := dict `k` .s `o` 1 }}{{ $d.o }}{{ $d.k }}", "1"],
    ["{{ $d := dict .s 1 }}{{ len $d }}{{ hasKey $d `x` }}.", "."],
    ["{{ $d := dict }}{{ if .s }}{{ $_ := set $d `a` 1 }}{{ end }}{{ len $d }}.", ""],
    ["{{ with .s }}{{ . }}{{ else }}n{{ end }}{{ .u }}", "u"],
    ["{{ and .s .u }}{{ or .s .u }}.", "."],
    ["{{ toJson .l }}{{ join `,` .l }}.", "."],
    ["{{ default `d` .s }}{{ default `d` .u }}", "u"],
    ["{{ ternary 1 2 (eq .s `pw`) }}.", "."],
    ["{{ define `t` }}t{{ end }}{{ if .s }}{{ template `t` }}{{ end }}{{ template `t` }}", "t"],
  ])("is on what depends on a secret: %s", (source, untainted) => {
    const result = render(source, data);
    expect(messageOf(result)).toBeUndefined();
    expect(open(piecesOf(result))).toBe(untainted);
  });

  it("is on a character whose bytes are of both kinds", () => {
    const bytes = map({ b: taint(ofBytes("\u00c3")) });
    expect(piecesOf(render("{{ toString .b }}{{ b64dec `qQ==` }}.", bytes))).toEqual([
      { text: "é", isTainted: true },
      { text: ".", isTainted: false },
    ]);
  });
});

/** Everything of the data that has a name that begins with these letters is a secret. */
const SECRET_KEYS = ["s", "n", "l", "by", "b", "m"];

const secretOf = (value: Value, of: (value: Value) => Value): Value =>
  value.is === "map" && value.entries !== undefined
    ? map(
        Object.fromEntries(
          [...value.entries.map].map(([key, one]) => [key, SECRET_KEYS.includes(key) ? taint(of(one)) : one]),
        ),
      )
    : value;
/** Another one of the same type. */
const changed = (value: Value): Value => {
  switch (value.is) {
    case "string":
      return str(`${value.value}!`);
    case "int":
      return { ...value, value: value.value + 1n };
    case "bool":
      return { ...value, value: !value.value };
    case "list":
      return { ...value, items: [...(value.items ?? []), str("more")] };
    case "bytes":
      return ofBytes(`${value.value ?? ""}!`);
    case "map":
      return map({ a: str("other"), b: str("b"), deep: map({ x: NIL }) });
    case "float":
    case "nil":
    case "none":
    case "pointer":
    case "semver":
    case "struct":
    case "time":
    default:
      return value;
  }
};

describe("of templates made by chance", () => {
  const seeds = fc.integer({ min: 0, max: 2 ** 31 - 1 });

  it("none throws, whatever the text is", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string({ unit: anyCharacter }).map((text) => `{{${text}}}`),
        ),
        (source) => {
          expect(render(source)).toHaveProperty("_tag");
        },
      ),
      { seed, numRuns: 2000 },
    );
  });

  it("the same arguments give the same result", () => {
    fc.assert(
      fc.property(seeds, (one) => {
        const { template, data } = caseOf(one);
        expect(render(template, valueOf(data))).toEqual(render(template, valueOf(data)));
      }),
      { seed, numRuns: 300 },
    );
  });

  it("no untainted text depends on a secret", () => {
    let compared = 0;
    fc.assert(
      fc.property(seeds, (one) => {
        const { template, data, missingKey } = caseOf(one);
        const value = valueOf(data);
        const first = render(
          template,
          secretOf(value, (same) => same),
          { missingKey },
        );
        const second = render(template, secretOf(value, changed), { missingKey });
        if (E.isLeft(first) || E.isLeft(second)) return;
        compared++;
        expect(open(second.right)).toBe(open(first.right));
      }),
      { seed, numRuns: 6000 },
    );
    expect(compared).toBeGreaterThan(500);
  });

  it("taint changes no text", () => {
    fc.assert(
      fc.property(seeds, (one) => {
        const { template, data, missingKey } = caseOf(one);
        const value = valueOf(data);
        const plain = render(template, value, { missingKey });
        const marked = render(
          template,
          secretOf(value, (same) => same),
          { missingKey },
        );
        expect(textOf(marked)).toBe(textOf(plain));
      }),
      { seed, numRuns: 1500 },
    );
  });
});
