import { expect, it } from "vitest";
import type { Hook, Request } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { deleting } from "../fixtures/changes.ts";
import { diesAt } from "../fixtures/dying.ts";
import { configMap } from "../fixtures/manifests.ts";
import { allowOneService, oneTooMany } from "../fixtures/quota.ts";
import { unavailable } from "../fixtures/refusing.ts";
import { type Workspace, workspace } from "../fixtures/workspace.ts";

const isCreatedAgain = ({ verb, purpose }: Request): boolean => verb === "create" && purpose === "restore";
const isGivenBack = ({ verb, purpose }: Request): boolean => verb === "update" && purpose === "restore";

/** Sets one field as another client, and removes another one. */
const edit = (place: Workspace) => place.patch({ ...configMap("config"), data: { a: "theirs", b: null } });

/** Ends with a rollback, which creates a ConfigMap again. */
const ofDelete = async (): Promise<Workspace> => {
  const place = await workspace();
  await place.create(configMap("config", { a: "1", b: "1" }));
  await allowOneService(place);
  await place.submit([deleting(configMap("config")), ...oneTooMany]);
  return place;
};

const told = async (place: Workspace): Promise<unknown> => {
  const { phase, items } = (await place.over()).status;
  expect(phase).toBe("RolledBack");
  expect((await place.read(configMap("config")))["data"]).toEqual({ a: "theirs" });
  return items[0]?.error;
};

const UNCLEAR =
  "the API server, admission or another client has set other values for .data.a; the API server did not restore, or another client has removed, .data.b";

it.each([
  ["its fields were given back to their managers", isCreatedAgain],
  ["the item was recorded", isGivenBack],
])("does not say that admission has changed what another client has, after a crash before %s", async (_, isLast) => {
  const place = await ofDelete();
  await diesAt(place, isLast, "after");
  await edit(place);
  await place.janus();
  expect(await told(place)).toBe(`ConfigMap ${place.namespace}/config: ${UNCLEAR}`);
});

it("does not say that admission has changed what another client has, where the create was not answered", async () => {
  const place = await ofDelete();
  const mute: Hook = async (request, next) => {
    const answer = await next(request);
    if (!isCreatedAgain(request)) return answer;
    await edit(place);
    return E.left(unavailable);
  };
  await place.janus(mute);
  expect(await told(place)).toBe(`ConfigMap ${place.namespace}/config: ${UNCLEAR}`);
});

it("does not say that the API server has not restored what another client has removed", async () => {
  const place = await ofDelete();
  await place.janus(async (request, next) => {
    if (isGivenBack(request)) await edit(place);
    return next(request);
  });
  expect(await told(place)).toBe(`ConfigMap ${place.namespace}/config: another client has removed .data.b`);
});
