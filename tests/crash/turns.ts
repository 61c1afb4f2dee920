/** So many places; whoever comes when all are taken waits until one is given back. */
export interface Turns {
  readonly take: () => Promise<void>;
  readonly give: () => void;
}

export const turns = (places: number): Turns => {
  let free = places;
  const waiting: (() => void)[] = [];
  return {
    take: async () => {
      if (free > 0) free -= 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
    },
    give: () => {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    },
  };
};
