// Somebody in another namespace, whose Transactions commit while others meet trouble.
import type { KubeObject, Request } from "@janus/kube";
import { phaseOf } from "../crash/user-action.ts";
import { configMap, creation, patch, spec } from "../crash/objects.ts";
import { sleep } from "../crash/over.ts";
import type { Environment } from "../crash/run-scenario.ts";
import { newUsers } from "../crash/users.ts";

/** Another client, whose Transaction is in another namespace and has nothing to do with any trouble. */
export interface Bystander {
  readonly namespace: string;
  /** Whether the request is for this one. */
  readonly asks: (request: Request) => boolean;
  /** Has it come, once. */
  readonly comes: () => void;
  /** Whether it has come, and is not Committed yet. */
  readonly isUnderWay: () => boolean;
  /** When it was Committed; `undefined` where it has never come. Rejects where it is not for too long. */
  readonly committed: () => Promise<number | undefined>;
}

const PATIENCE = 300_000;

/** @param labels of the Transaction */
export const bystander = async (
  { api, find, seen }: Environment,
  labels: Readonly<Record<string, string>>,
): Promise<Bystander> => {
  const place = await newUsers(api, find);
  const { namespace } = place;
  await place.create(configMap("theirs", { version: "1.0" }));
  let came: Promise<KubeObject> | undefined;

  const committed = async (): Promise<number> => {
    const until = performance.now() + PATIENCE;
    for (;;) {
      const news = seen.change(namespace);
      const phase = phaseOf(seen.of(namespace, "bystander")?.object);
      if (phase === "Committed") return performance.now();
      if (phase === "Failed" || phase === "RolledBack" || performance.now() > until)
        throw new Error(
          `the bystander is ${phase}: ${JSON.stringify(seen.of(namespace, "bystander")?.object["status"])}`,
        );
      await Promise.race([news, sleep(1000)]);
    }
  };

  let ending: Promise<number> | undefined;
  let isTooLate = false;
  let isUnderWay = false;
  return {
    namespace,
    asks: (request) => {
      const { as } = request;
      const isNamed = request.verb !== "raw" && (request.namespace === namespace || nameIn(request) === namespace);
      return isNamed || as?.user.includes(`:${namespace}:`) === true;
    },
    comes: () => {
      // Nobody is there any more who could look after it.
      if (came !== undefined || isTooLate) return;
      came = place.create({
        apiVersion: "backup.janus.io/v1alpha1",
        kind: "Transaction",
        metadata: { name: "bystander", labels },
        spec: spec([
          patch(configMap("theirs"), { data: { version: "2.0" } }),
          creation(configMap("more", { made: "yes" })),
        ]),
      });
      isUnderWay = true;
      ending = came.then(committed).finally(() => {
        isUnderWay = false;
      });
      ending.catch(() => {});
    },
    isUnderWay: () => isUnderWay,
    committed: async () => {
      isTooLate = true;
      return ending;
    },
  };
};

const nameIn = (request: Request): string | undefined => ("name" in request ? request.name : undefined);
