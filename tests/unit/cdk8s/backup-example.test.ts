// Runs the example app with a Blueprint: what it prints is valid, and rendered as its phases say.
import { execFileSync } from "node:child_process";
import path from "node:path";
import { Blueprint, blueprintFindings, renderedAction } from "@janus/blueprints/authoring";
import { isObject, readYaml } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";

const example = path.resolve(import.meta.dirname, "../../../examples/cdk8s");

it("the example prints a Blueprint without errors or warnings, whose restore takes what its backup produces", () => {
  const printed = execFileSync(process.execPath, ["--conditions=source", "backup.ts"], { cwd: example });
  const documents = readYaml(printed.toString()).map(({ value }) => value);
  expect(documents.map((one) => isObject(one) && one["kind"])).toEqual(["Blueprint", "ActionSet"]);
  expect(blueprintFindings(documents[0])).toEqual({ errors: [], warnings: [] });
  const decoded = Blueprint.decode(documents[0]);
  const { actions = {} } = E.isRight(decoded) ? decoded.right : {};
  const at = { namespace: "shop", time: "2026-01-01T00:00:00Z" };
  const action = (name: string) => actions[name] ?? {};
  const outputs = { dump: { id: "b-1" }, stop: { originalReplicaCount: "3" } };
  const { artifacts } = renderedAction("backup", action("backup"), { outputs }, at);
  expect(artifacts).toEqual(E.right({ copy: { keyValue: { id: "b-1" } } }));
  const given = { outputs, artifacts: E.getOrElse(() => ({}))(artifacts) };
  expect(renderedAction("restore", action("restore"), given, at).phases.map(({ args }) => args)).toEqual([
    E.right({ replicas: 0 }),
    E.right({ image: "registry.example.com/shop-tools:1.0", command: ["shop-load", "b-1"] }),
    E.right({ replicas: "3" }),
  ]);
});
