import { beforeAll, describe, expect, it } from "vitest";
import { GROUP, type Kind, kinds, podTemplate } from "./kinds.ts";
import { manifest, openScene, world } from "./scene.ts";
import { type Fields, owners, target } from "./target.ts";

beforeAll(openScene);

const deployment = kinds.find(({ kind }) => kind === "Deployment") as Kind;

describe("what others did since the change", () => {
  it("is theirs: an autoscaler keeps its replicas, a person the labels, and the image is back", async () => {
    const object = await world(deployment, "scaled");
    const { before, restore } = await object.change("Patch", { spec: { template: podTemplate("web:2") } });
    await object.edit("autoscaler", { spec: { replicas: 7 } }, "scale");
    await object.edit("somebody", { metadata: { labels: { since: "then" } } });
    const { object: live, conflicts, isOurs } = await restore();
    expect({ conflicts, isOurs }).toEqual({ conflicts: [], isOurs: false });
    expect(live).toMatchObject({
      metadata: { labels: { by: "person", since: "then" } },
      spec: { replicas: 7, template: before["spec"] === undefined ? {} : (before["spec"] as Fields)["template"] },
    });
    const managers = owners(live).map(({ manager, operation, subresource }) =>
      [manager, operation, subresource].join(" ").trim(),
    );
    expect(managers.toSorted()).toEqual([
      "autoscaler Update scale",
      "gitops Apply",
      "person Update",
      "somebody Update",
    ]);
  });

  it("is a conflict where they took over a field of ours, and left as it is", async () => {
    const object = await target(manifest("v1", "ConfigMap", "taken"));
    await object.apply("gitops", { data: { a: "1", b: "1", c: "1" } });
    const { restore } = await object.change("Patch", { data: { a: "2", b: "2", d: "2" } });
    await object.edit("person", { data: { a: "3", d: null, e: "3" } });
    const { object: live, conflicts, isOurs } = await restore();
    expect({ conflicts, isOurs }).toEqual({ conflicts: [".data.a"], isOurs: false });
    expect(live["data"]).toEqual({ a: "3", b: "1", c: "1", e: "3" });
  });

  it("is a conflict where a GitOps tool has applied the same value: it is theirs now", async () => {
    const object = await target(manifest("v1", "ConfigMap", "shared"));
    await object.apply("gitops", { data: { a: "1", b: "1" } });
    const { restore } = await object.change("Patch", { data: { a: "2", b: "2" } });
    await object.apply("gitops", { data: { a: "2", b: "1" } }, true);
    const { object: live, conflicts, isOurs } = await restore();
    expect({ conflicts, isOurs }).toEqual({ conflicts: [".data.a"], isOurs: false });
    expect(live["data"]).toEqual({ a: "2", b: "1" });
  });

  it("stays in lists that are merged, whatever its characters", async () => {
    const object = await target(manifest(`${GROUP}/v1`, "Split", "merged"));
    await object.apply("gitops", { spec: { hosts: ["a"], ports: [{ port: 80 }] } });
    const { restore } = await object.change("Patch", { spec: { hosts: ["b"], ports: [{ port: 81 }] } });
    await object.apply("person", { spec: { hosts: ["<&>", "é\u2028"], ports: [{ port: 82, name: "<" }] } });
    const { object: live, conflicts, isOurs } = await restore();
    expect({ conflicts, isOurs }).toEqual({ conflicts: [], isOurs: false });
    expect(live["spec"]).toEqual({
      hosts: ["a", "<&>", "é\u2028"],
      ports: [
        { port: 80, protocol: "TCP" },
        { port: 82, protocol: "TCP", name: "<" },
      ],
    });
  });

  it("is a conflict in a map that is replaced as a whole: nothing of it is mixed", async () => {
    const object = await target(manifest("v1", "Service", "atomic"));
    await object.apply("gitops", { spec: { ports: [{ port: 80 }], selector: { app: "web", version: "v1" } } });
    const { restore } = await object.change("Patch", { spec: { selector: { app: "web", version: "v2" } } });
    const selector = { app: "web", version: "v2", canary: "yes" };
    await object.edit("person", { spec: { selector } });
    const { object: live, conflicts, isOurs } = await restore();
    expect({ conflicts, isOurs }).toEqual({ conflicts: [".spec.selector"], isOurs: false });
    expect(live).toMatchObject({ spec: { selector } });
  });
});

const podSpec = (image: string, more: Fields = {}): Fields => ({
  containers: [
    { name: "web", image },
    { name: "side", image },
  ],
  ...more,
});
/** Paused: no controller writes it. */
const paused = (image: string, podMore: Fields = {}, more: Fields = {}): Fields => ({
  spec: {
    ...more,
    paused: true,
    selector: { matchLabels: { app: "web" } },
    template: { metadata: { labels: { app: "web" } }, spec: podSpec(image, podMore) },
  },
});
const images = ({ spec }: Fields) => {
  const { template } = spec as { template: { spec: { containers: { name: string; image: string }[] } } };
  return template.spec.containers.map(({ name, image }) => [name, image]);
};

describe("what a GitOps tool has dropped since", () => {
  const full = paused("web:1", { terminationGracePeriodSeconds: 5 }, { replicas: 5 });
  const labels = { metadata: { labels: { ours: "1" } } };

  it.each<[string, "Patch" | "Update", Fields]>([
    ["a Patch of a label", "Patch", labels],
    ["a Patch of a field beside it", "Patch", { spec: { minReadySeconds: 3 } }],
    ["an Update that repeats it", "Update", { ...full, ...labels }],
  ])("keeps its default: %s", async (what, type, content) => {
    const object = await target(manifest("apps/v1", "Deployment", what.toLowerCase().replaceAll(" ", "-")));
    await object.apply("gitops", full);
    const { restore } = await object.change(type, content);
    await object.apply("gitops", paused("web:1"));
    const { object: live, conflicts, isOurs } = await restore();
    expect({ conflicts, isOurs }).toEqual({ conflicts: [], isOurs: false });
    expect(live).toMatchObject({ spec: { replicas: 1, template: { spec: { terminationGracePeriodSeconds: 30 } } } });
    expect(live["spec"]).not.toHaveProperty("minReadySeconds");
    expect(live.metadata.labels).toBeUndefined();
  });

  it("stays dropped, with what depended on it", async () => {
    const object = await target(manifest("v1", "Service", "dropped"));
    const spec = { ports: [{ port: 80 }], selector: { app: "web" } };
    await object.apply("gitops", { spec: { ...spec, type: "NodePort" } });
    const { restore } = await object.change("Patch", labels);
    await object.apply("gitops", { spec });
    const { object: live, conflicts, isOurs } = await restore();
    expect({ conflicts, isOurs }).toEqual({ conflicts: [], isOurs: false });
    expect(live).toMatchObject({ spec: { type: "ClusterIP", ports: [{ port: 80 }] } });
    expect(live.metadata.labels).toBeUndefined();
  });
});

const rolling = (maxSurge: number) => ({ strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge } } });

describe("what others have removed since", () => {
  it.each<[string, Fields, string[]]>([
    ["changed", paused("web:2"), ['.spec.template.spec.containers[name="side"].image']],
    ["only repeated", paused("web:1"), []],
  ])("stays removed with all of its defaults, where an Update has %s it", async (what, content, expected) => {
    const object = await target(manifest("apps/v1", "Deployment", `removed-${what.replace(" ", "-")}`));
    await object.apply("gitops", paused("web:1"));
    const { changed, restore } = await object.change("Update", { ...content, metadata: { labels: { ours: "1" } } });
    const [web] = (podSpec(images(changed)[0]?.[1] ?? "") as { containers: Fields[] }).containers;
    await object.edit("person", { spec: { template: { spec: { containers: [web] } } } });
    const { object: live, conflicts, isOurs } = await restore();
    expect({ conflicts, isOurs }).toEqual({ conflicts: expected, isOurs: false });
    expect(images(live)).toEqual([["web", "web:1"]]);
    expect(live.metadata.labels).toBeUndefined();
  });

  it("stays removed where it is a part of something else, as of another strategy", async () => {
    const object = await target(manifest("apps/v1", "Deployment", "strategy"));
    await object.apply("gitops", paused("web:1", {}, rolling(1)));
    const { restore } = await object.change("Update", paused("web:2", {}, rolling(2)));
    await object.edit("person", { spec: { strategy: { type: "Recreate", rollingUpdate: null } } });
    const { object: live, conflicts, isOurs } = await restore();
    expect({ conflicts, isOurs }).toEqual({ conflicts: [".spec.strategy.rollingUpdate.maxSurge"], isOurs: false });
    expect(live).toMatchObject({ spec: { strategy: { type: "Recreate" } } });
    expect(live["spec"]).not.toHaveProperty("strategy.rollingUpdate");
    expect(images(live)).toEqual([
      ["web", "web:1"],
      ["side", "web:1"],
    ]);
  });
});

const initContainers = (...list: readonly string[]): Fields =>
  paused("web:1", {
    initContainers: list.map((one) => {
      const [name = "", image = ""] = one.split("=");
      return { name, image };
    }),
  });
const inits = ({ spec }: Fields) => {
  const { template } = spec as { template: { spec: { initContainers: { name: string; image: string }[] } } };
  return template.spec.initContainers.map(({ name, image }) => `${name}=${image}`);
};

describe("the order of a list, such as that in which init containers run", () => {
  type Orders = Readonly<Record<"was" | "change" | "others" | "is", readonly string[]>>;
  it.each<readonly [what: string, type: "Patch" | "Update", orders: Orders]>([
    ["is as before", "Patch", { was: ["a=1", "b=1"], change: ["b=1", "a=2"], others: [], is: ["a=1", "b=1"] }],
    [
      "has what others have put first",
      "Patch",
      { was: ["a=1"], change: ["a=2"], others: ["theirs=1", "a=2"], is: ["theirs=1", "a=1"] },
    ],
    [
      "is that of others",
      "Patch",
      { was: ["a=1", "b=1"], change: ["a=2", "b=1"], others: ["b=1", "a=2"], is: ["b=1", "a=1"] },
    ],
    [
      "is that of others, with what was removed after what was before it",
      "Update",
      { was: ["a=1", "b=1", "c=1"], change: ["a=2", "c=2"], others: ["c=2", "a=2"], is: ["c=1", "a=1", "b=1"] },
    ],
  ])("%s after a rollback", async (what, type, { was, change, others, is }) => {
    const object = await target(manifest("apps/v1", "Deployment", what.replaceAll(/[ ,]+/g, "-")));
    await object.apply("gitops", initContainers(...was));
    const { restore } = await object.change(type, initContainers(...change));
    if (others.length > 0) await object.edit("person", initContainers(...others));
    const { object: live, conflicts, isOurs } = await restore();
    expect({ conflicts, isOurs, order: inits(live) }).toEqual({ conflicts: [], isOurs: false, order: is });
  });

  it("is that of others, and a conflict, where the change has set another one", async () => {
    const object = await target(manifest("apps/v1", "Deployment", "reordered-twice"));
    await object.apply("gitops", initContainers("a=1", "b=1", "c=1"));
    const { restore } = await object.change("Patch", initContainers("c=2", "b=1", "a=1"));
    await object.edit("person", initContainers("b=1", "c=2", "a=1"));
    const { object: live, conflicts } = await restore();
    expect({ conflicts, order: inits(live) }).toEqual({
      conflicts: [".spec.template.spec.initContainers"],
      order: ["b=1", "c=1", "a=1"],
    });
  });
});

const withVolume = (image: string, volume: Fields) => paused(image, { volumes: [{ name: "data", ...volume }] });
const withProbe = (image: string, livenessProbe: Fields): Fields =>
  paused(image, {
    containers: [
      { name: "web", image, livenessProbe },
      { name: "side", image },
    ],
  });

describe("what an Update has removed, and others have set again", () => {
  it.each<[string, Fields, Fields, string]>([
    [
      "volume",
      withVolume("web:1", { configMap: { name: "data" } }),
      withVolume("web:2", { emptyDir: {} }),
      '.spec.template.spec.volumes[name="data"]',
    ],
    [
      "probe",
      withProbe("web:1", { exec: { command: ["x"] }, periodSeconds: 5 }),
      withProbe("web:2", { httpGet: { port: 80 } }),
      '.spec.template.spec.containers[name="web"].livenessProbe',
    ],
  ])("is theirs as a whole, and all else is restored: a %s of another type", async (what, before, theirs, field) => {
    const object = await target(manifest("apps/v1", "Deployment", `again-${what}`));
    await object.apply("gitops", before);
    const { restore } = await object.change("Update", paused("web:2", {}, { replicas: 2 }));
    await object.edit("person", theirs);
    const { object: live, conflicts, isOurs } = await restore();
    expect({ conflicts, isOurs }).toEqual({ conflicts: [field], isOurs: false });
    expect(live).toMatchObject({ spec: { replicas: 1 } });
    expect(images(live)).toContainEqual(["web", "web:1"]);
    expect(JSON.stringify(live["spec"])).not.toMatch(/configMap|exec/);
  });
});
