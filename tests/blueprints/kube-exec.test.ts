// Commands in containers that are there: KubeExec on a Pod of the test node.
import { expect, it } from "vitest";
import { actionOn, actionSet, blueprint } from "./objects.ts";
import { exec, kando, runningPod } from "./running-pods.ts";
import { place } from "./world.ts";

it("KubeExec runs a command in a running container: outputs of stdout, the container by name, and the exit code with last lines", async () => {
  const here = await place();
  const { namespace, create, over } = here;
  await runningPod(namespace, "db-0", "db");
  const phases = [
    exec("dump", namespace, `${kando("id", "b1")}; ${kando("ignored", "x")} >&2; test -z "$(cat)"`),
    exec("upload", namespace, 'echo "{{ .Phases.dump.Output.id }} in $WHERE"; echo no space left >&2; exit 3', {
      container: "db",
    }),
  ];
  await create(blueprint("recipe", { do: { phases } }), actionSet("run", actionOn("do", "recipe")));
  const { status } = await over("run");
  expect(status.actions[0]?.phases).toMatchObject([{ state: "complete", output: { id: "b1" } }, { state: "failed" }]);
  expect(status.actions[0]?.phases[0]?.output).toEqual({ id: "b1" });
  expect(status.error?.message).toBe(
    `phase upload: Pod ${namespace}/db-0, container "db": the command exited with 3; last lines: no space left`,
  );
});
