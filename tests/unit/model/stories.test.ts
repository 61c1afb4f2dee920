import { expect, it } from "vitest";
import { follow } from "./follow.ts";
import { violations } from "./invariants.ts";
import { situationOf } from "./moment.ts";
import { begin, NEVER } from "./scenario.ts";
import { stories } from "./stories.ts";

it.each(Object.entries(stories))("ends well: %s", (_, { types, left, schedule, phase }) => {
  const { end, story } = follow(
    begin(types, { ...NEVER, ...left }),
    { fence: true, lateTakeover: true, recoveries: 0 },
    schedule,
  );
  expect({ story, violations: violations(end) }).toMatchObject({ violations: [] });
  expect(situationOf(end).txn.status.phase).toBe(phase);
});
