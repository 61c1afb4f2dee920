// Attacks on recipes: on Secrets, on the identity of the controller, on what an ActionSet is said to have come to.
import { describe, expect, it } from "vitest";
import { administrator } from "../fixtures/administrator.ts";
import { eventsOf } from "../fixtures/events.ts";
import { secret, within } from "../fixtures/manifests.ts";
import { actionOn, actionSet, actionSetRef, blueprint } from "./objects.ts";
import { place } from "./world.ts";

const SECRET = "marked-4711-value";
const PASSWORD = "{{ .Secrets.credentials.Data.password | toString }}";

const kando = (key: string, value: string): string => `echo '###Phase-output###: {"key":"${key}","value":"${value}"}'`;

const task = (name: string, script: string, more: object = {}): object => ({
  func: "KubeTask",
  name,
  args: { image: "busybox", command: ["sh", "-c", script], ...more },
});

const run = actionSet(
  "run",
  actionOn("do", "recipe", { secrets: { credentials: { name: "credentials", namespace: "" } } }),
);

/** A recipe of these phases with a Secret, in its end. */
const ended = async (phases: readonly object[], more: object = {}) => {
  const { create, over, namespace } = await place();
  await create(secret("credentials", { password: SECRET }), blueprint("recipe", { do: { phases, ...more } }), run);
  const object = await over("run");
  return { object, status: object.status, namespace };
};

describe("a value of a Secret", () => {
  it("is not shown where a shell prints its commands, and the command fails", async () => {
    const { object, status, namespace } = await ended([task("dump", `set -x; true --password=${PASSWORD}; exit 3`)]);
    expect(status.error?.message).toContain("true '--password=***'".replaceAll("'", ""));
    expect(JSON.stringify(object)).not.toContain(SECRET);
    expect(JSON.stringify(await eventsOf(namespace, "run"))).not.toContain(SECRET);
  });

  it("is not shown as an output or an artifact, and later phases have it", async () => {
    const { object, status, namespace } = await ended(
      [
        task("first", kando("password", PASSWORD)),
        task("second", `test "$(printf %s "{{ .Phases.first.Output.password }}" | wc -c)" -eq ${SECRET.length}`),
      ],
      { outputArtifacts: { all: { keyValue: { password: "{{ .Phases.first.Output.password }}" } } } },
    );
    expect(status).toMatchObject({
      state: "complete",
      actions: [
        { artifacts: { all: { keyValue: { password: "***" } } }, phases: [{ output: { password: "***" } }, {}] },
      ],
    });
    expect(JSON.stringify(object)).not.toContain(SECRET);
    const told = async () => (await eventsOf(namespace, "run")).map(({ reason }) => reason);
    await expect.poll(told).toContain("SecretRedacted");
  });

  it("is not shown as the name of an output, nor where an artifact puts parts of it together", async () => {
    const part = (name: string, cut: string) => kando(name, `'$(printf %s $value | ${cut})'`);
    const { object, status, namespace } = await ended(
      [
        task("name", `value=$(printf %s ${PASSWORD} | base64 | tr -d =); ${kando("'$value'", "x")}`),
        task("parts", `value=${PASSWORD}; ${part("first", "head -c 9")}; ${part("last", "tail -c +10")}`),
      ],
      {
        outputArtifacts: {
          all: { keyValue: { it: "{{ .Phases.parts.Output.first }}{{ .Phases.parts.Output.last }}" } },
        },
      },
    );
    expect(status.error).toBeUndefined();
    expect(status).toMatchObject({ state: "complete", actions: [{ artifacts: { all: { keyValue: { it: "***" } } } }] });
    expect(JSON.stringify([object, await eventsOf(namespace, "run")])).not.toMatch(
      new RegExp(`${SECRET}|${Buffer.from(SECRET).toString("base64").replaceAll("=", "")}`, "u"),
    );
  });

  it("is not shown in parts, where the last lines have only some of its lines, or one of them is cut", async () => {
    const { create, over, namespace } = await place();
    const value = Array.from({ length: 30 }, (_, n) => `${n}-marked-`.repeat(n === 29 ? 400 : 8)).join("\n");
    await create(
      secret("credentials", { password: value }),
      blueprint("recipe", { do: { phases: [task("only", `printf %s '${PASSWORD}'; exit 1`)] } }),
      run,
    );
    const object = await over("run");
    expect(object.status.error?.message).toContain("exited with 1 (Error); last lines: ***");
    expect(JSON.stringify([object, await eventsOf(namespace, "run")])).not.toContain("-marked-");
  });

  it("reaches a command substitution of a shell as it is", async () => {
    const { status } = await ended([
      task("only", `length=$(printf %s "${PASSWORD}" | wc -c); test "$length" -eq ${SECRET.length}`),
    ]);
    expect(status.error).toBeUndefined();
    expect(status.state).toBe("complete");
  });

  it("is refused where an object would show it", async () => {
    const { status } = await ended([task("only", "true", { podLabels: { password: PASSWORD } })]);
    expect(status.error?.message).toMatch(/^nothing was run: phase only: args\.podLabels must not depend on a Secret/);
  });
});

describe("a Pod", () => {
  it("runs its command once, whatever a podOverride says of restarts", async () => {
    const { status } = await ended([task("only", "exit 1", { podOverride: { restartPolicy: "OnFailure" } })]);
    expect(status.error?.message).toBe(
      "nothing was run: phase only: podOverride: restartPolicy OnFailure would run the command more than once: leave it out, it is Never",
    );
  });

  it("with more outputs than there is room for fails its phase", async () => {
    const script = `for n in $(seq 12); do printf '###Phase-output###: {"key":"a%s","value":"%060000d"}\\n' $n 0; done`;
    const { status } = await ended([task("only", script)]);
    expect(status.error?.message).toMatch(/its outputs are more than 512 KiB$/);
  });
});

it("asks for no path of the API server but that of a group", async () => {
  const { create, over } = await place();
  await create(
    blueprint("recipe", { do: { phases: [task("only", "true")] } }),
    actionSet("run", {
      name: "do",
      blueprint: "recipe",
      object: { apiVersion: "v1/namespaces/kube-system/secrets?limit=3&x=", resource: "x", name: "y" },
    }),
  );
  expect((await over("run")).status.error?.message).toMatch(/are not the group and the version of an API/);
});

it("goes on where somebody takes its finalizer off", async () => {
  const { create, over, read, namespace } = await place();
  await create(
    blueprint("recipe", { do: { phases: [task("only", "sleep 2")] } }),
    actionSet("run", actionOn("do", "recipe")),
  );
  await expect.poll(async () => (await read("run")).status?.progress.runningPhase).toBe("only");
  await administrator.patch(within(namespace, { ...actionSetRef("run"), metadata: { name: "run", finalizers: null } }));
  expect((await over("run")).status.state).toBe("complete");
});

it("no more Secrets are read than there is room for, however many it names", async () => {
  let reads = 0;
  const { create, over } = await place((request, next) => {
    if (request.purpose === "read-secret") reads += 1;
    return next(request);
  });
  const names = Array.from({ length: 10 }, (_, n) => `s${n}`);
  await create(
    ...names.map((name) => secret(name, { text: "x".repeat(200 * 1024) })),
    blueprint("recipe", { do: { phases: [] } }),
    actionSet("run", actionOn("do", "recipe", { secrets: Object.fromEntries(names.map((name) => [name, { name }])) })),
  );
  expect((await over("run")).status.error?.message).toContain("before it are more than 512 KiB, which is the most");
  expect(reads).toBe(2);
});

const refused = async (phases: readonly object[], actions = 1): Promise<string | undefined> => {
  const { create, over } = await place();
  await create(blueprint("recipe", { do: { phases } }));
  await create(actionSet("run", ...Array.from({ length: actions }, () => actionOn("do", "recipe"))));
  return (await over("run")).status.error?.message;
};

const phases = (count: number): readonly object[] => Array.from({ length: count }, (_, n) => task(`phase${n}`, "true"));

it("an ActionSet that is created as if it had been taken up has the same bounds, and the times of its own", async () => {
  const { create, over } = await place();
  const finalizers = ["blueprints.janus.io/running"];
  const old = "2020-01-01T00:00:00Z";
  const made = actionSet("old", actionOn("do", "recipe"));
  await create(
    blueprint("recipe", { do: { phases: [] } }),
    {
      ...actionSet("many", ...Array.from({ length: 51 }, () => actionOn("do", "recipe"))),
      metadata: { name: "many", finalizers },
    },
    { ...made, status: { startTime: old, completionTime: old } },
  );
  expect((await over("many")).status.error?.message).toBe("nothing was run: 51 actions, 50 are the most");
  const { status } = await over("old");
  expect(status.state).toBe("complete");
  expect(JSON.stringify(status)).not.toContain(old);
});

describe("what is too large is refused before anything runs", () => {
  it.each([
    ["101 phases", phases(101), 1, "nothing was run: 101 phases, 100 are the most"],
    ["51 actions", phases(1), 51, "nothing was run: 51 actions, 50 are the most"],
    [
      "1,100 phases in all",
      phases(100),
      11,
      "nothing was run: 1100 phases in all, 1000 are the most: make it several ActionSets",
    ],
    [
      "args of 65 KiB",
      [task("only", "x".repeat(65 * 1024))],
      1,
      "nothing was run: phase only: its args are 66 KiB, 64 KiB is the most",
    ],
  ])("%s", async (_, all, actions, message) => expect(await refused(all, actions)).toBe(message));
});
