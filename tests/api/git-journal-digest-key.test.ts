// Tests on the API server that processes which start at the same time have one key of the digests, which nobody edits.
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import { digestKey } from "../../packages/git-journal/src/shell/digest-key.ts";
import { kubectl } from "../fixtures/cluster.ts";
import { freshNamespace } from "../fixtures/namespaces.ts";
import { sharedClient } from "../kube/client.ts";

const api = sharedClient();
const secret = "secret/janus-git-journal-digest";

it("the key of the digests is made once, and is the same afterwards", async () => {
  const namespace = await freshNamespace();
  const keys = await Promise.all(Array.from({ length: 8 }, () => digestKey(api, namespace)));
  const [first] = keys;
  expect(first).toMatchObject({ _tag: "Right", right: { length: 32 } });
  expect(keys).toEqual(keys.map(() => first));
  expect(await digestKey(api, namespace)).toEqual(first);

  const edit = await kubectl("patch", secret, `-n=${namespace}`, "--type=merge", '-p={"data":{"key":"YQ=="}}');
  expect(edit.stderr).toContain("immutable");
  await kubectl("delete", secret, `-n=${namespace}`);
  const other = await digestKey(api, namespace);
  expect(E.isRight(other)).toBe(true);
  expect(other).not.toEqual(first);
});

it("a namespace that is not there is said", async () => {
  expect(await digestKey(api, "nowhere-at-all")).toEqual(
    E.left(
      'Secret nowhere-at-all/janus-git-journal-digest cannot be read or made: namespaces "nowhere-at-all" not found',
    ),
  );
});
