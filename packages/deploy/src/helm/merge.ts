import { type Choice, type Entry, type Node, same } from "./node.ts";

const choice = (when: string, yes: Node | undefined, no: Node | undefined): Choice => ({
  at: "choice",
  when,
  ...(yes === undefined ? {} : { yes }),
  ...(no === undefined ? {} : { no }),
});

/** What is `yes` where `when` holds, and else `no`: equal parts stand there once, and each difference as deep down as it can. */
export const merge = (when: string, yes: Node | undefined, no: Node | undefined): Node | undefined => {
  if (same(yes, no)) return yes;
  if (yes === undefined || no === undefined) return choice(when, yes, no);
  if (yes.at === "map" && no.at === "map" && yes.entries.length > 0 && no.entries.length > 0)
    return { at: "map", entries: mergeEntries(when, yes.entries, no.entries) };
  if (yes.at === "list" && no.at === "list" && yes.items.length > 0 && no.items.length > 0)
    return { at: "list", items: mergeItems(when, yes.items, no.items) };
  if (yes.at === "choice" && no.at === "choice" && yes.when === no.when)
    return choice(yes.when, merge(when, yes.yes, no.yes), merge(when, yes.no, no.no));
  return choice(when, yes, no);
};

/** In the order of `yes`, each entry that only `no` has behind the one that it follows there. */
export const mergeEntries = (when: string, yes: readonly Entry[], no: readonly Entry[]): readonly Entry[] => {
  const [inYes, inNo] = [new Map(yes), new Map(no)];
  const keys = [...inYes.keys()];
  no.forEach(([key], index) => {
    if (!inYes.has(key)) keys.splice(keys.indexOf(no[index - 1]?.[0] ?? "") + 1, 0, key);
  });
  return keys.flatMap((key) => {
    const merged = merge(when, inYes.get(key), inNo.get(key));
    return merged === undefined ? [] : [[key, merged] as const];
  });
};

/** At how many indices from 0 on, below `limit`, it is so. */
const countWhile = (isSo: (index: number) => boolean, limit: number): number => {
  let count = 0;
  while (count < limit && isSo(count)) count += 1;
  return count;
};

/** What lists begin and end with alike stands there once. */
const mergeItems = (when: string, yes: readonly Node[], no: readonly Node[]): readonly Node[] => {
  const most = Math.min(yes.length, no.length);
  const begin = countWhile((index) => same(yes[index], no[index]), most);
  const end = countWhile((index) => same(yes.at(-1 - index), no.at(-1 - index)), most - begin);
  const between = (items: readonly Node[]) => items.slice(begin, items.length - end);
  const [onlyYes, onlyNo] = [between(yes), between(no)];
  const differing =
    onlyYes.length === onlyNo.length
      ? onlyYes.flatMap((item, index) => merge(when, item, onlyNo[index]) ?? [])
      : [
          ...onlyYes.map((item) => choice(when, item, undefined)),
          ...onlyNo.map((item) => choice(when, undefined, item)),
        ];
  return [...yes.slice(0, begin), ...differing, ...yes.slice(yes.length - end)];
};
