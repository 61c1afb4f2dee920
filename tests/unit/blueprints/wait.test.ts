// Tests Wait and WaitV2: conditions together, objects that come and go, and the deadline.
import { type JsonObject, type KubeObject, isObject } from "@janus/types";
import { describe, expect, it } from "vitest";
import { pathsInTemplate, templateOfObject } from "../../../packages/blueprints/src/core/condition-languages.ts";
import { functionOf } from "../../../packages/blueprints/src/core/functions/index.ts";
import { waitIn } from "../../../packages/blueprints/src/core/functions/wait.ts";
import { problemOf } from "../../../packages/blueprints/src/core/templates.ts";
import type { Language } from "../../../packages/blueprints/src/core/wait-conditions.ts";
import { type Crash, execute, newWorld, START, withCrashes } from "./phase-world.ts";

/** A condition is the phase that the status of its object should have. */
const language: Language = {
  problem: (text) => (text === "broken" ? "it is broken" : undefined),
  evaluate: (text, { status }: KubeObject) => {
    const phase = isObject(status) ? status["phase"] : undefined;
    return { isMet: phase === text, shown: `phase is ${phase as string}` };
  },
};
const wait = waitIn("", () => language);

const condition = (name: string, text = "Ready", group = ""): JsonObject => ({
  condition: text,
  objectReference: {
    apiVersion: "v1",
    group,
    resource: group === "" ? "configmaps" : "things",
    name,
    namespace: "shop",
  },
});
const thing = (phase: string): JsonObject => ({ status: { phase } });

const step = (conditions: JsonObject, objects: Readonly<Record<string, JsonObject>>, now = START) =>
  execute(wait, { timeout: "1m", conditions }, newWorld(objects), { now }).step;

const of = (first: string, second: string) => ({
  "configmaps/shop/a": thing(first),
  "configmaps/shop/b": thing(second),
});

describe("conditions", () => {
  const [a, b] = [condition("a"), condition("b")];
  it.each([
    [{ anyOf: [a, b] }, of("No", "Ready"), "end"],
    [{ anyOf: [a, b] }, of("No", "No"), "wait"],
    [{ allOf: [a, b] }, of("Ready", "No"), "wait"],
    [{ allOf: [a, b] }, of("Ready", "Ready"), "end"],
    [{ anyOf: [a], allOf: [b] }, of("No", "Ready"), "end"],
    [{ anyOf: [a], allOf: [b] }, of("Ready", "No"), "end"],
    [{ anyOf: [a], allOf: [b] }, of("No", "No"), "wait"],
    [{ anyOf: [a] }, {}, "wait"],
  ])("%o of %o: %s", (conditions, objects, type) => expect(step(conditions, objects).type).toBe(type));

  it("watch each object once, until the deadline, and say how it is", () =>
    expect(step({ anyOf: [a, b, { ...a, condition: "Done" }] }, { "configmaps/shop/a": thing("No") })).toMatchObject({
      type: "wait",
      until: START + 60_000,
      because: "configmaps shop/a: phase is No; configmaps shop/b: it does not exist",
      watched: [{ ref: { name: "a" } }, { ref: { name: "b" }, resourceVersion: undefined }],
    }));

  it.each([
    [{}, "args.conditions needs anyOf or allOf"],
    [{ anyOf: "a" }, "args.conditions.anyOf must be a list"],
    [{ anyOf: [{}] }, "args.conditions.anyOf[0] needs a condition"],
    [
      { allOf: [{ condition: "x", objectReference: { name: "a" } }] },
      "args.conditions.allOf[0].objectReference needs apiVersion, resource",
    ],
  ])("%o are refused", (conditions, message) => expect(step(conditions, {})).toEqual({ type: "fail", message }));

  it("are parsed before anything runs", () =>
    expect(wait.problems?.({ conditions: { allOf: [a, condition("b", "broken")] } })).toEqual([
      "args.conditions.allOf[1].condition: it is broken",
    ]));
});

describe("a phase that waits", () => {
  const conditions = { anyOf: [condition("a")] };

  it("goes on when the object changes", () => {
    const world = newWorld({ "configmaps/shop/a": thing("No") });
    const waiting = execute(wait, { timeout: "1m", conditions }, world);
    world.objects.set("configmaps/shop/a", { apiVersion: "v1", kind: "ConfigMap", metadata: {}, ...thing("Ready") });
    expect(waiting.again(START + 1).step.type).toBe("end");
  });

  it("fails at the deadline with the last value, also after a crash", () => {
    withCrashes((crash?: Crash) => {
      const world = newWorld({ "configmaps/shop/a": thing("No") });
      const { step, count } = execute(wait, { timeout: "1m", conditions }, world, {
        now: START + 60_000,
        ...(crash && { crash }),
      });
      expect(step).toEqual({
        type: "fail",
        message: "the conditions were not met within 1m: configmaps shop/a: phase is No",
      });
      return { count };
    });
  });

  it("looks once more at the deadline", () => {
    const world = newWorld({ "configmaps/shop/a": thing("No") });
    const waiting = execute(wait, { timeout: "1m", conditions }, world);
    world.objects.set("configmaps/shop/a", { apiVersion: "v1", kind: "ConfigMap", metadata: {}, ...thing("Ready") });
    const late = waiting.again(START + 60_000, false);
    expect(late.step.type).toBe("end");
  });

  it("waits for a kind that is not served yet", () => {
    const world = newWorld({ "things/shop/a": thing("Ready") });
    let isServed = false;
    const answer: typeof world.answer = (request) =>
      world.answer(
        request.verb === "raw" && request.path !== "/apis" && !isServed
          ? { ...request, path: "/apis/none/v1" }
          : request,
      );
    const waiting = execute(
      wait,
      { timeout: "1m", conditions: { anyOf: [condition("a", "Ready", "example.com")] } },
      { ...world, answer },
    );
    expect(waiting.step).toMatchObject({
      type: "wait",
      until: START + 5000,
      because: "things shop/a: the API server does not serve things in /apis/example.com/v1",
    });
    isServed = true;
    expect(waiting.again(START + 5000).step.type).toBe("end");
  });

  it("fails where its object is in no namespace", () =>
    expect(
      step(
        { anyOf: [{ condition: "x", objectReference: { apiVersion: "v1", resource: "configmaps", name: "a" } }] },
        {},
      ),
    ).toEqual({ type: "fail", message: "configmaps a cannot be read: its objectReference needs a namespace" }));

  it("refuses a timeout that is none", () =>
    expect(execute(wait, { timeout: "soon", conditions }, newWorld()).step).toEqual({
      type: "fail",
      message: 'args.timeout is no duration such as 5m: "soon"',
    }));
});

const object = (rest: JsonObject = {}, kind = "Thing"): KubeObject => ({
  apiVersion: "v1",
  kind,
  metadata: { name: "a", labels: { "a.b/c": "x" } },
  status: { ready: true, n: 3, list: [{ type: "A", status: "yes" }, { type: "B" }], map: { a: 1 }, ...rest },
});

describe("paths in conditions of Wait", () => {
  const { problem, evaluate } = pathsInTemplate(0);
  it.each([
    ["{$.status.ready}", true, '{$.status.ready} is "true"'],
    ["{ $.status.n }", false, '{ $.status.n } is "3"'],
    ["{$.status.list[0].status}", false, '{$.status.list[0].status} is "yes"'],
    ["{$.status.list[*].type}", false, '{$.status.list[*].type} is "A B"'],
    ['{$.status.list[?(@.type=="B")].status}', false, '{$.status.list[?(@.type=="B")].status} is ""'],
    ["{$.metadata.labels['a.b/c']}", false, `{$.metadata.labels['a.b/c']} is "x"`],
    ["{$.status.map}", false, '{$.status.map} is "{"a":1}"'],
    ["{$.status.none}", false, "{$.status.none} is not there"],
  ])("%s", (text, isMet, shown) => expect(evaluate(text, object())).toEqual({ isMet, shown }));

  it("do not show what is in a Secret", () =>
    expect(evaluate("{$.status.x}", object({ x: "geheim" }, "Secret")).shown).toBe("{$.status.x} is ***"));

  it.each([
    ['{{ if eq "{ $.status.list[0].status }" "yes" }}true{{ else }}false{{ end }}', true],
    ["{{ if and { $.status.ready } (ge { $.status.n } 4) }}true{{ else }}false{{ end }}", false],
    ["{{ if { $.status.ready } }}\ttrue\n{{ end }}", true],
  ])("in the template %s", (text, isMet) => {
    expect(problem(text)).toBeUndefined();
    expect(evaluate(text, object()).isMet).toBe(isMet);
  });

  it("are parsed with the rest", () => {
    expect(problem('{{ if eq "{ $.status.n }" }')).toMatch(/^template, line 1: /u);
    expect(problem("{$.status.ready}")).toBeUndefined();
    expect(problem("{$.a[}")).toMatch(/^JSONPath \{\$\.a\[\}: /u);
  });
});

describe("conditions of WaitV2", () => {
  const { problem, evaluate } = templateOfObject(0);

  it.each([
    ["{{ if eq .status.ready true }}true{{ end }}", true, 'the condition is "true"'],
    ["{{ eq (len .status.list) 3 }}", false, 'the condition is "false"'],
    ["{{ .status.none }}", false, 'the condition is "<no value>"'],
    ['{{ range .status.list }}{{ if eq .type "A" }}true{{ end }}{{ end }}', true, 'the condition is "true"'],
  ])("%s", (text, isMet, shown) => {
    expect(problem(text)).toBeUndefined();
    expect(evaluate(text, object())).toEqual({ isMet, shown });
  });

  it.each([
    ['{{ exists . "status" "list" 1 "type" }}', true],
    ['{{ exists . "status" "list" 2 }}', false],
    ['{{ exists . "status" "none" "deeper" 1 }}', false],
    ['{{ exists .status.n "a" }}', false],
    ['{{ if not (exists .metadata.labels "absent") }}true{{ end }}', true],
    ['{{ base64decode "dHJ1ZQ==" }}', true],
  ])("have the functions that kubectl has: %s", (text, isMet) => {
    expect(problem(text)).toBeUndefined();
    expect(evaluate(text, object()).isMet).toBe(isMet);
    // Only they have.
    expect(problemOf(text)).toMatch(/function "(?:exists|base64decode)" not defined/u);
    expect(pathsInTemplate(0).problem(text)).toMatch(/not defined/u);
  });

  it("say what is no base64", () =>
    expect(evaluate('{{ base64decode "*" }}', object()).shown).toContain("base64 decode failed: illegal base64 data"));

  it("do not show what is in a Secret, nor errors about it", () => {
    const secret = object({ x: "geheim" }, "Secret");
    expect(evaluate("{{ .status.x }}", secret).shown).toBe("the condition is ***");
    expect(evaluate("{{ index .status.list .status.x }}", secret)).toEqual({
      isMet: false,
      shown: "the condition cannot be evaluated",
    });
  });

  it("are parsed before anything runs", () => expect(problem("{{ if }}")).toMatch(/^template, line 1: /u));
});

it.each(["Wait", "WaitV2"])("%s has conditions that are not rendered with the other args", (name) =>
  expect(functionOf(name)?.args["conditions"]?.verbatim).toBe("condition"),
);
