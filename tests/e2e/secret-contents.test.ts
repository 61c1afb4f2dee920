import { describe, expect, it } from "vitest";
import { administrator } from "../fixtures/administrator.ts";
import { applying, creating, patching, replacing, updating } from "../fixtures/changes.ts";
import { contentsMap, contentsSecret, from } from "../fixtures/contents.ts";
import { configMap, secret } from "../fixtures/manifests.ts";
import { type Workspace, workspace } from "../fixtures/workspace.ts";

const HIDDEN = "hunter2";

const everything = async (place: Workspace, log: readonly string[]): Promise<string> => {
  const events = await administrator.list({ apiVersion: "v1", kind: "Event" }, place.namespace);
  const maps = await administrator.list({ apiVersion: "v1", kind: "ConfigMap" }, place.namespace);
  return [
    JSON.stringify(await place.txn()),
    JSON.stringify(events),
    JSON.stringify(maps.filter(({ metadata }) => !["made", "old"].includes(metadata.name ?? ""))),
    ...log,
  ].join("\n");
};
const around = (text: string): string => {
  const at = text.indexOf(HIDDEN);
  return at === -1 ? "" : text.slice(Math.max(0, at - 300), at + 200);
};

describe("values in a Secret of contents", () => {
  it.each<readonly [string, ReturnType<typeof creating>, unknown]>([
    ["a label", creating(configMap("made")), { metadata: { labels: { a: `${HIDDEN} !` } } }],
    ["a number", creating(configMap("made")), { data: { a: { b: HIDDEN } } }],
    ["apply", applying(configMap("made")), { data: { a: [HIDDEN] } }],
    ["patch", patching(configMap("old")), { data: { a: [HIDDEN] } }],
    ["patch, of what only the API server checks", patching(configMap("old")), { immutable: [HIDDEN] }],
    ["create, of what only the API server checks", creating(configMap("made")), { immutable: { a: HIDDEN } }],
    ["update", updating(configMap("old")), { data: { a: [HIDDEN] } }],
    ["replace", replacing(configMap("old")), { metadata: { labels: { a: `${HIDDEN} !` } } }],
    ["a Secret's label", creating(secret("made")), { metadata: { labels: { a: `${HIDDEN} !` } } }],
    ["a Secret's data", creating(secret("made")), { data: { a: `${HIDDEN} !` } }],
    ["a Secret's data, apply", applying(secret("made")), { data: { a: [HIDDEN] } }],
    ["a Secret's data, all", applying(secret("made")), { data: HIDDEN }],
    ["a Secret's field", applying(secret("made")), { [HIDDEN]: 1 }],
    ["a Secret's namespace", applying(secret("made")), { metadata: { namespace: HIDDEN } }],
    ["a Secret's label type", applying(secret("made")), { metadata: { labels: { a: [HIDDEN] } } }],
    [
      "a Secret's duplicates",
      applying(secret("made")),
      `{"data":{"a":"${HIDDEN}","a":"${HIDDEN}"},"data":"${HIDDEN}"}`,
    ],
    ["a Secret's proto", applying(secret("made")), `{"__proto__":"${HIDDEN}","stringData":{"__proto__":"${HIDDEN}"}}`],
    ["a Secret's metadata", applying(secret("made")), { metadata: HIDDEN }],
    [
      "a Secret's owners",
      creating(secret("made")),
      { metadata: { ownerReferences: [{ apiVersion: "v1", kind: HIDDEN, name: HIDDEN, uid: HIDDEN }] } },
    ],
    ["a Secret's immutable", creating(secret("made")), { immutable: HIDDEN }],
    ["a Secret's type", updating(secret("olds")), { type: HIDDEN }],
    ["a Secret's null", creating(secret("made")), { stringData: { a: [null, HIDDEN] } }],
  ])("are not shown: %s", async (_, change, content) => {
    const place = await workspace();
    await place.create(contentsSecret("contents", { one: content }), configMap("old", { a: "1" }), secret("olds"));
    const { log } = await place.janus();
    await place.run([from(change, { kind: "Secret", metadata: { name: "contents" } }, "one")]);
    expect(around(await everything(place, log))).toBe("");
  });

  it("are not shown where a gate is not met", async () => {
    const place = await workspace();
    const contents = contentsSecret("contents", { one: { data: { a: HIDDEN } } });
    await place.create(contents);
    const { log } = await place.janus();
    const { status } = await place.run([
      {
        ...from(creating(configMap("made")), contents, "one"),
        waitFor: ["jsonpath={.data.a}=x", "cel=self.data.a == 'x'"],
        waitTimeout: "1s",
      },
    ]);
    expect(status.phase).toBe("RolledBack");
    expect(around(await everything(place, log))).toBe("");
  });

  it("are not shown in the render of a Draft", async () => {
    const place = await workspace();
    await place.create(
      contentsSecret("contents", { one: { data: { a: HIDDEN } }, two: { stringData: { a: HIDDEN } } }),
    );
    const { log } = await place.janus();
    await place.submit(
      [
        from(creating(configMap("made")), contentsSecret("contents", {}), "one"),
        from(creating(secret("made")), contentsSecret("contents", {}), "two"),
      ],
      { lifecycle: "Draft" },
    );
    const digest = async () =>
      ((await place.txn()).status as { render?: { digest?: string } } | undefined)?.render?.digest;
    await expect.poll(digest).toMatch(/^sha256:/u);
    expect(around(await everything(place, log))).toBe("");
  });
});

it("contents: __proto__, constructor, duplicates, large integers arrive as they are", async () => {
  const place = await workspace();
  await place.create(
    contentsMap("contents", {
      one: '{"data":{"__proto__":"a","constructor":"b","toString":"c","hasOwnProperty":"d"}}',
      two: '{"data":{"a":"1","a":"2"}}',
      three: '{"data":{"a":[1e999,"\\"x\\""],"b":"1234567890123456789"}}',
      four: '{"data":{"b":[1e999,"5"]}, "x": 12345678901234567890}',
    }),
  );
  await place.janus();
  const source = contentsMap("contents", {});
  for (const key of ["one", "two", "three", "four"]) {
    await place.run([from(creating(configMap(`made-${key}`)), source, key)], { name: key });
  }
  expect((await place.read(configMap("made-one")))["data"]).toEqual(
    JSON.parse('{"__proto__":"a","constructor":"b","toString":"c","hasOwnProperty":"d"}'),
  );
});
