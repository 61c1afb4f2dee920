import { expect, it } from "vitest";
import { HELP, propsOf } from "../../../packages/deploy/src/manifest-flags.ts";

it("asks for what the installation is by default", () => {
  expect(propsOf([])).toEqual({ metricsAuth: false, stampsUsers: false, monitoring: false });
});

it("has a flag for each of these", () => {
  const flags = [
    "--image=registry.example/janus:1",
    "--namespace=elsewhere",
    "--readiness=leader",
    "--metrics-auth",
    "--stamp-users",
    "--monitoring",
  ];
  expect(propsOf(flags)).toEqual({
    image: "registry.example/janus:1",
    namespace: "elsewhere",
    readiness: "leader",
    metricsAuth: true,
    stampsUsers: true,
    monitoring: true,
  });
});

it("has no flag that its help leaves out", () => {
  const named = [...HELP.matchAll(/^ {2}--([a-z-]+)/gm)].map(([, flag]) => flag);
  expect(named).toEqual(["image", "namespace", "readiness", "metrics-auth", "stamp-users", "monitoring", "help"]);
  expect(propsOf(["--help"])).toBeUndefined();
});

it.each([
  ["--colour", "--colour"],
  ["--readiness=all", "any or leader"],
  ["--image=", "--image takes"],
  ["--image=a b", "--image takes"],
  ["--namespace=", "--namespace takes"],
  ["--namespace=Foo_", "--namespace takes"],
  [`--namespace=${"a".repeat(64)}`, "--namespace takes"],
])("refuses %s, and says what is wrong", (flag, reason) => {
  expect(() => propsOf([flag])).toThrow(reason);
});
