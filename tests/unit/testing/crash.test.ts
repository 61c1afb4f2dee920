// A crash of the controller in the model: whichever request it is killed after, the Transaction ends as without.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { runTransaction } from "../../../packages/testing/src/controller/run-transaction.ts";
import type { State } from "../../../packages/testing/src/controller/state.ts";
import { reportOf } from "../../../packages/testing/src/report.ts";
import type { SimulatedObject } from "../../../packages/testing/src/simulation.ts";
import { stage } from "../../../packages/testing/src/stage.ts";
import { root } from "../docs/page.ts";

const objectsIn = (file: string): readonly SimulatedObject[] =>
  parseAllDocuments(readFileSync(new URL(file, root), "utf8")).map((document) => document.toJS() as SimulatedObject);

const [transaction] = objectsIn("docs/examples/deploy-v2.yaml");
const staged = stage(transaction, objectsIn("docs/examples/before.yaml"), {});
if (staged.type === "refused") throw new Error(staged.problems.join());
const { scene } = staged;

const endOf = (crashAt?: number): State =>
  runTransaction(scene.start, crashAt === undefined ? scene.scenario : { ...scene.scenario, crashAt });

const whole = endOf();
const requests = whole.requests.map((request, index) => ({ ...request, number: index + 1 }));

it.each(requests)("killed after request $number, $purpose", ({ number, purpose }) => {
  const end = endOf(number);
  const { phase, items, objects } = reportOf(end, scene, "targets");
  const expected = reportOf(whole, scene, "targets");
  expect({ phase, items, objects }).toEqual({
    phase: expected.phase,
    items: expected.items,
    objects: expected.objects,
  });
  // It was sent: a crash that comes after it changes nothing of what came before.
  expect(end.requests[number - 1]?.purpose).toBe(purpose);
});

it("a change that was applied before the crash is not sent again", () => {
  const first = requests.find(({ purpose }) => purpose === "change");
  const sent = endOf(first?.number).requests.filter(({ purpose, item }) => purpose === "change" && item === 0);
  expect(sent).toHaveLength(1);
});
