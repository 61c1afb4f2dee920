// A target is restored as admission allows it: when those of all later changes are as before, and those of earlier ones are not.
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import { patching } from "../fixtures/changes.ts";
import { isChangeOf } from "../fixtures/gate.ts";
import { configMap } from "../fixtures/manifests.ts";
import { type Workspace, workspace } from "../fixtures/workspace.ts";

/** As by a policy. */
const denied = E.left({ type: "refused", code: 422, reason: "Invalid", message: "denied", causes: [] } as const);

/** How long it takes until a policy goes by the parameters that were restored, in ms. */
const LAG = 1500;

const configMaps = async (): Promise<Workspace> => {
  const place = await workspace();
  await place.create(...["first", "second", "third"].map((name) => configMap(name, { value: "old" })));
  return place;
};

const changes = ["first", "second", "third"].map((name) => patching(configMap(name, { value: "new" })));

it("makes no write to the target of a change before the last one to that of the next, also where another client is faster", async () => {
  const place = await configMaps();
  const restored: string[] = [];
  await place.janus(async (request, next) => {
    if (isChangeOf("third")(request)) return denied;
    if (request.purpose !== "restore" || !("name" in request)) return next(request);
    restored.push(request.name);
    // Between the values and who manages them.
    if (request.name === "second" && restored.length === 2)
      await place.patch({ ...configMap("second"), metadata: { name: "second", labels: { seen: "yes" } } });
    return next(request);
  });
  expect((await place.run(changes)).status.phase).toBe("RolledBack");
  expect(restored.length).toBeGreaterThan(4);
  expect(restored.lastIndexOf("second")).toBeLessThan(restored.indexOf("first"));
});

it("tries again what is refused right after the target of the next change was restored", async () => {
  const place = await configMaps();
  let since: number | undefined;
  let refused = 0;
  await place.janus(async (request, next) => {
    if (isChangeOf("third")(request)) return denied;
    if (request.purpose !== "restore" || !("name" in request)) return next(request);
    if (request.name === "second") since ??= performance.now();
    if (request.name === "second" || performance.now() > (since ?? 0) + LAG) return next(request);
    refused += 1;
    return denied;
  });
  expect((await place.run(changes)).status.phase).toBe("RolledBack");
  expect(refused).toBeGreaterThan(0);
  expect((await place.read(configMap("first")))["data"]).toEqual({ value: "old" });
});
