// Trouble on the way to the API server fails no phase, and no command runs twice for it.
import { setTimeout } from "node:timers/promises";
import { connect } from "@janus/kube";
import { afterAll, beforeAll, expect, it } from "vitest";
import { endOf, usualEnd } from "../crash/any-controller.ts";
import { controlPlane } from "../fixtures/cluster.ts";
import { share, showShare } from "../fixtures/sample.ts";
import { tunnel } from "../fixtures/tunnel.ts";
import { eachKindMeetsTrouble, eachWriteMeetsTrouble, type Run, struckAnywhere } from "../trouble/any-controller.ts";
import { type BadWays, badWays } from "../trouble/bad-ways.ts";
import { dump } from "./dump.ts";
import { client, connection } from "./world.ts";

const SHARE = share({ npmTest: 6, ci: 6 });
const WRITES = share({ npmTest: 3, ci: 6 });

let ways: BadWays;
let usual: string;
let run: Run;
beforeAll(async () => {
  ways = await badWays(connection);
  usual = await usualEnd(client, dump);
  run = endOf(client, dump, usual);
});
afterAll(() => ways.close());

it(`is waited out, whatever it is and whichever kind of request of a recipe meets it${showShare("trouble", SHARE)}`, async () => {
  const { wrong, usual: kinds, met } = await eachKindMeetsTrouble(run, ways.badWay, SHARE);
  expect(wrong).toEqual([]);
  expect(kinds.filter((kind) => !met.has(kind))).toEqual([]);
});

it(`is waited out, whichever single write of a recipe meets it on its way back${showShare("write", WRITES)}`, async () => {
  expect(await eachWriteMeetsTrouble(run, ways.badWay, WRITES)).toEqual([]);
});

it("is waited out when connections are cut again and again, the watch's and the log's among them", async () => {
  const way = await tunnel({ port: Number(new URL(controlPlane.url).port) });
  const server = connection.server.replace(/\d+$/, `${way.port}`);
  const theirs = connect({ ...connection, server }, { writeTimeout: 1500, deadline: 5000, connections: 256 });
  const wrong = await struckAnywhere([{ name: "dump", run, struck: endOf(theirs, dump, usual) }], 12, async (go) => {
    go();
    for (let times = 0; times < 20; times += 1) {
      await setTimeout(50 + 17 * times);
      way.cut();
    }
  });
  await theirs.close();
  expect(wrong).toEqual([]);
});
