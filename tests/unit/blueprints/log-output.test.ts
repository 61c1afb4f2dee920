// Tests how outputs are read from the log of a Pod.
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { endLog, type LogOutput, NO_LOG, readLog } from "../../../packages/blueprints/src/core/log-output.ts";

const read = (...chunks: readonly string[]): LogOutput => endLog(chunks.reduce(readLog, NO_LOG));
const output = (key: string, value: string): string => `###Phase-output###: ${JSON.stringify({ key, value })}`;

describe("outputs", () => {
  it("stand in lines with kando's mark, wherever it is in the line", () => {
    expect(read(`2026 ${output("backupID", "b1")}\nother\n${output("size", "3")}`).outputs).toEqual({
      backupID: "b1",
      size: "3",
    });
  });
  it("of a name are replaced by later ones", () =>
    expect(read(`${output("a", "1")}\n${output("a", "2")}\n`).outputs).toEqual({ a: "2" }));
  it.each([
    ["###Phase-output###: {not json", /not of the form/],
    ['###Phase-output###: {"key":"a"}', /not of the form/],
    [output("a-b", "1"), /"a-b" is not a name of an output/],
    [output("a", "x".repeat(90 * 1024)), /output "a" is 90 KiB, 64 KiB is the most/],
  ])("that cannot be taken are told: %s", (line, problem) => expect(read(line).problem).toMatch(problem));
  it("are bounded in all", () => {
    const many = Array.from({ length: 20 }, (_, at) => output(`a${at}`, "x".repeat(40 * 1024)));
    expect(read(many.join("\n")).problem).toBe("its outputs are more than 512 KiB");
  });
  it("of any name are kept: __proto__, too", () =>
    expect(Object.entries(read(output("__proto__", "1")).outputs)).toEqual([["__proto__", "1"]]));
  it("are Unicode: what is none is stored as something else", () =>
    expect(read(output("a", "\ud800")).outputs).toEqual({ a: "\ufffd" }));
  it("stand behind a long line without an end, or are missed with a word", () => {
    const long = "x".repeat(300 * 1024);
    expect(read(long, output("a", "1"))).toMatchObject({ outputs: { a: "1" } });
    expect(read(`${output("a", "1").slice(0, -1)}${long}`).problem).toMatch(
      /more than 64 KiB|KiB, 64 KiB is the most|not of the form/u,
    );
  });
  it("are the same in whatever pieces the log comes", () => {
    const line = fc.oneof(
      fc.string(),
      fc.tuple(fc.constantFrom("a", "b_1", "c-c"), fc.string()).map(([key, value]) => output(key, value)),
    );
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat(200)), (lines, cuts) => {
        const text = lines.join("\n");
        const at = [0, ...cuts.map((cut) => Math.min(cut, text.length)), text.length].toSorted((a, b) => a - b);
        const pieces = at.slice(1).map((end, n) => text.slice(at[n], end));
        expect(read(...pieces)).toEqual(read(text));
      }),
    );
  });
});

describe("the last lines", () => {
  it("are ten at most, without outputs and empty lines", () => {
    const lines = Array.from({ length: 14 }, (_, at) => `line ${at}`);
    expect(read([...lines, "", output("a", "1")].join("\n")).tail).toEqual(lines.slice(4));
  });
  it("have no part of a word that is cut, which may be that of a Secret", () =>
    expect(readLog(NO_LOG, `password: ${"x".repeat(5000)}\n`).tail).toEqual(["password: …"]));
  it("are 2 KiB at most", () => {
    const { tail } = read(Array.from({ length: 10 }, () => "x".repeat(500)).join("\n"));
    expect(tail).toHaveLength(4);
  });
});
