import { type ControllerOptions, type KubeObject, type ApiRequest, type Answered } from "@janus/runtime";
import { expect, it } from "vitest";
import { configMaps, labelKeeper } from "../../../examples/own-controller/label-keeper.ts";
import { flagsOf } from "../../../packages/runtime/src/run-controller.ts";

type Options = ControllerOptions<KubeObject, ApiRequest, Answered<ApiRequest>, { readonly team: string }>;

const options: Options = {
  name: "label-keeper",
  about: "Keeps a label.",
  version: "1.2.3",
  resource: configMaps,
  controller: labelKeeper,
  flags: {
    options: { team: { help: "The team of what has none.", default: "unowned" }, contact: { help: "Whom to ask." } },
    read: ({ team = "", contact }) =>
      team === "" ? { ok: false, error: "--team takes a name" } : { ok: true, value: { team: `${team} ${contact}` } },
  },
};

const text = (args: readonly string[], more: Partial<Options> = {}): unknown =>
  flagsOf({ ...options, ...more }, args, {});

it("reads the flags of one controller beside those of all", () => {
  expect(text(["--contact=them", "--http-port=0"])).toMatchObject({
    right: { team: "unowned them", httpPort: 0, namespace: "default" },
  });
});

it("says what is wrong with the flags of its own, and shows them", () => {
  expect(text(["--team="])).toMatchObject({ left: { help: false, text: "--team takes a name; see --help" } });
  expect(text(["--help"])).toMatchObject({
    left: { help: true, text: expect.stringContaining("The team of what has none. Default: unowned.") as string },
  });
});

it("prints its version", () =>
  expect(text(["--version", "--http-port=0"])).toMatchObject({ left: { help: true, text: "1.2.3" } }));

it.each(["My Controller!", "", "1st", "under_score"])('refuses the name "%s", which no Lease can have', (name) =>
  expect(text([], { name })).toMatchObject({
    left: { help: false, text: expect.stringContaining(`cannot have the name "${name}"`) as string },
  }),
);

it("refuses a namespace to watch where the kind has none", () =>
  expect(text(["--watch-namespace=shop"], { resource: { ...configMaps, namespaced: false } })).toMatchObject({
    left: { help: false, text: "--watch-namespace cannot be set: ConfigMap is cluster-scoped" },
  }));
