import { describe, expect, it } from "vitest";
import { performAll, type Performance, rehearsal } from "./matrix.ts";
import { deathsAfterWrites, isThorough } from "./mishaps.ts";
import { bystander, configMap, creation, deletion, patch, refusedCreation, secret, spec } from "./objects.ts";
import type { Scenario } from "./scenario.ts";
import { theatre } from "./theatre.ts";

const casting = theatre();

const patched = configMap("patched", { version: "1.0", kept: "yes" });
const patching = patch(patched, { data: { version: "2.0" } });
const creating = creation(configMap("created", { made: "yes" }));
const deleting = deletion(secret("deleted"));

const core: readonly Scenario[] = [
  {
    name: "changes of three types commit",
    outcome: "Committed",
    before: [bystander, patched, secret("deleted")],
    spec: spec([patching, creating, deleting]),
  },
  {
    name: "changes of three types are rolled back",
    outcome: "RolledBack",
    before: [bystander, patched, secret("deleted")],
    spec: spec([patching, deleting, refusedCreation]),
  },
];

/**
 * The requests of the second life are those of a play in which the first one has died: whatever it asks is covered by itself. Both
 * take over at once in one play, and late in the next one.
 */
describe("whenever the controller dies, and the one that takes over dies, too, the Transaction ends all or nothing", () => {
  it.each(core)("$name", { timeout: 7_200_000 }, async (scenario) => {
    const rehearsed = await rehearsal(casting(), scenario);
    const once = deathsAfterWrites(rehearsed.undisturbed.traces[0] ?? []);
    const survived = await performAll(
      casting(),
      rehearsed,
      once.map((mishap) => ({ mishaps: [mishap], takeover: "at once" })),
    );
    expect(survived.wrong).toEqual([]);
    const twice = once.flatMap((first, n) =>
      deathsAfterWrites(survived.plays[n]?.traces[1] ?? []).flatMap((second, m): readonly Performance[] => {
        const mishaps = [first, second];
        const [atOnce, late] = [
          { mishaps, takeover: "at once" },
          { mishaps, takeover: "late" },
        ] as const;
        return isThorough ? [atOnce, late] : [(n + m) % 2 === 0 ? atOnce : late];
      }),
    );
    expect((await performAll(casting(), rehearsed, twice)).wrong).toEqual([]);
  });
});
