import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import type { JanusProps } from "@janus/deploy";
import { describe, expect, expectTypeOf, it } from "vitest";
import { parse } from "yaml";
import { version } from "../../../packages/deploy/src/defaults.ts";
import { printedFiles } from "../../../packages/deploy/src/helm/printed-files.ts";
import type { propsOf } from "../../../packages/deploy/src/helm/props.ts";
import { placed } from "../../../packages/deploy/src/helm/value.ts";
import { values } from "../../../packages/deploy/src/helm/values.ts";

const directory = path.resolve(import.meta.dirname, "../../../charts/janus");
const read = (file: string): string => readFileSync(path.join(directory, file), "utf8");
const templates = globSync("templates/*", { cwd: directory }).map((file) => [file, read(file)] as const);

describe("the chart in the repository", () => {
  it.each(Object.entries(printedFiles()))("has %s as it is printed now: else run npm run chart:write", (file, text) => {
    expect(read(file)).toBe(text);
  });

  it("includes all files that are printed for it, and has no others", () => {
    const files = globSync("files/*", { cwd: directory });
    expect(files.toSorted()).toEqual(
      Object.keys(printedFiles())
        .filter((file) => file.startsWith("files/"))
        .toSorted(),
    );
    expect(files.filter((file) => !templates.some(([, text]) => text.includes(`.Files.Get "${file}"`)))).toEqual([]);
  });

  it("is of the version of the constructs", () => {
    expect(parse(read("Chart.yaml"))).toMatchObject({ version, appVersion: version });
    expect(existsSync(path.join(directory, ".helmignore"))).toBe(true);
  });

  it("can set what the constructs can", () => {
    expectTypeOf<keyof ReturnType<typeof propsOf>>().toEqualTypeOf<keyof JanusProps>();
  });

  it("uses every value that can be set", () => {
    const all = templates.map(([, text]) => text).join("");
    const unused = placed(values).filter(({ path }) => !all.includes(`.${path.split(".").at(-1)}`));
    expect(unused.map(({ path }) => path)).toEqual([]);
  });

  it("names no registry and no address, but for its own Service and those that are reserved for examples", () => {
    const texts = [
      ...templates,
      ...["Chart.yaml", "values.yaml", "README.md"].map((file) => [file, read(file)] as const),
    ];
    expect(
      texts.filter(([, text]) => /https?:(?!\/\/%s\.%s\.svc)|\b(?:ghcr|docker|quay|gcr)\.io\b/u.test(text)),
    ).toEqual([]);
  });
});
