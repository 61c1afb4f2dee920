// Neighbours of any controller: whatever a user who may edit in one namespace does, another one's objects are worked on.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isExhaustive, sampled, showShare } from "../fixtures/sample.ts";
import type { Bystander } from "./bystander.ts";
import { openTestBed, type Subject, type TestBed } from "./test-bed.ts";

export interface Attack<Author> {
  /** What the author has. */
  readonly title: string;
  /** Resolves when it is under way, with how to end it. */
  readonly attack: (author: Author, testBed: TestBed) => Promise<() => Promise<void>>;
}

export const many = <A>(count: number, make: (n: number) => A): readonly A[] =>
  Array.from({ length: count }, (_, n) => make(n));
export const allOf = (count: number, make: (n: number) => Promise<unknown>): Promise<unknown> =>
  Promise.all(many(count, make));

/** What was submitted is the whole attack. */
export const submitted = (): Promise<void> => Promise.resolve();

/** Goes on until it is ended, so many side by side; what is refused is nobody's trouble. */
export const again = (lanes: number, deed: (n: number) => Promise<unknown>): (() => Promise<void>) => {
  const over = new AbortController();
  let done = 0;
  const lane = async (): Promise<void> => {
    while (!over.signal.aborted) {
      done += 1;
      await deed(done);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  const all = Promise.all(many(lanes, lane));
  return async () => {
    over.abort();
    await all;
  };
};

/** A controller, with somebody who uses it, and the worst that we know of. */
export interface Neighbourhood<Author> extends Subject {
  readonly author: (testBed: TestBed, namespace: string) => Promise<Author>;
  readonly bystander: (testBed: TestBed) => Promise<Bystander>;
  readonly attacks: readonly Attack<Author>[];
  /**
   * How many times as long the bystander's may take. Where other tests run on the same machine it is only told;
   * `JANUS_EXHAUSTIVE=1`, for one file alone, asserts it.
   */
  readonly mostSlowdown: number;
}

/** Of the bystander's objects, before an attack, during it and after it. */
const ALONE = 3;
const BESIDE = 5;

/** What the controller may hold resident, of the 512 MiB that the Deployment allows. */
const MOST_MEMORY = 250 * 2 ** 20;

const inMiB = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`;

const median = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;

/** @param title what no user stops in another namespace; @param share one in so many attacks */
export const noisyNeighbours = <Author extends { readonly clear: () => Promise<void> }>(
  title: string,
  neighbourhood: Neighbourhood<Author>,
  share: number,
): void => {
  let testBed: TestBed;
  let bystander: Bystander;
  const report: string[] = [];

  beforeAll(async () => {
    testBed = await openTestBed(neighbourhood);
    bystander = await neighbourhood.bystander(testBed);
    await bystander.times(5);
  });
  afterAll(async () => {
    bystander.stop();
    await testBed.end();
    console.log(["", "Beside a noisy neighbour:", ...report].join("\n  "));
  });

  describe(`${title}${showShare("attack", share)}`, () => {
    it.each(sampled(neighbourhood.attacks, share).map(({ title, attack }, n) => [title, attack, n] as const))(
      "with %s",
      async (title, attack, n) => {
        const author = await neighbourhood.author(testBed, `author-${n}`);
        const before = await bystander.times(ALONE);
        const [term, falls] = [await testBed.term(), testBed.janus.falls()];
        await Promise.all([testBed.mostMemory(), testBed.mostDelay()]);

        const end = await attack(author, testBed);
        let beside: readonly number[] = [];
        try {
          beside = await bystander.times(BESIDE);
        } finally {
          await end();
        }
        await author.clear();
        const [memory, delay] = await Promise.all([testBed.mostMemory(), testBed.mostDelay()]);

        const after = await bystander.times(ALONE);
        const [alone, slow] = [median([...before, ...after]), median(beside)];
        report.push(
          `${title}: ${(slow / alone).toFixed(1)} times as long (${slow.toFixed(0)} ms, ${alone.toFixed(0)} ms alone), ${inMiB(memory)}, event loop held up for ${delay.toFixed(0)} ms`,
        );
        expect(testBed.janus.falls()).toBe(falls);
        expect(await testBed.term()).toBe(term);
        expect(slow).toBeLessThan((isExhaustive ? neighbourhood.mostSlowdown : Number.POSITIVE_INFINITY) * alone);
        expect(memory).toBeLessThan(MOST_MEMORY);
      },
    );
  });
};
