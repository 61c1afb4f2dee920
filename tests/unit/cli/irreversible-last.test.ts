import type { ChangePreview } from "@janus/controller";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { irreversibleLast } from "../../../packages/cli/src/plan/irreversible-last.ts";
import type { Previewed } from "../../../packages/cli/src/plan/run-preview.ts";
import { transaction } from "../core/transaction.ts";

interface Planned {
  readonly kind: string;
  readonly isEarly: boolean;
  /** A field of the content, such as the name of what is mounted. */
  readonly content?: object;
  readonly group?: string;
}

const CRDS = "apiextensions.k8s.io";

const previewed = (all: readonly Planned[], after: object = {}): Previewed => {
  const changes = all.map(({ kind, content = {}, group }, index) => ({
    type: "Apply" as const,
    target: { apiVersion: group === undefined ? "v1" : `${group}/v1`, kind, name: `x${index}` },
    content: content as {},
  }));
  return {
    type: "previewed",
    txn: transaction(changes),
    changes: all.map(({ kind, isEarly, group = "" }, index) => ({
      index,
      type: "Patch",
      problems: [],
      place: { resource: { group, kind }, namespace: "shop", name: `x${index}` },
      before: { data: {} },
      after: { data: {}, ...after },
      ...(isEarly ? { tooEarly: "cannot be undone" } : {}),
    })) as unknown as readonly ChangePreview[],
    unplaced: [],
    isTried: true,
    concealed: new Set(),
    general: [],
  };
};

it("moves what cannot be undone behind all else, and nothing past its like", () => {
  const planned = fc.record({
    kind: fc.constantFrom("PersistentVolumeClaim", "Job", "Service"),
    isEarly: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(planned, { minLength: 1 }), (all) => {
      const isNone = all.every(({ isEarly }) => !isEarly);
      const [first, last] = [false, true].map((early) => [...all.keys()].filter((at) => all[at]?.isEarly === early));
      const expected = isNone ? undefined : { type: "order", order: [...(first ?? []), ...(last ?? [])] };
      expect(irreversibleLast(previewed(all))).toEqual(expected);
    }),
  );
});

const early = (kind: string, group?: string): Planned => ({
  kind,
  isEarly: true,
  ...(group === undefined ? {} : { group }),
});
const mounts = (name: string): Planned => ({
  kind: "Deployment",
  group: "apps",
  isEarly: false,
  content: { spec: { template: { spec: { volumes: [{ name: "v", secret: { secretName: name } }] } } } },
});
const order = { type: "order", order: [1, 0] };
const needed = { type: "needed", needed: [{ index: 0, by: 1 }] };

it.each([
  ["a claim that a Pod mounts: it is there already", [early("PersistentVolumeClaim"), mounts("x0")], {}, order],
  ["a Secret that becomes immutable as it is", [early("Secret"), mounts("x0")], {}, order],
  ["a Secret with other contents", [early("Secret"), mounts("x0")], { data: { a: "1" } }, needed],
  ["one that nobody names", [early("Secret"), mounts("other")], { data: { a: "1" } }, order],
  [
    "a kind, of which an object follows",
    [early("CustomResourceDefinition", CRDS), { kind: "Gadget", group: "example.com", isEarly: false }],
    { spec: { group: "example.com" } },
    needed,
  ],
  [
    "a kind, which a controller may read",
    [early("CustomResourceDefinition", CRDS), mounts("other")],
    { spec: { group: "example.com" } },
    needed,
  ],
  [
    "a kind, where nothing of its group follows",
    [early("CustomResourceDefinition", CRDS), { kind: "ConfigMap", isEarly: false }],
    { spec: { group: "example.com" } },
    order,
  ],
] as const)("leaves what a later change may need, and moves the rest: %s", (_, all, after, expected) => {
  expect(irreversibleLast(previewed(all, after))).toEqual(expected);
});
