// Input that no one would write: it ends with a sentence, and runs no command again and again.
import { expect, it } from "vitest";
import { secret } from "../fixtures/manifests.ts";
import { actionOn, actionSet, blueprint } from "./objects.ts";
import { place } from "./world.ts";

const task = (name: string, script: string, more: object = {}): object => ({
  func: "KubeTask",
  name,
  args: { image: "busybox", command: ["sh", "-c", script], ...more },
});

/** So many lists or objects within each other. */
const nested = (levels: number, around: (inner: unknown) => unknown): unknown =>
  Array.from({ length: levels }).reduce(around, "x");
const lists = nested(3000, (inner) => [inner]);
const objects = nested(3000, (inner) => ({ a: inner }));
const overridden = (podOverride: unknown): object => ({ do: { phases: [task("only", "true", { podOverride })] } });
const fine = overridden({});
const of = (object: object, more: object = {}): object => ({ ...actionOn("do", "", more), object });
const restarting = (more: object): object => overridden({ containers: [{ name: "container", ...more }] });
const TOO_DEEP = "is nested deeper than 200 levels";
const AGAIN =
  'nothing was run: phase only: podOverride: the restartPolicy of container "container" would run the command more than once';

/** By the name of the Blueprint and the ActionSet: its actions, that of the ActionSet, and how its message begins; undefined: it is complete. */
const ODD: Readonly<Record<string, readonly [actions: object, action: object, message: string | undefined]>> = {
  "deep-args": [
    overridden([lists]),
    actionOn("do", ""),
    `nothing was run: action "do" of Blueprint NS/deep-args ${TOO_DEEP}`,
  ],
  "deep-object": [
    overridden(objects),
    actionOn("do", ""),
    `nothing was run: action "do" of Blueprint NS/deep-object ${TOO_DEEP}`,
  ],
  "deep-override": [
    fine,
    actionOn("do", "", { podOverride: objects }),
    `nothing was run: spec.actions[0].podOverride ${TOO_DEEP}`,
  ],
  pieces: [overridden({ pieces: "x" }), actionOn("do", ""), undefined],
  prototype: [
    fine,
    of({ kind: "constructor", name: "x" }),
    'nothing was run: kind "constructor" needs apiVersion and resource',
  ],
  unreadable: [
    fine,
    of({ apiVersion: "v1", resource: "bindings", name: "x" }),
    "nothing was run: the API server does not serve bindings in /api/v1",
  ],
  unnamed: [
    fine,
    of({ apiVersion: "v1", resource: "secrets", name: "" }),
    'nothing was run: Secret NS/ cannot be read: ""',
  ],
  "restart-null": [overridden({ restartPolicy: null }), actionOn("do", ""), undefined],
  "restart-container": [restarting({ restartPolicy: "Always" }), actionOn("do", ""), AGAIN],
  "restart-rules": [
    restarting({
      restartPolicy: "Never",
      restartPolicyRules: [{ action: "Restart", exitCodes: { operator: "In", values: [1] } }],
    }),
    actionOn("do", ""),
    AGAIN,
  ],
};

it("what no one would write ends with a sentence, too, and runs no command again and again", async () => {
  const { create, over, namespace } = await place();
  for (const [name, [actions, action]] of Object.entries(ODD))
    await create(blueprint(name, actions), actionSet(name, { ...action, blueprint: name }));
  for (const [name, [, , message]] of Object.entries(ODD)) {
    const { status } = await over(name);
    const text = status.error?.message ?? "complete";
    expect(`${name}: ${text}`).toContain(`${name}: ${message?.replace("NS", namespace) ?? "complete"}`);
  }
});

const PASSWORD = "{{ .Secrets.credentials.Data.password | toString }}";

/** Of a recipe of these phases with a Secret. */
const messageOf = async (phases: readonly object[]): Promise<string | undefined> => {
  const { create, over } = await place();
  const secrets = { credentials: { name: "credentials" } };
  await create(
    secret("credentials", { password: "marked-4711-value" }),
    blueprint("recipe", { do: { phases } }),
    actionSet("run", actionOn("do", "recipe", { secrets })),
  );
  return (await over("run")).status.error?.message;
};

/** Writes so many outputs of what a command prints. */
const output = (count: number, value: string): string =>
  `for n in $(seq ${count}); do printf '###Phase-output###: {"key":"a%s","value":"' $n; ${value}; printf '"}\\n'; done`;

it("outputs for which there is no room fail their phase, however they are written in the journal", async () => {
  const escaped = await messageOf([
    task("only", output(12, String.raw`head -c 40000 /dev/zero | sed 's/\x0/\\u0001/g'`)),
  ]);
  expect(escaped).toMatch(/^phase only: the outputs of all phases are \d+ KiB, 512 KiB is the most$/);
  const shown = await messageOf([task("only", output(8, `printf %060000d 0; printf %s ${PASSWORD}`))]);
  expect(shown).toMatch(/^phase only: the outputs of all phases are \d+ KiB, 512 KiB is the most$/);
});
