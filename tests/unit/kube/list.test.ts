import { type Api, type ApiError, eachPage, type KubeObject, listAll, type Request } from "@janus/kube";
import { configMaps } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";

const kind = { apiVersion: "v1", kind: "ConfigMap" };
const item = (name: string) => ({ metadata: { name } });
const page = (items: unknown, metadata: object): E.Either<ApiError, KubeObject> =>
  E.right({ apiVersion: "v1", kind: "ConfigMapList", metadata, items });
const gone: E.Either<ApiError, KubeObject> = E.left({
  type: "refused",
  code: 410,
  reason: "Expired",
  message: "too old",
  causes: [],
});

const objects = (count: number, bytes: number) =>
  Array.from({ length: count }, (_, n) => ({ ...item(`${n}`), data: { a: "x".repeat(bytes) } }));
const limits = (asked: readonly Request[]) => asked.map((request) => Reflect.get(request, "limit"));
const more = { resourceVersion: "7", continue: "more" };

const bench = (...answers: readonly E.Either<ApiError, KubeObject>[]) => {
  const asked: Request[] = [];
  const api: Api = {
    send: (request) => {
      asked.push(request);
      return Promise.resolve(
        answers[asked.length - 1] ?? E.left({ type: "unanswered", cause: "connection", message: "no more" }),
      );
    },
    watch: () => {
      throw new Error("nothing to watch");
    },
  };
  return { api, asked, list: () => listAll(api, { resource: configMaps, labelSelector: "a" }) };
};

describe("pages", () => {
  it("are shown one after the other, until one cannot be read", async () => {
    const { api } = bench(
      page([item("a")], { resourceVersion: "7", continue: "more" }),
      page([item("b")], { resourceVersion: "7", continue: "even more" }),
      gone,
    );
    const seen: (string | undefined)[][] = [];
    const end = await eachPage(api, { resource: configMaps }, (items) => {
      seen.push(items.map(({ metadata }) => metadata.name));
    });
    expect(seen).toEqual([["a"], ["b"]]);
    expect(end).toEqual(gone);
  });
});

describe("the pages of a list", () => {
  const tooLarge: E.Either<ApiError, KubeObject> = E.left({
    type: "unanswered",
    cause: "too-large",
    message: "the answer is larger than 4194304 bytes",
  });

  it("have many small objects, and few large ones", async () => {
    const { asked, list } = bench(
      page(objects(16, 10), more),
      page(objects(64, 10), more),
      page(objects(256, 100_000), more),
      page(objects(10, 2_000_000), more),
      page([], { resourceVersion: "7" }),
    );
    await list();
    expect(limits(asked)).toEqual([16, 64, 256, 10, 1]);
  });

  it("are requested again with fewer objects if they are too large, and without a gap", async () => {
    const { asked, list } = bench(
      page(objects(16, 10), more),
      tooLarge,
      tooLarge,
      tooLarge,
      page([item("b")], { resourceVersion: "7" }),
    );
    expect(E.isRight(await list())).toBe(true);
    expect(limits(asked)).toEqual([16, 64, 16, 4, 1]);
    expect(asked.slice(1)).toEqual(asked.slice(1).map(() => expect.objectContaining({ continue: "more" })));
  });

  it("end where a single object is too large", async () => {
    expect(await bench(...Array.from({ length: 9 }, () => tooLarge)).list()).toEqual(tooLarge);
  });
});

describe("a list of everything", () => {
  it("goes from page to page, and says of every item what it is", async () => {
    const { asked, list } = bench(
      page([item("a")], { resourceVersion: "7", continue: "more" }),
      page([item("b")], { resourceVersion: "7" }),
    );
    expect(await list()).toEqual(
      E.right({
        items: [
          { ...kind, ...item("a") },
          { ...kind, ...item("b") },
        ],
        resourceVersion: "7",
      }),
    );
    const request = { verb: "list", resource: configMaps, labelSelector: "a" };
    expect(asked).toEqual([request, { ...request, continue: "more" }].map((one) => expect.objectContaining(one)));
  });

  it("starts over once when the server forgets it half way", async () => {
    const half = page([item("a")], { resourceVersion: "7", continue: "more" });
    const { list } = bench(half, gone, page([item("b")], { resourceVersion: "9" }));
    expect(await list()).toMatchObject(E.right({ items: [item("b")], resourceVersion: "9" }));
    expect(await bench(half, gone, gone).list()).toEqual(gone);
  });

  it("is empty where the server says so, also as null", async () => {
    expect(await bench(page([], { resourceVersion: "7" })).list()).toEqual(
      E.right({ items: [], resourceVersion: "7" }),
    );
    expect(await bench(page(null, { resourceVersion: "7" })).list()).toEqual(
      E.right({ items: [], resourceVersion: "7" }),
    );
  });

  it("has no resourceVersion where the server gives none", async () => {
    expect(await bench(page([item("a")], {})).list()).toMatchObject(
      E.right({ items: [item("a")], resourceVersion: "" }),
    );
  });

  it.each([
    ["without items", page(undefined, { resourceVersion: "7" })],
    ["with items that are none", page({}, { resourceVersion: "7" })],
  ])("is not empty because the answer is no list: %s", async (_, answer) => {
    expect(await bench(answer).list()).toMatchObject(E.left({ type: "unanswered", cause: "malformed" }));
  });
});
