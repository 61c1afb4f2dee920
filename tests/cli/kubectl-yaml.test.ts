import { canonical, parseJson } from "@janus/types";
import { expect, it } from "vitest";
import { stringify } from "yaml";
import { KUBERNETES_YAML } from "../../packages/cli/src/manifests/kubernetes-yaml.ts";
import { parseManifests } from "../../packages/cli/src/manifests/read-manifests.ts";
import { kubectlWith } from "../fixtures/cluster.ts";

const SCALARS = [
  ["0400", "-0400", "0o400", "08", "0x1F", "0b11", "1_000", "+5", "1e3", ".5", "1.50", "1."],
  [".", "+.", "-.", "._", "._1", ".1_0", ".e1", "e1", "0x_", "0b_", "0o_", "1e999", "e5481620", "7e12345", "0b-1"],
  ["yes", "No", "on", "OFF", "y", "N", "true", "False", "~", "null", "", "Null", "yEs", "nUll"],
  ["2001-01-01", "2001-01-01T10:00:00Z", "12:30", "12:30:45", "190:20:30", "1.2.3", "1Gi", "0400m", "2001:db8::1"],
  ['"0400"', "'yes'", "! 0400", "!!str 0400", "!!binary aGVsbG8=", "!!int 7", '!!int "7"', "!!float 1", "=", "<<"],
  ["9007199254740993", "-9223372036854775808", "18446744073709551616", "1e400", "-0.0"],
].flat();

/** Fragments of a manifest, beside apiVersion, kind and metadata. */
const READ: Readonly<Record<string, string>> = {
  scalars: `data:\n${SCALARS.map((value, n) => `  v${n}: ${value}\n`).join("")}`,
  "items that look like objects": "args:\n- 2001:db8::\n- 001:db8::\n- a:b\n- ::\n- - x\n",
  "keys that are no texts":
    "data: {true: a, 1: b, 1.5: c, 1e3: d, 1e6: e, 0x10: f, off: g, .: h, '': i, 2001-01-01: j}\n",
  "a merge, and a key before and after it": "base: &base {one: 1, two: 2}\nm: {one: a, <<: *base, two: b}\n",
  "merges of lists": "a: &a {x: 1}\nb: &b {x: 2, y: 3}\nm: {<<: [*a, *b], z: 4}\n",
  "an alias of a list": "a: &a [1, {b: c}]\nd: *a\n",
  "text that goes on at its key's column": "data:\n  a: \"one\n  two\"\n  b: 'three\n\n  four'\n",
  "a flow that goes on at its key's column": "args: [a,\nb\n]\ndata: {\na: b\n}\n",
  "plain text in lines": "data:\n  a: one\n    two\n\n    three # no more\n  b: x\n",
  "folded and literal text":
    "data:\n  a: >-\n    one\n    two\n\n      three\n    four\n\n  b: |+\n    x\n\n  c: |2\n     y\n",
  "tabs between": "data:\n  a:\tb\n  c: d\t# e\n  f: [g,\th]\n",
  "comments that no space precedes": "data:\n  a: 'b'# c\n  d: e#f\n",
  "separators of lines": "data:\n  a: b\u2028    c\n  d: e\u0085    f\n",
  escapes: 'data: {a: "\\x41\\u00e9\\U0001F600\\_\\N\\L\\e\\0", b: "one \\\n  two", c: "\\\t"}\n',
  "no values": "data: {a, b: , ? c}\nd:\ne: []\nf: {}\n",
  "keys with a question mark": "data:\n  ? a\n  : b\n  ? |\n    c\n  : d\n",
  "colons in flows": 'data: {"a":1, b:c: d, e: f:g, h::: i}\n',
};

/** By both. */
const REFUSED: Readonly<Record<string, string>> = {
  infinity: "data: {a: .inf}\n",
  "not a number": "data: {a: .NaN}\n",
  "a key that is null": "data: {~: a}\n",
  "a tab that indents": "data:\n\ta: b\n",
  "an alias without an anchor": "data: *a\n",
  "an anchor within itself": "data: &a {b: *a}\n",
  "an open quote": 'data: {a: "b\n',
  "a key in a text": "data:\n  a: b: c\n",
  "text behind ---": "--- a\n",
  "an escape of another language": 'data: {a: "\\q"}\n',
  "a number that is a text": "data: {a: !!int b}\n",
  "merges that multiply": "abcdefghi"
    .split("")
    .map(
      (name, n, all) =>
        `${name}: &${name} [${
          n === 0
            ? "x"
            : Array(9)
                .fill(`*${all[n - 1]}`)
                .join()
        }]\n`,
    )
    .join(""),
};

/** By us alone: kubectl drops something, or takes it for something else, without a word. */
const STRICTER: Readonly<Record<string, readonly [fragment: string, says: string]>> = {
  "a key twice": ["data:\n  a: b\n  a: c\n", "has this key already"],
  "a tag of another program": ["data: {a: !vault b}\n", "a tag that kubectl would ignore"],
  "text after the end": ["...\ndata: {a: b}\n", "text after the end of the document"],
  "binary that is no text": ["data: {a: !!binary /w==}\n", "of what is no text"],
  "a directive": ["%YAML 1.1\n", "no directives"],
  "a commit as a key": ["data: {7e123: a}\n", "cannot be a key"],
};

const HEAD = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n";

const dryRun = (file: string) =>
  kubectlWith({ stdin: file }, "create", "--dry-run=client", "--validate=false", "-o", "json", "-f", "-");

const withoutMetadata = (value: unknown): unknown => {
  const { metadata: _, ...rest } = value as Record<string, unknown>;
  return rest;
};

/** What kubectl makes of it, without asking whether it may be so; integers of any size are unchanged. */
const byKubectl = async (text: string): Promise<unknown> => withoutMetadata(parseJson((await dryRun(text)).stdout));

const byJanus = (text: string): unknown => withoutMetadata(parseManifests(Buffer.from(text), "here")[0]?.manifest);

it.each(Object.entries(READ))("reads in a manifest what kubectl reads: %s", async (_, fragment) => {
  expect(canonical(byJanus(HEAD + fragment))).toBe(canonical(await byKubectl(HEAD + fragment)));
});

it.each(Object.entries(REFUSED))("refuses what kubectl refuses: %s", async (_, fragment) => {
  expect(() => parseManifests(Buffer.from(HEAD + fragment), "here")).toThrow(/^here, line \d+, column \d+: /u);
  expect((await dryRun(HEAD + fragment)).code).not.toBe(0);
});

it.each(Object.entries(STRICTER))("refuses what kubectl takes for something else: %s", async (_, [fragment, says]) => {
  expect(() => parseManifests(Buffer.from(HEAD + fragment), "here")).toThrow(says);
  expect((await dryRun(HEAD + fragment)).code).toBe(0);
});

const MANIFEST = `${HEAD}data: {a: "\u00e9"}\n`;
const FILES: Readonly<Record<string, Buffer>> = {
  "UTF-8 with a byte order mark": Buffer.from(`\uFEFF${MANIFEST}`),
  "UTF-16, little-endian": Buffer.from(`\uFEFF${MANIFEST}`, "utf16le"),
  "UTF-16, big-endian": Buffer.from(`\uFEFF${MANIFEST}`, "utf16le").swap16(),
  "line ends of Windows": Buffer.from(`${HEAD}data:\n  a: |\n    b\n    c\n---\n${MANIFEST}`.replaceAll("\n", "\r\n")),
  "no line end": Buffer.from(`${HEAD}data:\n  a: |\n    b`),
  "several documents": Buffer.from(`---\n# nothing\n---\n${MANIFEST}--- # two\n${MANIFEST}---\n`),
  "JSON after JSON": Buffer.from(
    `${JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata: { name: "x" } })}\n`.repeat(2),
  ),
  "escapes of JSON": Buffer.from(
    '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"a":"\\ud83d\\ude00\\/"}}',
  ),
  "a List": Buffer.from(`apiVersion: v1\nkind: List\nitems:\n- ${MANIFEST.trim().replaceAll("\n", "\n  ")}\n`),
  "a typed list": Buffer.from(
    "apiVersion: v1\nkind: ConfigMapList\nitems:\n- metadata: {name: a}\n- metadata: {name: b}\n",
  ),
};

it.each(Object.entries(FILES))("reads a file as kubectl reads it: %s", async (_, file) => {
  const { stdout } = await kubectlWith(
    { stdin: file },
    "create",
    "--dry-run=client",
    "--validate=false",
    "-o",
    "jsonpath={.kind}{.metadata.name}{.data}\n",
    "-f",
    "-",
  );
  const read = parseManifests(file, "here").map(({ manifest: { kind, metadata, data } }) =>
    [kind, metadata.name, data === undefined ? "" : JSON.stringify(data)].join(""),
  );
  expect(read).toEqual(stdout.trimEnd().split("\n"));
});

it("prints texts and integers as YAML so that they are the same for kubectl", async () => {
  const texts = Object.fromEntries(
    [...SCALARS, "\tx\ny", "\u0085", "\uFEFF", "a\n\tb"].map((text, n) => [`v${n}`, text]),
  );
  const data = { ...texts, one: 9007199254740993n, two: -9223372036854775808n };
  const exact = parseJson(
    JSON.stringify({ data }, (_, value) => (typeof value === "bigint" ? `#${value}#` : value)).replaceAll(
      /"#|#"/gu,
      "",
    ),
  );
  const printed = `${HEAD}${stringify(exact, KUBERNETES_YAML)}`;
  expect(canonical(await byKubectl(printed))).toBe(
    canonical({ apiVersion: "v1", kind: "ConfigMap", ...(exact as object) }),
  );
});
