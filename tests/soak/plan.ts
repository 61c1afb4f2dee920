import type { JsonObject } from "@janus/api";
import { type CheckedChange, checkedChanges } from "./checked-change.ts";
import type { Random } from "./random.ts";

/** What somebody does to a Transaction while it is at work. */
export type Intervention = "nothing" | "request-rollback" | "delete";

/** One Transaction, and what is to happen around it. */
export interface Plan {
  readonly name: string;
  readonly checkedChanges: readonly CheckedChange[];
  readonly spec: JsonObject;
  readonly intervention: Intervention;
  /** When that happens after its creation, in ms. */
  readonly after: number;
  /** Whether somebody edits other fields of its targets meanwhile. */
  readonly disturbed: boolean;
}

export const plan = (n: number, chance: Random): Plan => {
  const name = `t${n}`;
  const intervention = chance.chance(0.08) ? "request-rollback" : chance.chance(0.12) ? "delete" : "nothing";
  return {
    name,
    checkedChanges: checkedChanges(name, chance),
    spec: {
      ...(chance.chance(0.5) ? { deletionPolicy: "Rollback" } : {}),
      ...(chance.chance(0.1) ? { timeout: "20s" } : {}),
      ...(chance.chance(0.3) ? { lockTimeout: chance.pick(["1s", "10s", "30s"]) } : {}),
      ...(chance.chance(0.1) ? { ttlSecondsAfterFinished: Math.floor(chance.below(10)) } : {}),
    },
    intervention,
    after: chance.below(1500),
    disturbed: chance.chance(0.25),
  };
};
