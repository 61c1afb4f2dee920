import { connect, discovery, loadConfig } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ControlPlane, startControlPlane } from "../control-plane/control-plane.ts";
import { violations } from "./invariants.ts";
import type { Death } from "./mortal.ts";
import { type Casting, play } from "./play.ts";
import { installRefusal } from "./refusal.ts";
import { installTransactions } from "./transactions.ts";
import { scenarios } from "./scenario.ts";

/** Plays that go on side by side. They mostly wait. */
const SIDE_BY_SIDE = 12;

let controlPlane: ControlPlane;
let casting: Casting;

// One of its own: the hundreds of namespaces would keep the controllers of the shared one busy.
beforeAll(async () => {
  controlPlane = await startControlPlane();
  const config = loadConfig({}, controlPlane.kubeconfig);
  if (E.isLeft(config)) throw new Error(config.left);
  const api = connect(config.right);
  casting = { connection: config.right, api, find: discovery(api) };
  await installTransactions(api);
  await installRefusal(api);
});

afterAll(() => controlPlane.stop());

/** Runs all, a bounded number at a time. */
const all = async <A, B>(items: readonly A[], run: (item: A) => Promise<B>): Promise<readonly B[]> => {
  const results: B[] = [];
  const left = items.entries();
  const lane = async (): Promise<void> => {
    for (const [index, item] of left) results[index] = await run(item);
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, lane));
  return results;
};

const show = ({ at, when }: Death, trace: readonly string[]): string => `died ${when} request ${at}: ${trace[at]}`;

describe("whenever the controller dies, the Transaction ends all or nothing", () => {
  it.each(scenarios)("$name", { timeout: 900_000 }, async (scenario) => {
    const undisturbed = await play(casting, scenario, []);
    const [trace = []] = undisturbed.traces;
    expect(violations(undisturbed, undisturbed)).toEqual([]);
    const deaths = trace.flatMap((_, at): readonly Death[] => [
      { at, when: "before" },
      { at, when: "after" },
    ]);
    const found = await all(deaths, async (death) => {
      const story = show(death, trace);
      try {
        const wrong = violations(await play(casting, scenario, [death]), undisturbed);
        return wrong.map((text) => `${story}: ${text}`);
      } catch (error) {
        return [`${story}: ${String(error)}`];
      }
    });
    expect(found.flat().map((text) => text.slice(0, 400))).toEqual([]);
  });
});
