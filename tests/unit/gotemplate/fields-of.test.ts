// Tests which fields of its data a template reads, and which of them whatever the data are.
import { fieldsOf, parseTemplate } from "@janus/gotemplate";
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";

/** Those that are read in any case, and those that may be. */
const read = (source: string) => {
  const parsed = parseTemplate(source);
  if (E.isLeft(parsed)) throw new Error(parsed.left.message);
  const of = (isCertain: boolean) =>
    fieldsOf(parsed.right)
      .filter((field) => field.isCertain === isCertain)
      .map(({ names }) => names.join("."));
  return [of(true), of(false)];
};

it.each([
  ["fields in pipes, arguments and brackets", `{{ .A.b | printf "%s" (lower .C) }}{{ (.D).e }}`, ["A.b", "C", "D"], []],
  [
    "the condition of a branch, but not what is in it",
    "{{ if .A }}{{ .B }}{{ else }}{{ .C }}{{ end }}",
    ["A"],
    ["B", "C"],
  ],
  ["the first argument of and, and or", "{{ or .A .B }}{{ and .C .D }}", ["A", "C"], ["B", "D"]],
  [
    "those of all data only",
    "{{ with .A }}{{ .b }}{{ $.C }}{{ else }}{{ .D }}{{ end }}{{ range .E }}{{ .f }}{{ end }}",
    ["A", "E"],
    ["C", "D"],
  ],
  ["not those of other variables", "{{ $x := .A }}{{ $x.b }}{{ $.C }}", ["A", "C"], []],
  ["not those of templates that it defines", `{{ define "t" }}{{ .A }}{{ end }}{{ template "t" .B }}`, ["B"], []],
  ["names in other alphabets", "{{ .Größe }}", ["Größe"], []],
])("%s", (_, source, certain, perhaps) => expect(read(source)).toEqual([certain, perhaps]));
