// A restart while a Pod runs whose command depends on a Secret: the Pod is what it was, whatever has become of the Secret since.
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { administrator } from "../fixtures/administrator.ts";
import { secret, within } from "../fixtures/manifests.ts";
import { type ActionSetObject, actionOn, actionSet, actionSetRef, blueprint } from "./objects.ts";
import { kando } from "./running-pods.ts";
import { client, controllerOf, isOver, nodeFor, prepared } from "./world.ts";

const FIRST = "marked-first-value";

it.each([
  [
    "another value",
    (namespace: string) => administrator.patch(within(namespace, secret("credentials", { password: "x" }))),
  ],
  ["no Secret any more", (namespace: string) => administrator.remove(within(namespace, secret("credentials")))],
])(
  "a Pod with the value of a Secret runs to its end over a restart, though there is %s, and the value is not shown",
  async (_, change) => {
    const namespace = await prepared();
    onTestFinished((await nodeFor(namespace)).stop);
    const directory = await mkdtemp(path.join(os.tmpdir(), "janus-changed-"));
    const [ran, go] = ["ran", "go"].map((name) => path.join(directory, name)) as [string, string];
    await writeFile(ran, "");
    const script = `echo ran >> ${ran}; until test -e ${go}; do sleep 0.1; done; ${kando("value", "'$1'")}`;
    const command = ["sh", "-c", script, "sh", "{{ .Secrets.credentials.Data.password | toString }}"];
    for (const one of [
      secret("credentials", { password: FIRST }),
      blueprint("recipe", {
        do: { phases: [{ func: "KubeTask", name: "only", args: { image: "busybox", command } }] },
      }),
      actionSet("run", actionOn("do", "recipe", { secrets: { credentials: { name: "credentials", namespace } } })),
    ])
      await administrator.create(within(namespace, one));
    const runs = async () => (await readFile(ran, "utf8")).split("\n").length - 1;
    const read = async () => (await administrator.read(within(namespace, actionSetRef("run")))) as ActionSetObject;

    const first = controllerOf(client, namespace);
    await expect.poll(runs).toBe(1);
    await first.stop();
    await change(namespace);
    onTestFinished(controllerOf(client, namespace).stop);
    await writeFile(go, "");
    await expect.poll(async () => isOver(await read())).toBe(true);
    const { status } = await read();
    expect(status).toMatchObject({ state: "complete", actions: [{ phases: [{ output: { value: "***" } }] }] });
    expect(await runs()).toBe(1);
  },
);
