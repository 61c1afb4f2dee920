// Tests KubeOps: what it makes, deletes and patches, once, whatever is lost of it.
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { kubeOps } from "../../../packages/blueprints/src/core/functions/kube-ops.ts";
import { plain } from "../../../packages/blueprints/src/core/text.ts";
import { type Crash, execute, newWorld, START, type World, withCrashes } from "./phase-world.ts";

const yaml = (name: string): string => `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\ndata: {a: "1"}\n`;
const reference = (name: string, namespace = "shop") => ({
  apiVersion: "v1",
  group: "",
  resource: "configmaps",
  kind: "ConfigMap",
  name,
  namespace,
});

const create = (spec: string) => ({ operation: "create", spec: plain(spec), namespace: "shop" });

const tainted = (before: string, after = "") => ({
  operation: "create",
  spec: {
    pieces: [
      { text: before, isTainted: false },
      { text: "geheim", isTainted: true },
      { text: after, isTainted: false },
    ],
  },
  namespace: "shop",
});

describe("create", () => {
  it("makes each object once, and tells of the last, whatever is lost", () => {
    withCrashes((crash) => {
      const world = newWorld();
      const { step, count } = execute(kubeOps, create(`${yaml("a")}---\n${yaml("b")}`), world, crash && { crash });
      expect(step).toEqual({ type: "end", output: reference("b") });
      expect(world.writes).toEqual(["create configmaps/shop/a", "create configmaps/shop/b"]);
      return { count };
    });
  });

  it("marks what it makes, and keeps its annotations", () => {
    const world = newWorld();
    execute(kubeOps, create("apiVersion: v1\nkind: Secret\nmetadata: {name: a, annotations: {x: z}}\n"), world);
    expect(world.objects.get("secrets/shop/a")?.metadata).toMatchObject({
      annotations: { x: "z", "janus.io/actionset": "u/0/phase/1" },
    });
  });

  it("generates the same name after a crash", () => {
    const spec =
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: a-}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: a-}\n";
    const names = new Set<string>();
    withCrashes((crash) => {
      const world = newWorld();
      const { count } = execute(kubeOps, create(spec), world, crash && { crash });
      expect(world.objects.size).toBe(2);
      for (const name of world.objects.keys()) names.add(name);
      return { count };
    });
    expect(names.size).toBe(2);
    for (const name of names) expect(name).toMatch(/^configmaps\/shop\/a-[a-z2-7]{10}$/u);
  });

  it("takes what an earlier attempt has made", () => {
    const world = newWorld();
    execute(kubeOps, create(yaml("a")), world);
    expect(execute(kubeOps, create(yaml("a")), world, { attempt: 2 }).step.type).toBe("end");
    expect(world.writes).toHaveLength(1);
  });

  it("does not take what a phase has made whose name begins as this one's with its attempt", () => {
    const annotations = { "janus.io/actionset": "u/0/phase/1/1" };
    const world = newWorld({ "configmaps/shop/a": { metadata: { annotations } } });
    expect(execute(kubeOps, create(yaml("a")), world).step.type).toBe("fail");
  });

  it("fails where another client's object is, and leaves that as it is", () => {
    const world = newWorld({ "configmaps/shop/a": { data: { theirs: "1" } } });
    expect(execute(kubeOps, create(yaml("a")), world).step).toEqual({
      type: "fail",
      message: "ConfigMap shop/a exists and is not of this ActionSet: delete it, or choose another name",
    });
    expect(world.writes).toEqual([]);
  });

  it("fails where there is no namespace for a minute", () =>
    expect(
      execute(kubeOps, { ...create(yaml("a")), namespace: "none" }, newWorld(), { now: START + 60_000 }).step,
    ).toEqual({ type: "fail", message: 'ConfigMap none/a cannot be created: namespaces "none" not found' }));

  it.each([
    [
      "the namespace of the object before that of the args",
      yaml("a").replace("name: a", "name: a\n  namespace: other"),
      "configmaps/other/a",
    ],
    [
      "no namespace for a cluster-scoped object",
      "apiVersion: v1\nkind: Namespace\nmetadata: {name: x, namespace: y}\n",
      "namespaces//x",
    ],
    [
      "the items of a List",
      "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: a}\n",
      "configmaps/shop/a",
    ],
  ])("takes %s", (_, spec, key) => {
    const world = newWorld();
    expect(execute(kubeOps, create(spec), world).step.type).toBe("end");
    expect([...world.objects.keys()]).toEqual([key]);
  });

  it.each([
    ["kind: ConfigMap\nmetadata: {name: a}\n", "args.spec needs apiVersion, kind, and a name or generateName"],
    ["a: [", /^args.spec is not YAML: line \d/],
    ["- a\n", "args.spec must be objects"],
    ["---\n", "args.spec is empty"],
    [
      "apiVersion: none.example.com/v1\nkind: Thing\nmetadata: {name: a}\n",
      "args.spec: the API server does not serve Thing in /apis/none.example.com/v1",
    ],
    ["apiVersion: v1\nkind: Thing\nmetadata: {name: a}\n", "args.spec: the API server does not serve Thing in /api/v1"],
  ])("refuses %o", (spec, message) => {
    expect(execute(kubeOps, create(spec), newWorld()).step).toEqual({
      type: "fail",
      message: expect.stringMatching(message) as string,
    });
  });

  it("lets the data of Secrets depend on Secrets, and nothing else", () => {
    const secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData:\n  k: ";
    const world = newWorld();
    expect(execute(kubeOps, tainted(secret, "\n"), world).step.type).toBe("end");
    expect(world.objects.get("secrets/shop/a")).toMatchObject({ stringData: { k: "geheim" } });
    const refusal = { type: "fail", message: "args.spec must not depend on a Secret, but for the data of Secrets" };
    expect(
      [
        tainted("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  k: "),
        tainted("apiVersion: v1\nkind: Secret\nmetadata:\n  name: "),
        tainted(`${secret}x\n---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: `),
        tainted("apiVersion: v1\nmetadata: {name: a}\nstringData: {a: b}\nkind: "),
      ].map((args) => execute(kubeOps, args, newWorld()).step),
    ).toEqual([refusal, refusal, refusal, refusal]);
  });
});

describe("delete", () => {
  it("asks again where a conflict says nothing, and not for ever", () => {
    const conflict = { type: "refused", code: 409, reason: "Conflict", message: "conflict", causes: [] } as const;
    const after = (conflicts: number) => {
      const world = newWorld({ "configmaps/shop/a": {} });
      let left = conflicts;
      const answer: World["answer"] = (request) => {
        if (request.verb !== "delete" || left === 0) return world.answer(request);
        left -= 1;
        return E.left(conflict);
      };
      const args = { operation: "delete", objectReference: reference("a") };
      return { ...execute(kubeOps, args, { ...world, answer }).step, writes: world.writes };
    };
    expect(after(2)).toMatchObject({ type: "end", writes: ["delete configmaps/shop/a"] });
    expect(after(3)).toEqual({
      type: "fail",
      message: "ConfigMap shop/a cannot be deleted: conflict",
      writes: [],
    });
  });

  const args = {
    operation: "delete",
    objectReference: { apiVersion: "v1", resource: "configmaps", name: "a", namespace: "shop" },
  };

  it("deletes the object that is there, once, whatever is lost", () => {
    withCrashes((crash?: Crash) => {
      const world = newWorld({ "configmaps/shop/a": {} });
      const { step, count } = execute(kubeOps, args, world, crash && { crash });
      expect(step).toEqual({ type: "end", output: reference("a") });
      expect(world.writes).toEqual(["delete configmaps/shop/a"]);
      return { count };
    });
  });

  it("fails where there is none", () => {
    expect(execute(kubeOps, args, newWorld()).step).toEqual({ type: "fail", message: "ConfigMap shop/a not found" });
  });

  it("does not delete what is made of its name afterwards", () => {
    withCrashes((crash?: Crash) => {
      const world = newWorld({ "configmaps/shop/a": { metadata: { uid: "first" } } });
      const answer: typeof world.answer = (request) => {
        const answered = world.answer(request);
        if (request.verb === "delete" && !world.objects.has("configmaps/shop/a"))
          world.objects.set("configmaps/shop/a", {
            apiVersion: "v1",
            kind: "ConfigMap",
            metadata: { name: "a", namespace: "shop", uid: "second" },
          });
        return answered;
      };
      const { step, count } = execute(kubeOps, args, { ...world, answer }, crash && { crash });
      expect(step.type).toBe("end");
      expect(world.objects.get("configmaps/shop/a")?.metadata.uid).toBe("second");
      return { count };
    });
  });

  it("waits until it is gone, and says for whom", () => {
    const world = newWorld({ "configmaps/shop/a": { metadata: { finalizers: ["example.com/x"] } } });
    const waiting = execute(kubeOps, args, world);
    expect(waiting.step).toMatchObject({
      type: "wait",
      because: "ConfigMap shop/a is being deleted: it waits for example.com/x",
      watched: [{ ref: { name: "a" } }],
    });
    world.objects.clear();
    expect(waiting.again(START).step.type).toBe("end");
  });

  it("needs a complete reference", () => {
    const incomplete = { operation: "delete", objectReference: { name: "a" } };
    expect(execute(kubeOps, incomplete, newWorld()).step).toEqual({
      type: "fail",
      message: "args.objectReference needs apiVersion, resource for operation delete",
    });
  });
});

const patch = (resource: string, group = "", spec = "data: {b: '2'}") => ({
  operation: "patch",
  spec: plain(spec),
  objectReference: { apiVersion: "v1", group, resource, name: "a", namespace: "shop" },
});

describe("patch", () => {
  it("patches again after a crash, with the same result", () => {
    withCrashes((crash?: Crash) => {
      const world = newWorld({ "configmaps/shop/a": { data: { a: "1" } } });
      const { step, count } = execute(kubeOps, patch("configmaps"), world, crash && { crash });
      expect(step).toEqual({ type: "end", output: reference("a") });
      expect(world.objects.get("configmaps/shop/a")?.["data"]).toEqual({ a: "1", b: "2" });
      return { count };
    });
  });

  it("merges lists by their keys where the kind has some, else it replaces them", () => {
    const world = newWorld({ "configmaps/shop/a": {}, "things/shop/a": {} });
    execute(kubeOps, patch("configmaps"), world);
    execute(kubeOps, patch("things", "example.com"), world);
    expect(world.writes).toEqual(["strategicMergePatch configmaps/shop/a", "mergePatch things/shop/a"]);
  });

  it.each([
    [patch("configmaps"), "ConfigMap shop/a cannot be patched: configmaps/shop/a not found"],
    [patch("configmaps", "", "a: 1\n---\nb: 2\n"), "args.spec must be one YAML document"],
    [{ ...patch("configmaps"), operation: "replace" }, 'args.operation must be create, delete or patch, not "replace"'],
  ])("fails: %o", (args, message) =>
    expect(execute(kubeOps, args, newWorld()).step).toEqual({ type: "fail", message }),
  );
});
