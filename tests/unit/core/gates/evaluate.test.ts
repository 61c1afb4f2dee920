import type { KubeObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { evaluate, firstUnmet } from "../../../../packages/controller/src/core/gates/evaluate.ts";
import { formatGate, type Gate, parseGate } from "../../../../packages/controller/src/core/gates/gate.ts";
import { failed, type GateState, met, notYet } from "../../../../packages/controller/src/core/gates/gate-state.ts";
import { arbitraryJson, arbitraryObject } from "../arbitrary-json.ts";
import { arbitraryGate } from "./arbitrary-gate.ts";

const gate = (text: string): Gate => {
  const read = parseGate(text);
  if (E.isLeft(read)) throw new Error(`${text}: ${read.left.message} at ${read.left.position}`);
  return read.right;
};

const thing: KubeObject = {
  apiVersion: "example.com/v1",
  kind: "Thing",
  metadata: { name: "web", generation: 2 },
  spec: { replicas: 3, size: 0.5, huge: 1e300 },
  status: {
    phase: "Starting",
    empty: null,
    ports: [
      { name: "http", port: 80 },
      { name: "https", port: 443 },
    ],
    conditions: [
      { type: "Synced", status: "True" },
      { type: "Available", status: "False", reason: "NoPods", message: "none is there" },
      { type: "Old", status: "True", observedGeneration: 1 },
      { type: "Broken" },
    ],
  },
};
const withStatus = (status: object, of: Partial<KubeObject> = {}): KubeObject => ({ ...thing, ...of, status });

describe("an object that does not exist", () => {
  it.each(["ready", "create", "condition=Ready", "jsonpath={.a}", "cel=self.a == 1"])("is waited for: %s", (text) => {
    expect(evaluate(gate(text), undefined)).toEqual(notYet("does not exist"));
  });

  it("is deleted", () => {
    expect(evaluate(gate("delete"), undefined)).toEqual(met);
  });
});

describe("an object that exists", () => {
  const cases: readonly (readonly [string, GateState])[] = [
    ["create", met],
    ["ready", met],
    ["delete", notYet("still exists")],
    ["condition=Synced", met],
    ["condition=synced=TRUE", met],
    ["condition=Available=False", met],
    ["condition=Available", notYet("condition Available is False: NoPods: none is there")],
    ["condition=Synced=Unknown", notYet("condition Synced is True")],
    ["condition=Ready", notYet("condition Ready is not reported yet")],
    ["condition=Broken", notYet("condition Broken is not reported yet")],
    ["condition=Old", notYet("condition Old is not of the latest generation yet")],
    ["jsonpath={.status.phase}", met],
    ["jsonpath={.status.empty}", met],
    ["jsonpath={.status.phase}=Starting", met],
    ["jsonpath={.status.phase}= Starting ", met],
    ["jsonpath={.spec.replicas}=3", met],
    ["jsonpath={.spec.size}=0.5", met],
    ['jsonpath={.status.ports[?(@.name=="https")].port}=443', met],
    ["jsonpath={.status.ports[-1].port}=443", met],
    ["jsonpath={.status.phase}=Running", notYet('{.status.phase} is "Starting", not "Running"')],
    ["jsonpath={.status.missing}", notYet("{.status.missing} has no value yet")],
    ["jsonpath={.status.ports[7].port}", notYet("{.status.ports[7].port} has no value yet")],
    ["jsonpath={.status.ports[*].port}=80", notYet("{.status.ports[*].port} has 2 values, and must have one")],
    ["jsonpath={.status.ports}=80", notYet("{.status.ports} is a list, and must be one value")],
    ["jsonpath={.spec}=80", notYet("{.spec} is an object, and must be one value")],
    ["cel=self.spec.replicas == 3", met],
    ["cel=self.spec.replicas == 4", notYet("not true yet: self.spec.replicas == 4: self.spec.replicas is 3")],
    [
      "cel=self.status.phase == 'Running' && self.spec.replicas > 3 || self.status.phase == ''",
      notYet(
        "not true yet: self.status.phase == 'Running' && self.spec.replicas > 3 || self.status.phase == '': self.status.phase is \"Starting\", self.spec.replicas is 3",
      ),
    ],
    [
      "cel=self.status['phase'] == self.status.ports[0].name",
      notYet(
        'not true yet: self.status[\'phase\'] == self.status.ports[0].name: self.status.phase is "Starting", self.status.ports[0].name is "http"',
      ),
    ],
    [
      "cel=self.status.ports.exists(p, p.port == self.spec.replicas)",
      notYet(
        "not true yet: self.status.ports.exists(p, p.port == self.spec.replicas): self.status.ports has 2 items, self.spec.replicas is 3",
      ),
    ],
    [
      "cel=has(self.status.missing)",
      notYet("not true yet: has(self.status.missing): self.status.missing has no value"),
    ],
    [
      "cel=self.status.ports.exists(self, self.port == 1)",
      notYet("not true yet: self.status.ports.exists(self, self.port == 1)"),
    ],
    ["cel=self.status.x == 4", notYet("not true yet: self.status.x == 4: field not found: x")],
  ];
  it.each(cases)("%s", (text, state) => {
    expect(evaluate(gate(text), thing)).toEqual(state);
  });

  it("and is being deleted is waited for until it is gone, and its finalizers are named", () => {
    const metadata = { ...thing.metadata, deletionTimestamp: "2026-01-01T12:00:00Z" };
    expect(evaluate(gate("delete"), { ...thing, metadata })).toEqual(notYet("is being deleted"));
    expect(evaluate(gate("delete"), { ...thing, metadata: { ...metadata, finalizers: ["a/b", "c/d"] } })).toEqual(
      notYet("is being deleted: held by a/b, c/d"),
    );
  });
});

const isReady = (status: object) => evaluate(gate("condition=Ready"), withStatus(status)).type;

describe("a condition", () => {
  it("counts only when it is of the latest generation, as its own or else the status's observedGeneration tells", () => {
    const ready = { type: "Ready", status: "True" };
    expect(isReady({ conditions: [ready] })).toBe("met");
    expect(isReady({ conditions: [ready], observedGeneration: 2 })).toBe("met");
    expect(isReady({ conditions: [ready], observedGeneration: 1 })).toBe("waiting");
    expect(isReady({ conditions: [{ ...ready, observedGeneration: 2 }], observedGeneration: 1 })).toBe("met");
    expect(isReady({ conditions: [{ ...ready, observedGeneration: 1 }], observedGeneration: 2 })).toBe("waiting");
  });

  it("that the object can no longer have fails at once: a failed Job is never Complete", () => {
    const conditions = [{ type: "Failed", status: "True", reason: "BackoffLimitExceeded" }];
    const job = withStatus({ conditions }, { apiVersion: "batch/v1", kind: "Job" });
    expect(evaluate(gate("condition=Complete"), job)).toEqual(failed("failed: BackoffLimitExceeded"));
    expect(evaluate(gate("condition=Failed"), job)).toEqual(met);
    // What else it may have, nobody knows.
    expect(evaluate(gate("jsonpath={.status.x}"), job)).toMatchObject({ type: "waiting" });
    expect(evaluate(gate("cel=self.status.x == 1"), job)).toMatchObject({ type: "waiting" });
  });

  it("of what fails by a rule that is of an older generation is waited for", () => {
    const conditions = [{ type: "Stalled", status: "True" }];
    expect(evaluate(gate("condition=Ready"), withStatus({ observedGeneration: 1, conditions })).type).toBe("waiting");
    expect(evaluate(gate("condition=Ready"), withStatus({ observedGeneration: 2, conditions })).type).toBe("failed");
  });
});

describe("a message", () => {
  it("quotes nothing of what it has to conceal", () => {
    const secret: KubeObject = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "key" },
      data: { key: "c2VjcmV0" },
      status: { conditions: [{ type: "Ready", status: "False", reason: "Bad", message: "key c2VjcmV0 is bad" }] },
    };
    for (const text of [
      "jsonpath={.data.key}=other",
      "cel=self.data.key == 'other'",
      "cel=bool(self.data.key)",
      "cel=int(self.data.key) == 1",
      "cel=self.data['key'] == 'other'",
      "cel=has(self.data.other) || self.data.key == ''",
      "condition=Ready",
    ]) {
      const state = evaluate(gate(text), secret, true);
      expect(state.type).toBe("waiting");
      expect(JSON.stringify(state)).not.toMatch(/c2VjcmV0|'other'|=other/u);
    }
  });

  it("quotes nothing that an object reports of itself, where that is to be concealed", () => {
    const conditions = [{ type: "Ready", status: "False", reason: "hunter2", message: "hunter2" }];
    const object = { ...withStatus({ conditions }), apiVersion: "example.com/v1", kind: "Account" };
    for (const text of ["ready", "condition=Ready", "condition=Available"]) {
      const state = evaluate(gate(text), object, true);
      expect(state.type).not.toBe("met");
      expect(JSON.stringify(state)).not.toContain("hunter2");
    }
    const failed = { ...conditions[0], type: "Stalled", status: "True" };
    expect(JSON.stringify(evaluate(gate("ready"), withStatus({ conditions: [failed] }), true))).not.toContain(
      "hunter2",
    );
  });

  it("is short, however much the object says", () => {
    const message = "long ".repeat(10_000);
    const conditions = [{ type: "Ready", status: "False", reason: message, message }];
    for (const text of ["ready", "condition=Ready", "jsonpath={.status.conditions[0].message}=short"])
      expect(JSON.stringify(evaluate(gate(text), withStatus({ conditions }))).length).toBeLessThan(1100);
  });
});

it("whatever the gate and the object are, it is met, not met yet or never", () => {
  const object = fc
    .tuple(
      fc.record({ apiVersion: fc.constantFrom("v1", "apps/v1"), kind: fc.constantFrom("Pod", "Secret", "Deployment") }),
      fc.record({ metadata: fc.oneof(arbitraryObject, arbitraryJson), status: arbitraryJson }),
      arbitraryObject,
    )
    .map(([type, parts, more]) => ({ ...more, ...parts, ...type }) as unknown as KubeObject);
  fc.assert(
    fc.property(arbitraryGate, fc.option(object, { nil: undefined }), (gate, object) => {
      expect(["met", "waiting", "failed"]).toContain(evaluate(gate, object).type);
    }),
    { numRuns: 500 },
  );
});

describe("of several gates, the one that an object does not meet", () => {
  const object = withStatus({ phase: "Running", list: Array.from({ length: 40 }, (_, at) => at) });
  const unmet = (...texts: readonly string[]) => {
    const found = firstUnmet(texts.map(gate), object);
    return found === undefined ? undefined : [formatGate(found.gate), found.state.type];
  };
  // More than half of what all of them may cost.
  const slow = "cel=self.status.list.all(a, self.status.list.all(b, a + b >= 0))";

  it.each<[string, readonly string[], readonly [string, string] | undefined]>([
    [
      "is none, if it meets all",
      ["create", "jsonpath={.status.phase}=Running", "cel=self.status.phase != 'x'"],
      undefined,
    ],
    [
      "is the first that is waited for",
      ["jsonpath={.a}", "cel=false == true", "jsonpath={.b}"],
      ["jsonpath={.a}", "waiting"],
    ],
    ["is one that has failed rather", ["jsonpath={.a}", "condition=Ready", "ready"], ["jsonpath={.a}", "waiting"]],
    [
      "is an expression that it meets not, after those that it meets",
      ["create", "cel=self.kind == 'x'"],
      ["cel=self.kind == 'x'", "waiting"],
    ],
  ])("%s", (_, texts, expected) => {
    expect(unmet(...texts)).toEqual(expected);
  });

  it.each([
    "jsonpath={.status.rules[?(@.ports[0].port==@.ports[0].other)]}",
    "jsonpath={.status.rules[*].ports[*].port}",
  ])("is a path that looks at more than the budget allows: %s", (text) => {
    const rules = Array.from({ length: 100_000 }, () => ({ ports: [{ port: 1 }] }));
    const found = firstUnmet([gate(text)], withStatus({ rules }));
    expect(found?.state).toEqual(failed(expect.stringContaining("takes too long on this object") as string));
    expect(firstUnmet([gate(text)], withStatus({ rules: rules.slice(0, 1000) }))?.state.type).toBe("waiting");
  });

  it("is an expression for which nothing of the budget is left: that is one for all of them", () => {
    expect(unmet(slow)).toBeUndefined();
    expect(unmet(slow, slow, slow)?.[1]).toBe("failed");
  });

  it("is found without evaluating CEL where a gate before is waited for", () => {
    expect(unmet("jsonpath={.a}", slow, slow, slow)).toEqual(["jsonpath={.a}", "waiting"]);
  });
});
