import { FENCE_KEY } from "@janus/api";
import type { LeaderStatus } from "@janus/runtime/parts";
import { configMaps } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { admin as connectAs } from "./admin.ts";
import type { Expectations } from "./expectations.ts";
import type { Replicas } from "./replicas.ts";
import { green, red, say } from "./say.ts";
import { appConfig, serviceAccountName, shop } from "./shop.ts";

const told = (isRefused: boolean): string => (isRefused ? red("refused by the API server") : green("accepted"));

/**
 * What a leader that was paused, and not killed, would send when it wakes: a write of a term that is over. Here as a dry
 * run, and beside it the same write of the term that is on.
 */
export const lateWrite = async (
  { kubeconfig }: Replicas,
  before: LeaderStatus,
  now: LeaderStatus,
  { expect }: Expectations,
): Promise<void> => {
  const { client } = connectAs(kubeconfig);
  const write = ({ leader_identity, term }: LeaderStatus) =>
    client.send({
      verb: "mergePatch",
      resource: configMaps,
      namespace: shop,
      name: appConfig.name,
      as: {
        user: `system:serviceaccount:${shop}:${serviceAccountName}`,
        extra: { [FENCE_KEY]: `${leader_identity}/${term}` },
      },
      dryRun: true,
      body: { data: { version: "from the grave" } },
    });
  try {
    const [late, timely] = await Promise.all([write(before), write(now)]);
    const isRefused = E.isLeft(late) && late.left.message.includes(FENCE_KEY);
    say(`A write that was decided in term ${before.term}, sent now:  ${told(isRefused)}`, 2);
    say(`The same, decided in term ${now.term}:                ${told(E.isLeft(timely))}`, 2);
    expect("the fence refuses a write of a term that is over", isRefused);
    expect(
      "the fence lets through what the leader writes",
      E.isRight(timely),
      E.isLeft(timely) ? timely.left.message : "",
    );
  } finally {
    await client.close();
  }
};
