import { expect, it } from "vitest";
import { printable } from "../../../packages/cli/src/output/printable.ts";

it.each([
  ["moves the cursor", "evil\u001b[1A\u001b[2K\rgood", "evil\\u001b[1A\\u001b[2K\\u000dgood"],
  ["begins a line of its own", "evil\n\nRequested by bob", "evil\\u000a\\u000aRequested by bob"],
  ["is a sequence in one character", "\u009b2J", "\\u009b2J"],
  ["turns the direction of the text", "\u202etxet\u2066", "\\u202etxet\\u2066"],
  ["has no width", "ad\u200bmin\u{e0041}", "ad\\u200bmin\\udb40\\udc41"],
  ["is harmless", "Grüße, 世界 🎂…", "Grüße, 世界 🎂…"],
])("what %s is written out", (_, text, expected) => {
  expect(printable({ names: [text], count: 1, absent: undefined })).toEqual({
    names: [expected],
    count: 1,
    absent: undefined,
  });
});

it("lines of a message stay lines", () => {
  expect(printable({ message: "one\ntwo\u001b[2K" })).toEqual({ message: "one\ntwo\\u001b[2K" });
});
