// The words of containers as the test node runs them.
import { describe, expect, it } from "vitest";
import { expand } from "../../fixtures/node/environment.ts";
import { mountedIn } from "../../fixtures/node/volumes.ts";

// As in k8s.io/kubernetes/third_party/forked/golang/expansion
it.each([
  ["$(A)", "1"],
  ["x$(A)$(B)y", "x12y"],
  ["$$(A)", "$(A)"],
  ["$$$(A)", "$1"],
  ["$(UNKNOWN)", "$(UNKNOWN)"],
  ["$(toString)", "$(toString)"],
  ["$A ${A} $", "$A ${A} $"],
  ["$(A", "$(A"],
  ["$(EMPTY).", "."],
])("expands %s to %s", (text, expected) => {
  expect(expand(text, { A: "1", B: "2", EMPTY: "" })).toBe(expected);
});

describe("a mount path", () => {
  const volumeMounts = [
    { name: "data", mountPath: "/data" },
    { name: "inner", mountPath: "/data/in.ner/", subPath: "sub" },
  ];
  const mounted = mountedIn(
    { name: "c", image: "i", volumeMounts },
    new Map([
      ["data", "/v/data"],
      ["inner", "/v/inner"],
    ]),
  );

  it.each([
    ["/data", "/v/data"],
    ["--to=/data/x", "--to=/v/data/x"],
    ["cat /data/a '/data/b'>/data/in.ner/c", "cat /v/data/a '/v/data/b'>/v/inner/sub/c"],
    ["/database /a/data ./data data/data /data-2", "/database /a/data ./data data/data /data-2"],
    ["/data/inXner", "/v/data/inXner"],
  ])("in %j is replaced: %j", (text, expected) => {
    expect(mounted(text)).toBe(expected);
  });
});
