import { installation, yaml } from "@janus/deploy";
import { expect, it } from "vitest";
import { HELP, propsOf } from "../../../packages/deploy/src/manifest-flags.ts";

it("asks for what the installation is by default", () => {
  expect(propsOf(["--image=a"])).toEqual({ image: "a", metricsAuth: false, stampsUsers: false, monitoring: false });
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
  expect(named).toEqual([
    "image",
    "namespace",
    "readiness",
    "metrics-auth",
    "stamp-users",
    "monitoring",
    "blueprints",
    "git-journal",
    "help",
  ]);
  expect(propsOf(["--help"])).toBeUndefined();
});

const printed = (...flags: readonly string[]) => yaml(installation(propsOf(["--image=a", ...flags])));

/** What it takes where it takes something. */
const VALUES: Readonly<Record<string, string>> = { image: "b", namespace: "elsewhere", readiness: "leader" };

it.each(
  [...HELP.matchAll(/^ {2}--([a-z-]+)( <)?/gm)].flatMap(([, flag = "", takes]) =>
    flag === "help" ? [] : [[flag, takes !== undefined] as const],
  ),
)("prints other manifests with the flag --%s, which its help has", (flag, takes) => {
  expect(VALUES[flag] !== undefined).toBe(takes);
  expect(printed(takes ? `--${flag}=${VALUES[flag]}` : `--${flag}`)).not.toBe(printed());
});

it("does not print manifests whose image cannot be pulled", () => {
  expect(() => propsOf([])).toThrow("--image is required: there is no public image");
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
  expect(() => propsOf(["--image=a", flag])).toThrow(reason);
});
