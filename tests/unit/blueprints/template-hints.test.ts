// Tests what is said of a template that takes from the object of the action what that does not have.
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import { type Data, field, json, NIL, renderText, struct } from "../../../packages/blueprints/src/core/templates.ts";

const of = (there?: string): Data =>
  struct(
    "param.TemplateParams",
    ["StatefulSet", "Deployment", "PVC", "Namespace"].map((name) =>
      field(
        name,
        name === there
          ? struct("param.WorkloadParams", [
              field("Name", json("db")),
              field("Namespace", json("shop")),
              field("Pods", json([])),
            ])
          : NIL,
      ),
    ),
  );

it.each([
  [
    "{{ .Namespace.Name }}",
    "StatefulSet",
    "; .Namespace is there only for actions on a Namespace: here use .StatefulSet.Namespace",
  ],
  [
    "{{ .Deployment.Name }}",
    "StatefulSet",
    "; .Deployment is there only for actions on a Deployment: here use .StatefulSet.Name",
  ],
  [
    "{{ .Namespace.Name }}",
    undefined,
    "; .Namespace is there only for actions on a Namespace: here use .Object.metadata.namespace",
  ],
  [
    "{{ index .StatefulSet.Pods 0 }}",
    "StatefulSet",
    "; .StatefulSet.Pods are those that run: scale it up, or wait until they do",
  ],
  ["{{ index (list 1) 3 }}", "StatefulSet", "index out of range: 3"],
])("%s says what to do: for an action on a %s", (source, there, end) => {
  const rendered = renderText(source, of(there), { now: 0, seed: "", at: "" });
  expect(E.isLeft(rendered) && rendered.left).toMatch(new RegExp(`${end.replaceAll(".", String.raw`\.`)}$`, "u"));
});
