// A hundred changes a second by three users: hardly any is without its author, and none has another one's.
import { setTimeout as sleep } from "node:timers/promises";
import { configMaps } from "@janus/types";
import { afterAll, beforeAll, expect, it } from "vitest";
import { attribution } from "../../packages/git-journal/src/shell/attribution.ts";
import { isExhaustive } from "../fixtures/sample.ts";
import { must } from "../load/world.ts";
import { configMap, configuration, controllerOf, place } from "./mirror-world.ts";
import { attributedWorld, type WebhookWorld } from "./webhook-world.ts";

const SECONDS = 60;
const RATE = 99;
const USERS = ["alice", "bob", "carol"] as const;

const authors = attribution();
let world: WebhookWorld;

beforeAll(async () => {
  world = await attributedWorld(authors);
});
afterAll(() => world.end());

it.runIf(isExhaustive)("of changes by three users at once 99 % have their author, and none another one", async () => {
  const { namespace } = world;
  const { url, git, files, create } = await place({ namespace });
  const users = await Promise.all(USERS.map((name) => world.as(name)));
  await create(...configuration(url));
  await controllerOf(namespace, {
    authors,
    flags: {
      settings: {
        selection: { watchAll: false, excludes: [], secrets: true },
        limits: { maxFiles: 200, maxBytes: 1_000_000, maxWait: 2_000 },
      },
    },
  });
  const fileOf = (name: string): string => `prod/core/v1/configmaps/${namespace}/${name}.yaml`;
  const at = { resource: configMaps, namespace };
  const named = users.flatMap((api, user) =>
    Array.from({ length: RATE / USERS.length }, (_, n) => ({ api, name: `of-${USERS[user]}-${n}` })),
  );
  for (const { api, name } of named)
    must(await api.send({ verb: "create", ...at, body: configMap(name, { v: "first" }) }));
  // Looks at all files at once, and not often: git is run for it, by the process in which the journal is.
  const areAll = (is: (text: string | undefined) => boolean): boolean => {
    const now = files();
    return named.every(({ name }) => is(now[fileOf(name)]));
  };
  const patient = { interval: 1_000 };
  await expect.poll(() => areAll((text) => text !== undefined), patient).toBe(true);
  const began = git(["rev-parse", "main"]).trim();
  for (let second = 0; second < SECONDS; second += 1) {
    const until = Date.now() + 1000;
    await Promise.all(
      named.map(async ({ api, name }) =>
        must(await api.send({ verb: "mergePatch", ...at, name, body: { data: { v: `${second}` } } })),
      ),
    );
    await sleep(Math.max(0, until - Date.now()));
  }
  await expect.poll(() => areAll((text) => text?.includes(`v: "${SECONDS - 1}"`) === true), patient).toBe(true);
  const commits = git(["log", "--format=commit %an", "--name-only", `${began}..main`])
    .split("commit ")
    .slice(1)
    .map((text) => {
      const [author = "", ...paths] = text.split("\n").filter((line) => line !== "");
      return paths.flatMap((path) => {
        const owner = /\/of-(\w+)-\d+\.yaml$/u.exec(path)?.[1];
        return owner === undefined ? [] : [{ author, owner }];
      });
    })
    .flat();
  const missed = commits.filter(({ author }) => !USERS.some((user) => user === author));
  const wrong = commits.filter(({ author, owner }) => USERS.some((user) => user === author) && author !== owner);
  console.log(`${commits.length} changes of files in commits, ${missed.length} without author, ${wrong.length} wrong`);
  expect(wrong).toEqual([]);
  expect(missed.length).toBeLessThanOrEqual(commits.length / 100);
});
