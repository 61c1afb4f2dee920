// A Transaction with more text than the memory is to have: it is one commit all the same.
import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { patching } from "../fixtures/changes.ts";
import { isExhaustive } from "../fixtures/sample.ts";
import { workspace } from "../fixtures/workspace.ts";
import { configMap, configuration, controllerOf, place } from "./mirror-world.ts";

/** Of each object: about as many bytes as an API server takes. */
const SIZE = 900_000;
/** More than all texts that are kept in memory. */
const COUNT = 60;

it.runIf(isExhaustive)("a Transaction is one commit, however large its files are", { timeout: 300_000 }, async () => {
  const txns = await workspace();
  const { url, namespace, git, log, create } = await place({ namespace: txns.namespace });
  const names = Array.from({ length: COUNT }, (_, n) => `large-${n}`);
  for (const name of names) await create(configMap(name, { text: randomBytes(SIZE / 2).toString("hex") }));
  await create(...configuration(url));
  await controllerOf(namespace);
  await expect
    .poll(() => (log().length === 0 ? [] : git(["ls-tree", "-r", "--name-only", "main"]).split("\n")), {
      timeout: 120_000,
    })
    .toHaveLength(COUNT + 1);
  const before = log().length;
  await txns.janus();
  const { status } = await txns.run(names.map((name) => patching(configMap(name, { a: "2" }))));
  expect(status.phase).toBe("Committed");
  await expect
    .poll(() => log("%s").slice(0, -before), { timeout: 120_000 })
    .toEqual([`Transaction ${namespace}/txn: Committed, ${COUNT} changes`]);
  expect(git(["grep", "--count", '^  a: "2"$', "main"]).split("\n")).toHaveLength(COUNT);
});
