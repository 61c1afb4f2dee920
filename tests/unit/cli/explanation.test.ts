import { expect, it } from "vitest";
import { explanation } from "../../../packages/cli/src/story/explanation.ts";
import { transaction } from "../core/transaction.ts";

const lease = "shop/janus-lock-a";
const next = (holder: string): string => {
  const waiting = transaction([{ type: "Delete", target: { apiVersion: "v1", kind: "ConfigMap", name: "a" } }]);
  return explanation(waiting, { locks: new Map([[0, { lease, holder }]]), now: 0 }).next;
};

it("names the Transaction that holds a lock in the command to be pasted", () => {
  expect(next("Transaction shop/deploy-v2.1")).toBe("kubectl janus explain deploy-v2.1 -n shop");
});

it.each(["shop/a;reboot", "shop/$(reboot)", "shop;reboot;/a", "shop/-fa"])(
  "pastes nothing that the shell would run out of a Lease that was written by hand: %s",
  (holder) => {
    expect(next(`Transaction ${holder}`)).toBe(`kubectl describe lease ${lease}`);
  },
);
