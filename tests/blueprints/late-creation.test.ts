// A creation of a Pod that was given up, and reaches the API server when the phase is over, runs no command a second time.
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import type { Hook, Request } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import { administrator } from "../fixtures/administrator.ts";
import { within } from "../fixtures/manifests.ts";
import { actionOn, actionSet, blueprint } from "./objects.ts";
import { client, place } from "./world.ts";

const podRef = (name: string) => ({ apiVersion: "v1", kind: "Pod", metadata: { name } });

it("a creation of a Pod that was given up, and lands when the phase is over, does not run the command again", async () => {
  const late: Request[] = [];
  const givesUp: Hook = (request, next) => {
    if (request.verb !== "create" || request.resource.plural !== "pods" || late.length > 0) return next(request);
    late.push(request);
    return Promise.resolve(E.left({ type: "unanswered", cause: "deadline", message: "no answer in time" }));
  };
  const { create, over, namespace } = await place(givesUp);
  const file = path.join(os.tmpdir(), `janus-late-${randomUUID()}`);
  const args = { image: "busybox", command: ["sh", "-c", `echo run >> ${file}`] };
  await create(
    blueprint("dump", { backup: { phases: [{ func: "KubeTask", name: "dump", args }] } }),
    actionSet("run", actionOn("backup", "dump")),
  );
  expect((await over("run")).status.state).toBe("complete");
  const [request] = late;
  if (request === undefined) throw new Error("no Pod was created");
  await expect.poll(async () => E.isRight(await client.send(request))).toBe(true);
  // What the scheduler has seen later is over.
  const spec = { restartPolicy: "Never", containers: [{ name: "one", image: "busybox", command: ["true"] }] };
  await create({ ...podRef("later"), spec });
  const phase = async () =>
    (
      (await administrator.read(within(namespace, podRef("later")))) as {
        readonly status?: { readonly phase?: string };
      }
    ).status?.phase;
  await expect.poll(phase).toBe("Succeeded");
  expect(await readFile(file, "utf8")).toBe("run\n");
});
