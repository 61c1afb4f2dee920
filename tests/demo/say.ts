import { styleText } from "node:util";

/** Colours only where they are wanted: on a terminal, and not with NO_COLOR. */
const styled = (format: Parameters<typeof styleText>[0]) => (text: string) =>
  styleText(format, text, { stream: process.stdout });

export const bold = styled("bold");
export const dim = styled("dim");
export const green = styled("green");
export const yellow = styled("yellow");
export const red = styled("red");

let isSilent = false;
/** From now on nothing is said any more. */
export const silence = (): void => {
  isSilent = true;
};

/** One line, two columns in for each level. */
export const say = (line = "", level = 1): void => {
  if (!isSilent) process.stdout.write(line === "" ? "\n" : `${"  ".repeat(level)}${line}\n`);
};

/** Of the terminal; without one, that of most. */
const width = (): number => Math.min(process.stdout.columns || 80, 120);

/** Text of any length, broken between words, each line `indent` columns in. */
export const sayWrapped = (text: string, indent: number, style: (line: string) => string = (line) => line): void => {
  const room = Math.max(20, width() - indent);
  for (const line of text.match(new RegExp(`.{1,${room}}(?:\\s|$)|\\S+\\s?`, "gu")) ?? [])
    say(`${" ".repeat(indent)}${style(line.trimEnd())}`, 0);
};

export const heading = (title: string): void => {
  say();
  sayWrapped(title, 0, bold);
};
