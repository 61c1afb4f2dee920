// Finds in a source file its first comment, the sentence that says what it is for, and its exported names.

/** The comment with which a file begins, after a shebang, as one line without its signs; empty if it begins with code. */
export const firstComment = (text: string): string =>
  (/^(?:#!.*\n)?(\/\*\*[^]*?\*\/|(?:\/\/.*(?:\n|$))+)/u.exec(text)?.[1] ?? "")
    .replaceAll(/^\s*(?:\/\*\*|\*\/|\*|\/\/)|\*\/\s*$/gmu, "")
    .replaceAll(/\s+/gu, " ")
    .trim();

/** The sentence that says what a file is for. */
export const firstSentence = (text: string): string => firstComment(text).split(/(?<=\.) /u)[0] ?? "";

/** The names that a file exports, without those that it passes on. */
export const exportedNames = (text: string): readonly string[] =>
  [...text.matchAll(/^export (?:declare )?(?:const|function|interface|type|class) (\w+)/gmu)].map(
    ([, name = ""]) => name,
  );
