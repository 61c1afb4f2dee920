// Ranks source files by how well they fit some words, for `npm run where`.
import { exportedNames, firstComment, firstSentence } from "./source-file.ts";

export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** As many lines as are read at a glance. */
const MOST = 15;

/** In lower case and the singular. */
const stemOf = (word: string): string => word.toLowerCase().replace(/(?<=\w\w)s$/u, "");

/** The words of a text; those of a name, and the name itself. */
const wordsIn = (text: string): readonly string[] =>
  text
    .split(/[^\w-]+/u)
    .flatMap((word) => [word, ...word.split(/[-_]|(?<=[a-z\d])(?=[A-Z])/u)])
    .map(stemOf);

/** The words of each place in which words are looked for, and what a whole one is worth there; a part of one is worth a tenth. */
const placesOf = ({ path, text }: SourceFile): readonly (readonly [words: readonly string[], worth: number])[] => {
  const name = /[^/]*(?=\.m?ts$)/u.exec(path)?.[0] ?? path;
  return [
    [[stemOf(name)], 5],
    [wordsIn(name), 4],
    [wordsIn(exportedNames(text).join(" ")), 3],
    [wordsIn(path), 2],
    [wordsIn(firstComment(text)), 1],
  ];
};

/** What each word is worth in a file: that of the best place. */
const worthsOf = (file: SourceFile, words: readonly string[]): readonly number[] => {
  const places = placesOf(file);
  const worthAt = (word: string, [found, worth]: (typeof places)[number]): number => {
    if (found.includes(word)) return worth;
    return found.some((one) => one.includes(word)) ? worth / 10 : 0;
  };
  return words.map(stemOf).map((word) => Math.max(...places.map((place) => worthAt(word, place))));
};

const lineOf = ({ path, text }: SourceFile): string => {
  const sentence = firstSentence(text);
  return `${path}  ${sentence === "" ? exportedNames(text).join(", ") : sentence}`;
};

/**
 * The lines to print: first the files that have all of the words in their path, exported names or first comment, then, below
 * a line that says so, those that have some; the best ones first, at most 15, and how many more have all.
 */
export const ranked = (files: readonly SourceFile[], words: readonly string[]): readonly string[] => {
  const rated = files
    .map((file) => {
      const worths = worthsOf(file, words).filter((worth) => worth > 0);
      return { file, count: worths.length, sum: worths.reduce((total, worth) => total + worth, 0) };
    })
    .filter(({ count }) => count > 0)
    .toSorted((a, b) => b.count - a.count || b.sum - a.sum || (a.file.path < b.file.path ? -1 : 1));
  const all = rated.filter(({ count }) => count === words.length);
  const some = rated.slice(all.length, MOST);
  return [
    ...all.slice(0, MOST).map(({ file }) => lineOf(file)),
    ...(some.length === 0 ? [] : ["Some of the words:", ...some.map(({ file }) => lineOf(file))]),
    ...(all.length > MOST ? [`and ${all.length - MOST} more: add a word`] : []),
  ];
};
