import { beforeAll, describe, expect, it } from "vitest";
import { kinds } from "./kinds.ts";
import { compared, openScene, world } from "./scene.ts";
import { owners } from "./target.ts";

beforeAll(openScene);

describe.each(kinds)("a $kind", (kind) => {
  it.each(["Patch", "Update"] as const)(
    "is as it was, including its field managers, after a %s is rolled back",
    async (type) => {
      const object = await world(kind, type.toLowerCase());
      const { before, changed, restore } = await object.change(type, type === "Patch" ? kind.patch : kind.content);
      expect(compared(kind.kind, changed)).not.toEqual(compared(kind.kind, before));
      const restored = await restore();
      expect(restored).toMatchObject({ conflicts: [], isOurs: false });
      expect(compared(kind.kind, restored.object)).toEqual(compared(kind.kind, before));
      // Nobody who applies again meets a conflict.
      const again = await object.apply("gitops", kind.applied);
      expect(owners(again)).toEqual(owners(before));
      expect(restored.puts).toBeLessThanOrEqual(2);
    },
  );
});
