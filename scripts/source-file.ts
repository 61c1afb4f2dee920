// Finds in a source file the sentence in its first line and its exported names, for `npm run where`.

/** The comment with which a file begins, after a shebang, as one line without its signs; empty if it begins with code. */
const firstComment = (text: string): string =>
  (/^(?:#!.*\n)?(\/\*\*.*?\*\/|(?:\/\/.*(?:\n|$))+)/su.exec(text)?.[1] ?? "")
    .replaceAll(/^\s*(?:\/\*\*|\*\/|\*|\/\/)|\*\/\s*$/gmu, "")
    .replaceAll(/\s+/gu, " ")
    .trim();

/** The sentence that says what a file is for. */
export const firstSentence = (text: string): string => firstComment(text).split(/(?<=\.) /u)[0] ?? "";

const exportedNames = (text: string): readonly string[] =>
  [...text.matchAll(/^export (?:declare )?(?:const|function|interface|type|class) (\w+)/gmu)].map(
    ([, name = ""]) => name,
  );

/** The line to print for a file whose path, first comment and exported names have all of the words; undefined for others. */
export const lineFor = (file: string, text: string, words: readonly string[]): string | undefined => {
  const names = exportedNames(text);
  const searched = [file, firstComment(text), ...names].join(" ").toLowerCase();
  if (!words.every((word) => searched.includes(word.toLowerCase()))) return undefined;
  const sentence = firstSentence(text);
  return `${file}  ${sentence === "" ? names.join(", ") : sentence}`;
};
