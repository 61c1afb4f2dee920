import { expect, it } from "vitest";
import { builtInTypes } from "./built-in-types.ts";

it("the kinds and types of the model are those of this API server", async () => {
  await expect(await builtInTypes()).toMatchFileSnapshot("../../packages/testing/src/api-server/built-in-types.ts");
});
