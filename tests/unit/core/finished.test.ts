import { holderIdentity } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import type { Ask } from "../../../packages/controller/src/core/effect.ts";
import { UID } from "./transaction.ts";
import { type Answer, change, former, later, refused, underway } from "./underway.ts";

const me = holderIdentity({ namespace: "shop", name: "deploy-v2", uid: UID });
const mine = former("Lease", "lock", { spec: { holderIdentity: me } });

it("releases the lock on what is of a kind that is served no more", () => {
  const start = underway(
    "Committed",
    [change("Delete", "a", "Gadget")],
    { direction: "forward", cursor: 1 },
    { resources: new Map([["v1/Gadget", null]]), locks: new Map() },
  );
  const answer = ({ purpose }: Ask): Answer =>
    purpose === "read-lock" || purpose === "release-lock" ? E.right(mine) : refused(404);
  const { asked } = later(start, 60_000, answer);
  const released = asked.filter(({ purpose }) => purpose === "release-lock");
  expect(released.map(({ call }) => call.place)).toMatchObject([
    { namespace: "shop", name: "janus-lock-shop-gadget-a" },
  ]);
});
