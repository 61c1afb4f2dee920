// Who waits for a lock stands in line.
import type { Hook } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import { patching } from "../fixtures/changes.ts";
import { gate, isChangeOf } from "../fixtures/gate.ts";
import { configMap } from "../fixtures/manifests.ts";
import { recording } from "../fixtures/recording.ts";
import { type Txn, type Workspace, workspace } from "../fixtures/workspace.ts";
import { lockOfSomebody } from "./contended.ts";

const changing = (by: string, ...names: readonly string[]) => names.map((name) => patching(configMap(name, { by })));

const waits = async ({ txn }: Workspace, name: string): Promise<boolean> =>
  (await txn(name)).status?.conditions.some(({ reason }) => reason === "Waiting") ?? false;

/** With the uid, which tells apart who began in the same second. */
const began = ({ status, metadata }: Txn): string => `${status.startedAt} ${metadata.uid}`;

/** So many that each look now and then is somebody's at any time. */
const LATER = Array.from({ length: 20 }, (_, n) => `later-${n}`);

it("a lock that is released goes to the Transaction that began first, however many wait for it", async () => {
  const place = await workspace();
  await place.create(configMap("a"), configMap("b"), lockOfSomebody(place));
  const { hook, requests } = recording();
  await place.janus(hook);
  await place.submit(changing("first", "b", "a"), { name: "first" });
  await expect.poll(() => waits(place, "first")).toBe(true);
  // `startedAt` has whole seconds.
  await new Promise((resolve) => setTimeout(resolve, 1100));
  for (const name of LATER) await place.submit(changing(name, "a"), { name });
  await expect.poll(async () => (await Promise.all(LATER.map((name) => waits(place, name)))).every(Boolean)).toBe(true);
  await place.remove(lockOfSomebody(place));
  const ended = await Promise.all(["first", ...LATER].map((name) => place.over(name)));
  expect(new Set(ended.map(({ status: { phase } }) => phase))).toEqual(new Set(["Committed"]));
  const written = requests.flatMap((request) =>
    isChangeOf("a")(request) && "fieldManager" in request ? [request.fieldManager] : [],
  );
  const inTurn = ended.toSorted((one, other) => (began(one) < began(other) ? -1 : 1));
  expect(written).toEqual(inTurn.map(({ metadata }) => `janus-${metadata.name}-${metadata.uid}`));
});

it("a lock that is released is acquired at once by the Transaction that waits for it", async () => {
  const place = await workspace();
  await place.create(configMap("a"));
  const { hook: hold, reached, open } = gate(isChangeOf("a"));
  const seen = new Map<string, Awaited<ReturnType<Hook>>>();
  const stale: Hook = async (request, next) => {
    const key = request.purpose === "read-lock" && "name" in request ? request.name : undefined;
    const former = seen.get(key ?? "");
    if (former !== undefined) return former;
    const answer = await next(request);
    if (key !== undefined && E.isRight(answer)) seen.set(key, answer);
    return answer;
  };
  await place.janus(hold, stale);
  await place.submit(changing("first", "a"), { name: "first" });
  await reached;
  await place.submit(changing("second", "a"), { name: "second" });
  await expect.poll(() => waits(place, "second")).toBe(true);
  open();
  expect((await place.over("second")).status.phase).toBe("Committed");
});
