import { journalIn } from "../../../packages/controller/src/core/state/observations.ts";
import type { ResolvedChange } from "@janus/api";
import type { JsonObject, KubeObject } from "@janus/types";
import { describe, expect, it } from "vitest";
import { withServerMutations } from "../../../packages/controller/src/core/merge/server-mutations.ts";
import { undoEdit } from "../../../packages/controller/src/core/undo/undo-edit.ts";
import { NOW } from "./arbitrary-situation.ts";
import { change, former, observing, underway } from "./underway.ts";

const place = {
  resource: {
    group: "apps",
    version: "v1",
    plural: "deployments",
    kind: "Deployment",
    namespaced: true,
    statusSubresource: true,
  },
  namespace: "shop",
  name: "web",
};
const podSpec = (...containers: readonly JsonObject[]) => ({ spec: { template: { spec: { containers } } } });
const web = (image: string, stamp: string): KubeObject => ({
  ...former("Deployment", "web", podSpec({ name: "web", image, env: [{ name: "STAMP", value: stamp }] })),
  apiVersion: "apps/v1",
});
const patch: ResolvedChange = {
  type: "Patch",
  target: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
  content: podSpec({ name: "web", image: "web:2" }),
};

/** What comes of the rollback after a PUT of `before`, of which the API server made `live`. */
const undone = (before: KubeObject, live: KubeObject) => {
  const start = underway("RollingBack", [change("Patch", "web")], {
    direction: "back",
    cursor: 0,
    reached: 1,
    since: NOW,
  });
  const seen = { type: "read", object: live, at: NOW } as const;
  const goal = withServerMutations(before, before, live, place);
  const context = observing(start, { 0: { target: seen, rollback: { goal, puts: 1 } } });
  const journal = journalIn(context.known);
  if (journal === undefined) throw new Error("there is no journal");
  return undoEdit({ index: 0, change: patch, place, context, journal, seen }, before);
};

describe("an item of a list on which admission sets something with every write", () => {
  it("is restored but for that, which is named", () => {
    expect(undone(web("web:1", "a"), web("web:1", "b"))).toEqual({
      type: "restored",
      warning:
        'Deployment shop/web: the API server sets .spec.template.spec.containers[name="web"].env[name="STAMP"].value itself: left unchanged',
    });
  });

  it("is not restored where it keeps what the change has set", () => {
    expect(JSON.stringify(undone(web("web:1", "a"), web("web:2", "a")))).toContain(
      "the API server does not restore .spec.template.spec.containers",
    );
  });
});
