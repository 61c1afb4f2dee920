import { canonical, parseJson, readYaml, textOfBytes, YamlError } from "@janus/types";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seed } from "../fixtures/sample.ts";
import { arbitraryFiles } from "./arbitrary-yaml.ts";
import { askOracle, hasOracle } from "./oracle/oracle.ts";

const FILES = 30_000;

/** What kubectl reads and we refuse, by what we say: that would lose something without a word. */
const STRICTER =
  /has this key already|cannot be a key|byte order mark|a tag that kubectl|control character|separator of lines|is not UTF-|JSON has no infinity|!!binary of what is no text/u;

/** Escapes that only JSON has; we read them everywhere. */
const OF_JSON = /unknown escape character|invalid Unicode character escape/u;

interface Said {
  /** As JSON. */
  readonly documents?: string;
  /** It ignores a part of the file, in which there may be anything. */
  readonly ignores: boolean;
  readonly error?: string;
}

type Read = { readonly documents: readonly unknown[] } | { readonly refused: string };

const read = (file: Buffer): Read => {
  try {
    const documents = readYaml(textOfBytes(file)).map(({ value }) => value);
    return { documents: documents.filter((value) => value !== null) };
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    return { refused: error.message };
  }
};

const isAlike = (ours: Read, theirs: Said): boolean =>
  "documents" in ours
    ? OF_JSON.test(theirs.error ?? "") || canonical(ours.documents) === canonical(parseJson(theirs.documents ?? ""))
    : theirs.error !== undefined || theirs.ignores || STRICTER.test(ours.refused);

const ask = (files: readonly Buffer[]): Promise<readonly Said[]> =>
  askOracle<Said>(
    "read",
    files.map((file) => ({ base64: file.toString("base64") })),
  );

describe.skipIf(!(await hasOracle()))("YAML, compared with kubectl in Go", () => {
  it("has the values that kubectl reads, or is refused", async () => {
    const files = fc.sample(arbitraryFiles, { numRuns: FILES, seed });
    const said = await ask(files);
    // kubectl takes what begins with { for JSON, or else gives up; after a comment it is YAML.
    const saidOfYaml = await ask(files.map((file) => Buffer.from(`#\n${textOfBytes(file)}`)));
    const all = files.map((file, at) => ({ file, ours: read(file), theirs: [said[at], saidOfYaml[at]] }));
    const wrong = all.filter(({ ours, theirs }) => !theirs.some((one) => one !== undefined && isAlike(ours, one)));
    expect(
      wrong
        .slice(0, 5)
        .map(({ file, ...rest }) => ({ text: file.toString(), base64: file.toString("base64"), ...rest })),
    ).toEqual([]);
    // A reader that refuses everything would agree, too.
    expect(all.filter(({ ours }) => "documents" in ours && ours.documents.length > 0).length).toBeGreaterThan(
      FILES / 3,
    );
  });
});
