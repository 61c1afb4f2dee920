// Outputs that a log has lost by the time that a controller takes over: they were recorded while the log was followed.
import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import type { PodStreams } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { expect, it, onTestFinished } from "vitest";
import { administrator } from "../fixtures/administrator.ts";
import { within } from "../fixtures/manifests.ts";
import { type ActionSetObject, actionOn, actionSet, actionSetRef, blueprint } from "./objects.ts";
import { client, controllerOf, isOver, nodeFor, prepared } from "./world.ts";

const kando = (key: string, value: string): string => `echo '###Phase-output###: {"key":"${key}","value":"${value}"}'`;

/** Without all before its second output. */
const rotated: PodStreams["log"] = async function* (request, signal) {
  const chunks: Buffer[] = [];
  for await (const chunk of client.log(request, signal)) if (E.isRight(chunk)) chunks.push(chunk.right);
  const text = Buffer.concat(chunks).toString();
  yield E.right(Buffer.from(text.slice(Math.max(0, text.indexOf("###Phase-output###", 1)))));
};

it("outputs that the kubelet has rotated away while no controller was running are not lost", async () => {
  const namespace = await prepared();
  const node = await nodeFor(namespace);
  onTestFinished(node.stop);
  const go = path.join(os.tmpdir(), `janus-go-${randomUUID()}`);
  const script = `${kando("early", "yes")}; until test -e ${go}; do sleep 0.1; done; ${kando("late", "yes")}`;
  const args = { image: "busybox", command: ["sh", "-c", script] };
  await administrator.create(
    within(namespace, blueprint("dump", { backup: { phases: [{ func: "KubeTask", name: "dump", args }] } })),
  );
  await administrator.create(within(namespace, actionSet("run", actionOn("backup", "dump"))));
  const first = controllerOf(client, namespace);
  const journal = async (): Promise<string> => {
    const [secret] = await administrator.list({ apiVersion: "v1", kind: "Secret" }, namespace);
    const { journal = "" } = (secret as { readonly data?: { readonly journal?: string } })?.data ?? {};
    return Buffer.from(journal, "base64").toString();
  };
  await expect.poll(journal).toContain('"seen":{"early":"yes"}');
  await first.stop();
  await writeFile(go, "");
  onTestFinished(controllerOf({ ...client, log: rotated }, namespace).stop);
  const read = async () => (await administrator.read(within(namespace, actionSetRef("run")))) as ActionSetObject;
  await expect.poll(async () => isOver(await read())).toBe(true);
  expect((await read()).status.actions[0]?.phases[0]?.output).toEqual({ early: "yes", late: "yes" });
});
