import { REQUEST_ROLLBACK, RETRY_ROLLBACK } from "@janus/api";
import type { Hook, KubeObject } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { expect } from "vitest";
import { creating, patching } from "../fixtures/changes.ts";
import { gate, isChangeOf } from "../fixtures/gate.ts";
import { configMap } from "../fixtures/manifests.ts";
import { allowOneService, oneTooMany } from "../fixtures/quota.ts";
import { transaction, type Txn, type Workspace, workspace } from "../fixtures/workspace.ts";

const annotate = ({ patch }: Workspace, annotation: string) =>
  patch({ ...transaction("txn"), metadata: { name: "txn", annotations: { [annotation]: "now" } } });

const changes = [creating(configMap("first")), creating(configMap("second"))];
const ready = { waitFor: ["jsonpath={.data.ready}=yes"] };

const waits = async (place: Workspace): Promise<void> => {
  const isWaiting = async () => (await place.txn()).status.items.some((item) => "waitingFor" in item);
  await expect.poll(isWaiting).toBe(true);
};

const isGone = (place: Workspace) => expect.poll(() => place.exists(transaction("txn"))).toBe(false);

/** What happens to a Transaction `txn` whose controller starts with `janus`. */
const LIVES: Readonly<Record<string, (place: Workspace, janus: Workspace["janus"]) => Promise<unknown>>> = {
  "waits for a gate, and is Committed": async (place, janus) => {
    await place.submit([{ ...creating(configMap("first")), ...ready }, creating(configMap("second"))]);
    await janus();
    await waits(place);
    await place.patch(configMap("first", { ready: "yes" }));
    await place.over();
  },
  "is RolledBack because a change is rejected": async (place, janus) => {
    await allowOneService(place);
    await place.submit(oneTooMany);
    await janus();
    await place.over();
  },
  "is RolledBack on request": async (place, janus) => {
    await place.submit([{ ...creating(configMap("first")), ...ready }]);
    await janus();
    await waits(place);
    await annotate(place, REQUEST_ROLLBACK);
    await place.over();
  },
  "is RolledBack on request after it was Committed": async (place, janus) => {
    await place.submit(changes, { rollbackWindow: "1h" });
    await janus();
    const rests = async () => "reversibleUntil" in ((await place.txn()).status ?? {});
    await expect.poll(rests).toBe(true);
    await annotate(place, REQUEST_ROLLBACK);
    await place.over();
  },
  "is Failed, and has changed nothing": async (place, janus) => {
    await place.submit([patching(configMap("missing", { a: "1" }))]);
    await janus();
    await place.over();
  },
  "is Failed because another client took a field over, and RolledBack when the rollback is retried": async (
    place,
    janus,
  ) => {
    await place.create(configMap("first", { value: "old" }));
    await place.submit([patching(configMap("first", { value: "new" })), creating(configMap("last"))]);
    await janus(async (request, next) => {
      if (isChangeOf("last")(request)) {
        await place.patch(configMap("first", { value: "theirs" }));
        await place.create(configMap("last"));
      }
      return next(request);
    });
    await place.over();
    await place.patch(configMap("first", { value: "old" }));
    await annotate(place, RETRY_ROLLBACK);
    await expect.poll(async () => (await place.txn()).status.phase).toBe("RolledBack");
    await place.over();
  },
  "is deleted with deletionPolicy Rollback": async (place, janus) => {
    const { hook, reached, open } = gate(isChangeOf("second"));
    await place.submit(changes, { deletionPolicy: "Rollback" });
    await janus(hook);
    await reached;
    await place.remove(transaction("txn"));
    open();
    await isGone(place);
  },
  "is a Draft, is proposed, and is Committed when it is published": async (place, janus) => {
    await place.submit([creating(configMap("first"))], { lifecycle: "Draft" });
    await janus();
    const moved = async (lifecycle: string) => place.patch({ ...transaction("txn"), spec: { lifecycle } });
    const isSaid = async () => (await place.txn()).status?.conditions.find(({ type }) => type === "Ready")?.reason;
    await expect.poll(isSaid).toBe("Draft");
    await moved("Proposed");
    await expect.poll(isSaid).toBe("Proposed");
    await moved("Published");
    await place.over();
  },
  "was Prepared by an earlier version": async (place, janus) => {
    await place.submit(changes);
    const isAway = Promise.withResolvers<void>();
    const { stop } = await janus((request, next) => {
      if (!isChangeOf("first")(request)) return next(request);
      isAway.resolve();
      return Promise.resolve(E.left({ type: "unanswered", cause: "never-sent", message: "away" }));
    });
    await isAway.promise;
    await stop();
    await place.patch({ ...transaction("txn"), status: { phase: "Prepared" } }, "status");
    await janus();
    await place.over();
  },
  "cannot be read any more": async (place, janus) => {
    await place.submit([{ ...creating(configMap("first")), ...ready }]);
    await janus();
    await waits(place);
    await place.patch({ ...transaction("txn"), status: { items: [] } }, "status");
    const isUnreadable = async () =>
      (await place.txn()).status.conditions.some(({ reason }) => reason === "Unreadable");
    await expect.poll(isUnreadable).toBe(true);
  },
};

/** Keeps every Transaction that is in a response of the API server. */
const watching = (seen: Txn[]): Hook => {
  const keep = (object: KubeObject) => {
    if (object.kind === "Transaction" && object["status"] !== undefined) seen.push(object as Txn);
  };
  return async (request, next) => {
    const answer = await next(request);
    if (E.isRight(answer)) keep(answer.right);
    return answer;
  };
};

/** Every state in which the API server returned a Transaction, in any of these lives. */
export const everyState = async (): Promise<readonly Txn[]> => {
  const lives = Object.values(LIVES).map(async (live) => {
    const place = await workspace();
    const seen: Txn[] = [];
    const janus: Workspace["janus"] = async (...hooks) => {
      seen.push(await place.txn());
      return place.janus(watching(seen), ...hooks);
    };
    await live(place, janus);
    if (await place.exists(transaction("txn"))) seen.push(await place.txn());
    return seen;
  });
  return (await Promise.all(lives)).flat();
};
