// Tests that the key of the digests is made once, and is never replaced.
import type { Api, ApiError, KubeObject, Request } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { digestKey } from "../../../packages/git-journal/src/shell/digest-key.ts";

const refused = (code: number, reason: string, more: Partial<ApiError> = {}): E.Either<ApiError, KubeObject> =>
  E.left({ type: "refused", code, reason, message: `${reason}!`, causes: [], ...more } as ApiError);
const notFound = refused(404, "NotFound", { notFound: "object" });
const stored = (data: object): E.Either<ApiError, KubeObject> =>
  E.right({ apiVersion: "v1", kind: "Secret", metadata: { name: "janus-git-journal-digest" }, data });
const key = Buffer.alloc(32, 5);

/** An API server with these answers, and what it was asked. */
const answering = (...answers: readonly E.Either<ApiError, KubeObject>[]) => {
  const requests: Request[] = [];
  const api: Api = {
    send: async (request) => {
      requests.push(request);
      const answer = answers[requests.length - 1];
      if (answer === undefined) throw new Error("asked too often");
      return request.verb === "create" && E.isRight(answer) ? E.right(request.body as KubeObject) : answer;
    },
    watch: () => {
      throw new Error("no watch");
    },
  };
  return { api, verbs: () => requests.map(({ verb }) => verb), requests };
};

describe("the key of the digests", () => {
  it("is that of the Secret", async () => {
    const server = answering(stored({ key: key.toString("base64") }));
    expect(await digestKey(server.api, "janus")).toEqual(E.right(key));
    expect(server.requests).toMatchObject([{ verb: "get", namespace: "janus", name: "janus-git-journal-digest" }]);
  });

  it("is made where there is none, of 32 bytes, and cannot be edited", async () => {
    const server = answering(notFound, stored({}));
    const made = await digestKey(server.api, "janus");
    expect(server.verbs()).toEqual(["get", "create"]);
    expect(server.requests[1]).toMatchObject({ body: { immutable: true, metadata: { namespace: "janus" } } });
    expect(E.isRight(made) && made.right.length).toBe(32);
    expect(made).not.toEqual(await digestKey(answering(notFound, stored({})).api, "janus"));
  });

  it("is the one that another process has made meanwhile", async () => {
    const server = answering(notFound, refused(409, "AlreadyExists"), stored({ key: key.toString("base64") }));
    expect(await digestKey(server.api, "janus")).toEqual(E.right(key));
    expect(server.verbs()).toEqual(["get", "create", "get"]);
  });

  it.each([{}, { key: "" }, { key: "c2hvcnQ=" }, { key: 5 }])("that is not one is not replaced: %j", async (data) => {
    const server = answering(stored(data));
    expect(await digestKey(server.api, "janus")).toEqual(
      E.left(
        "Secret janus/janus-git-journal-digest has no key of 32 bytes: delete it, and all Secrets are written anew",
      ),
    );
    expect(server.verbs()).toEqual(["get"]);
  });

  it.each([
    ["read", [refused(403, "Forbidden")]],
    ["made", [notFound, refused(404, "NotFound", { notFound: "other" })]],
  ])("that cannot be %s is none", async (_, answers) => {
    expect(await digestKey(answering(...answers).api, "janus")).toEqual(
      E.left(expect.stringMatching(/^Secret janus\/janus-git-journal-digest cannot be read or made: \w+!$/u)),
    );
  });

  it.each([
    ["read", "get"],
    ["made", "create"],
  ])("whose request to be %s got no answer is the one that is there afterwards", async (_, verb) => {
    let there: KubeObject | undefined;
    let isLost = true;
    const api: Api = {
      ...answering().api,
      send: async (request) => {
        if (request.verb === "create") there ??= request.body as KubeObject;
        if (request.verb === verb && isLost) {
          isLost = false;
          return E.left({ type: "unanswered", cause: "connection", message: "the connection was reset" });
        }
        return there === undefined ? notFound : E.right(there);
      },
    };
    expect(await digestKey(api, "janus")).toEqual(
      E.left("Secret janus/janus-git-journal-digest cannot be read or made: the connection was reset"),
    );
    const key = await digestKey(api, "janus");
    expect(E.isRight(key)).toBe(true);
    expect(await digestKey(api, "janus")).toEqual(key);
    expect(there?.["data"]).toEqual({ key: E.isRight(key) && Buffer.from(key.right).toString("base64") });
  });
});
