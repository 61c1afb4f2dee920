// Wraps text to a number of columns.

/** The text in lines of at most so many columns; a longer word has a line of its own. */
export const wrap = (text: string, width: number): readonly string[] =>
  text.split("\n").flatMap((line) => {
    const lines: string[] = [];
    let current = "";
    for (const word of line.split(" ")) {
      const longer = current === "" ? word : `${current} ${word}`;
      if (longer.length <= width || current === "") current = longer;
      else {
        lines.push(current);
        current = word;
      }
    }
    return [...lines, current];
  });

/** The text, with every line after the first one indented, in lines of at most so many columns. */
export const hanging = (text: string, width: number, indent: number): string =>
  wrap(text, Math.max(20, width - indent)).join(`\n${" ".repeat(indent)}`);

/** Shortened to so many columns. */
export const shortened = (text: string, width: number): string =>
  text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`;
