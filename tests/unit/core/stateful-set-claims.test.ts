import type { ResolvedChange } from "@janus/api";
import type { KubeObject } from "@janus/types";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { claimsDeletedBy } from "../../../packages/controller/src/core/kubernetes/deleted-claims.ts";
import { outline } from "../../../packages/controller/src/core/kubernetes/outline.ts";

const target = { apiVersion: "apps/v1", kind: "StatefulSet", name: "web" };

const live = (spec: object, templates: readonly string[] = ["data"]): KubeObject => ({
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { name: "web" },
  spec: { ...spec, volumeClaimTemplates: templates.map((name) => ({ metadata: { name } })) },
});

const patch = (spec: object): ResolvedChange => ({ type: "Patch", target, content: { spec: { ...spec } } });

const scale = fc.record({ replicas: fc.nat(6), ordinals: fc.record({ start: fc.nat(4) }) });
const goesWith = { persistentVolumeClaimRetentionPolicy: { whenScaled: "Delete" } };

interface Scale {
  readonly replicas: number;
  readonly ordinals: { readonly start: number };
}

const ordinalsOf = ({ replicas, ordinals: { start } }: Scale): readonly number[] =>
  Array.from({ length: replicas }, (_, n) => start + n);

/** What they should be, by trying every ordinal. */
const expected = (was: Scale, is: Scale, templates: readonly string[]) => {
  const kept = new Set(ordinalsOf(is));
  const lost = ordinalsOf(was)
    .filter((ordinal) => !kept.has(ordinal))
    .flatMap((ordinal) => templates.map((name) => `${name}-web-${ordinal}`));
  const more = lost.length > 5 ? ` and ${lost.length - 5} more` : "";
  return lost.length === 0
    ? undefined
    : { count: lost.length, names: `PersistentVolumeClaim ${lost.slice(0, 5).join(", ")}${more}`, lost };
};

it("counts the claims of ordinals that there are no more, and names the first five", () => {
  fc.assert(
    fc.property(scale, scale, fc.uniqueArray(fc.constantFrom("a", "b", "c")), (was, is, templates) => {
      const before = live({ ...was, ...goesWith }, templates);
      const all = templates.flatMap((name) => Array.from({ length: 12 }, (_, n) => `${name}-web-${n}`));
      // What is kept of a target before the first change is enough for it.
      for (const object of [before, outline(before)]) {
        const { includes = () => false, ...found } = claimsDeletedBy(patch(is), object) ?? {};
        const { lost = [], ...wanted } = expected(was, is, templates) ?? {};
        expect(found).toEqual(wanted);
        expect(all.filter(includes).toSorted()).toEqual(lost.toSorted());
      }
    }),
  );
});

it.each<readonly [string, object, ResolvedChange, number]>([
  ["a Patch that takes its replicas out", { replicas: 3, ...goesWith }, patch({ replicas: null }), 2],
  [
    "a Patch that retains them now",
    { replicas: 3, ...goesWith },
    patch({ replicas: 0, persistentVolumeClaimRetentionPolicy: { whenScaled: "Retain" } }),
    0,
  ],
  [
    "a Patch that takes the policy out",
    { replicas: 3, ...goesWith },
    patch({ replicas: 0, persistentVolumeClaimRetentionPolicy: null }),
    0,
  ],
  ["a Patch of something else", { replicas: 3, ...goesWith }, patch({ minReadySeconds: 1 }), 0],
  ["an Update that names neither", { replicas: 3, ...goesWith }, { type: "Update", target, content: { spec: {} } }, 0],
  ["a Delete, as it goes with replicas alone", { replicas: 3, ...goesWith }, { type: "Delete", target }, 0],
  [
    "a Delete",
    { replicas: 3, persistentVolumeClaimRetentionPolicy: { whenDeleted: "Delete" } },
    { type: "Delete", target },
    3,
  ],
  ["a Patch to none of very many", { replicas: 2 ** 31 - 1, ...goesWith }, patch({ replicas: 0 }), 2 ** 31 - 1],
])("knows what goes with %s", (_, spec, change, count) => {
  expect(claimsDeletedBy(change, live(spec))?.count ?? 0).toBe(count);
});
