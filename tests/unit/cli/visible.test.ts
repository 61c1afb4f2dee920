import { describe, expect, it } from "vitest";
import { painter } from "../../../packages/cli/src/output/style.ts";
import { visible } from "../../../packages/cli/src/output/visible.ts";

describe("what others have written, on a terminal", () => {
  it.each([
    ["conceals", "\u001b[8mhidden\u001b[0m", "\\u{1b}[8mhidden\\u{1b}[0m"],
    ["moves the cursor", "a\u001b[2Kb\rc", "a\\u{1b}[2Kb\\u{d}c"],
    ["begins a sequence with one character", "a\u009b8mb", "a\\u{9b}8mb"],
    ["sets a title", "\u001b]0;title\u0007", "\\u{1b}]0;title\\u{7}"],
    ["changes the direction", "a\u202eb", "a\\u{202e}b"],
    ["has no width", "ad\u200bmin\u200d\u2060\ufeff", "ad\\u{200b}min\\u{200d}\\u{2060}\\u{feff}"],
    ["is not displayed", "a\u{e0041}\ufe0f\u3164\u00ad", "a\\u{e0041}\\u{fe0f}\\u{3164}\\u{ad}"],
  ])("is visible where it %s", (_, text, shown) => {
    expect(visible(text)).toBe(shown);
  });

  it("keeps lines, tabs, all other letters and our own colours", () => {
    const paint = painter({ hasColour: true });
    const painted = (["green", "red", "yellow", "cyan", "dim", "bold"] as const).map((one) => paint(one, "text"));
    const text = ["a\tb", "Zürich 東京 🚀", ...painted].join("\n");
    expect(visible(text)).toBe(text);
  });
});
