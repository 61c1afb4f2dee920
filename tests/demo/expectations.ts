import { red, say } from "./say.ts";

export interface Expectations {
  /** Goes on either way; what is not met is said at once, and again at the end. */
  readonly expect: (what: string, met: boolean, otherwise?: string) => void;
  readonly unmet: () => readonly string[];
}

/** What the demo promises: it ends with 0 only when all of it came true. */
export const expectations = (): Expectations => {
  const unmet: string[] = [];
  return {
    expect: (what, met, otherwise) => {
      if (met) return;
      const sentence = otherwise === undefined ? what : `${what}; ${otherwise}`;
      unmet.push(sentence);
      say(red(`NOT MET: ${sentence}`));
    },
    unmet: () => unmet,
  };
};
