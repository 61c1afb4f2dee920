import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import type { JanusProps } from "@janus/deploy";
import { describe, expect, expectTypeOf, it } from "vitest";
import { chart } from "../../../packages/deploy/src/helm/chart.ts";
import type { propsOf } from "../../../packages/deploy/src/helm/props.ts";
import { placed } from "../../../packages/deploy/src/helm/value.ts";
import { values } from "../../../packages/deploy/src/helm/values.ts";

const directory = path.resolve(import.meta.dirname, "../../../charts/janus");
const files = chart();

describe("the chart in the repository", () => {
  it("is what packages/deploy prints now: else run npm run chart:write", () => {
    const there = readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(directory, path.join(entry.parentPath, entry.name)));
    expect(Object.fromEntries(there.map((file) => [file, readFileSync(path.join(directory, file), "utf8")]))).toEqual(
      files,
    );
  });

  it("can set what the constructs can", () => {
    expectTypeOf<keyof ReturnType<typeof propsOf>>().toEqualTypeOf<keyof JanusProps>();
  });

  it("uses every value that can be set, and has nothing of the samples that it is made of", () => {
    const templates = Object.entries(files)
      .filter(([file]) => file.startsWith("templates/") && !file.endsWith("NOTES.txt") && !file.endsWith("checks.yaml"))
      .map(([, text]) => text)
      .join("");
    for (const { path } of placed(values)) expect(templates).toMatch(new RegExp(`\\$\\.Values\\.${path}\\b`));
    expect(templates).not.toMatch(/sample|\b910/);
  });
});
