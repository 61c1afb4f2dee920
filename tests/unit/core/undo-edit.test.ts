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

/**
 * What comes of the rollback after a PUT of `before`, of which the API server made `made`.
 *
 * @param earlier the changes before it. Default: none
 * @param live what it is by now. Default: as it was made
 */
const undone = (
  before: KubeObject,
  made: KubeObject,
  { earlier = [], live = made }: { readonly earlier?: readonly ResolvedChange[]; readonly live?: KubeObject } = {},
) => {
  const index = earlier.length;
  const start = underway("RollingBack", [...earlier, change("Patch", "web")], {
    direction: "back",
    cursor: index,
    reached: index + 1,
    since: NOW,
  });
  const seen = { type: "read", object: live, at: NOW } as const;
  const goal = withServerMutations(before, before, made, place);
  const context = observing(start, { [index]: { target: seen, rollback: { goal, puts: 1 } } });
  const journal = journalIn(context.known);
  if (journal === undefined) throw new Error("there is no journal");
  return undoEdit({ index, change: patch, place, context, journal, seen }, before);
};

describe("an item of a list on which admission sets something with every write", () => {
  it("is restored but for that, which is named", () => {
    expect(undone(web("web:1", "a"), web("web:1", "b"))).toEqual({
      type: "restored",
      warning:
        'Deployment shop/web: the API server or admission sets .spec.template.spec.containers[name="web"].env[name="STAMP"].value: left unchanged',
    });
  });

  it("is said to be of the API server itself or of admission, also while an earlier change may be the reason: a default, or a policy", () => {
    expect(undone(web("web:1", "a"), web("web:1", "b"), { earlier: [change("Create", "policy")] })).toEqual({
      type: "defer",
      because:
        'Deployment shop/web: the API server or admission sets .spec.template.spec.containers[name="web"].env[name="STAMP"].value: restored once more after the changes before it',
    });
  });

  it("is not said to be of admission where another client has set it since", () => {
    const [key, stamp] = [(name: string) => `k:${JSON.stringify({ name })}`, { "f:value": {} }];
    const containers = { [key("web")]: { "f:env": { [key("STAMP")]: stamp } } };
    const fieldsV1 = { "f:spec": { "f:template": { "f:spec": { "f:containers": containers } } } };
    const { metadata, ...rest } = web("web:1", "c");
    const managedFields = [{ manager: "kubectl-edit", operation: "Update", fieldsV1 }] as const;
    expect(
      undone(web("web:1", "a"), web("web:1", "b"), { live: { ...rest, metadata: { ...metadata, managedFields } } }),
    ).toEqual({
      type: "restored",
      warning:
        'Deployment shop/web: the API server, admission or another client has set .spec.template.spec.containers[name="web"].env[name="STAMP"].value: left unchanged',
    });
  });

  it("is not restored where it keeps what the change has set", () => {
    expect(JSON.stringify(undone(web("web:1", "a"), web("web:2", "a")))).toContain(
      "the API server does not restore .spec.template.spec.containers",
    );
  });
});
