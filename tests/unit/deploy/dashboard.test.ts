import { dashboard } from "@janus/deploy";
import { expect, it } from "vitest";

it("describes each panel, in sentences", () => {
  const panels = dashboard.panels as readonly { readonly title: string; readonly description?: string }[];
  expect(panels.length).toBeGreaterThan(10);
  expect(panels.filter(({ description }) => !/^[A-Z0-9].{30,}\.$/u.test(description ?? ""))).toEqual([]);
  expect(new Set(panels.map(({ description }) => description)).size).toBe(panels.length);
});
