import type { Transaction } from "@janus/api";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { liveScreen, type Terminal } from "../../../packages/cli/src/progress/live-screen.ts";
import { painter } from "../../../packages/cli/src/output/style.ts";
import { progressScreen } from "../../../packages/cli/src/progress/progress-text.ts";
import { TerminalStream } from "../../fixtures/terminal.ts";
import { transaction } from "../core/transaction.ts";

const BEFORE = "$ kubectl janus watch web";
const paint = painter({ hasColour: false });

/** A screen on a terminal with a line of the shell, and the text that is to be on it. */
const drawing = async (columns: number, rows: number) => {
  const stream = new TerminalStream(columns, rows);
  stream.write(`${BEFORE}\n`);
  let text: ((width: number) => string) | undefined;
  const screen = await liveScreen(stream as unknown as Terminal, (width) => text?.(width) ?? "");
  return {
    stream,
    end: screen.end,
    show: (shown: (width: number) => string) => {
      text = shown;
      screen.draw();
    },
  };
};

/** Lines in columns of this width, without what is longer. */
const cut = (lines: readonly string[]) => (width: number) => lines.map((line) => line.slice(0, width)).join("\n");

it("leaves nothing of a former text, and all that was there before, however the terminal is resized", async () => {
  const line = fc.tuple(fc.constantFrom("a", "b", "c"), fc.integer({ min: 1, max: 100 }));
  const lines = fc.array(
    line.map(([letter, length]) => letter.repeat(length)),
    { minLength: 1, maxLength: 8 },
  );
  const step = fc.oneof(
    fc.record({ type: fc.constant("show" as const), lines }),
    fc.record({ type: fc.constant("resize" as const), columns: fc.integer({ min: 30, max: 110 }) }),
  );
  await fc.assert(
    fc.asyncProperty(lines, fc.array(step, { maxLength: 8 }), async (first, steps) => {
      const { stream, show, end } = await drawing(80, 60);
      let text = cut(first);
      show(text);
      for (const one of steps)
        if (one.type === "resize") await stream.resize(one.columns, 60);
        else {
          text = cut(one.lines);
          show(text);
        }
      end();
      expect(await stream.text()).toBe(`${BEFORE}\n${text(stream.columns)}`);
    }),
    { numRuns: 60 },
  );
});

it("counts the rows of lines that are longer than the terminal is wide, and of wide characters", async () => {
  const { stream, show, end } = await drawing(80, 60);
  show(() => `${"x".repeat(200)}\n${"変".repeat(35)}`);
  await stream.resize(40, 60);
  show(() => "short");
  end();
  expect(await stream.text()).toBe(`${BEFORE}\nshort`);
});

it("draws nothing while the terminal has no size, and goes on when it has one", async () => {
  const { stream, show, end } = await drawing(80, 24);
  show(() => "first");
  await stream.resize(80, 24);
  stream.columns = 0;
  show(() => "second");
  expect(await stream.text()).toBe(`${BEFORE}\nfirst`);
  stream.columns = 80;
  show(() => "third");
  end();
  expect(await stream.text()).toBe(`${BEFORE}\nthird`);
});

const many = (message: string): Transaction => {
  const target = { apiVersion: "v1", kind: "ConfigMap", name: "a" };
  const txn = transaction(
    Array.from({ length: 40 }, (_, n) => ({ type: "Delete", target: { ...target, name: `a${n}` } })),
  );
  const ready = {
    type: "Ready",
    status: "False" as const,
    reason: "Waiting",
    message,
    lastTransitionTime: "2026-01-01T00:00:00Z",
  };
  return { ...txn, status: { ...txn.status, conditions: [ready] } };
};

it.each([80, 40, 24])(
  "fits %d columns and the rows, with the headline, a long message, and what is wrong",
  (columns) => {
    const shown = {
      txn: many("it waits ".repeat(20).trim()),
      warning: "Not connected, trying again: refused",
      since: 0,
    };
    const lines = progressScreen(shown, 75_000, paint, columns, 24).split("\n");
    expect(lines.length).toBeLessThan(24);
    expect(lines[0]).toMatch(/^Transaction .*, for 1m15s$/u);
    expect(lines.slice(1).filter((line) => line.length > columns)).toEqual([]);
    expect(lines.join(" ")).toMatch(/Not\s+connected,\s+trying\s+again:\s+refused$/u);
  },
);
