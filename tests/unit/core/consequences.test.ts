import { expect, it } from "vitest";
import { changeBody } from "../../../packages/controller/src/core/merge/write-body.ts";
import { restoration } from "../../../packages/controller/src/core/merge/restore-update.ts";
import { apply, post, put } from "./thing-server.ts";
import { author, manager, patch, place, thing, wish } from "./thing.ts";

const change = wish(patch({ data: { a: "2" } }));
const before = post(thing({ data: { a: "1", version: "one" } }), "kubectl");
const changed = apply(before, changeBody(change, place, before, author), manager);
const written = before.metadata.managedFields?.[0]?.time ?? "";
const [earlier, later] = ["", `${written}9`];

/** What admission has set has the manager that it had. */
const derived = { ...changed, data: { a: "2", version: "two" } };

it.each([
  ["restored, where its manager has not written since before the Transaction", derived, later, "one"],
  ["left, where its manager may have written within the same second", derived, written, "two"],
  ["left, where its manager has written since the Transaction was created", derived, earlier, "two"],
  [
    "left, where its manager has written since",
    put(derived, { ...derived, data: { a: "2", version: "3" } }, "kubectl"),
    later,
    "3",
  ],
])("a field that differs, and that the change has not set, is %s", (_, live, creationTimestamp, version) => {
  const { put: body } = restoration(change, place, before, live, { ...author, creationTimestamp });
  expect(body).toMatchObject({ data: { a: "1", version } });
});
