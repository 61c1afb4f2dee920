// Detects whether the output is a terminal, and colours texts.
import { styleText } from "node:util";
import { visible } from "./visible.ts";

/** The place where output goes: a terminal, or a pipe or file. */
export interface Output {
  /** Whether a part can be drawn anew: one without a size, as of some containers, is written to like a file. */
  readonly isTerminal: boolean;
  /** Columns; of a pipe or file 80. */
  readonly width: number;
  readonly hasColour: boolean;
  readonly write: (text: string) => void;
}

type Stream = NodeJS.WriteStream;

/** https://no-color.org, and `TERM=dumb`; a pipe or file has no colour unless FORCE_COLOR asks for it. */
const hasColour = (stream: Stream, env: NodeJS.ProcessEnv): boolean => {
  const { NO_COLOR: none = "", FORCE_COLOR: forced = "", TERM: terminal = "" } = env;
  if (none !== "") return false;
  return forced === "" ? stream.isTTY && terminal !== "dumb" : forced !== "0";
};

/** A reader such as `head` that has seen enough is no error. */
export const endWithReader = (stream: Stream): void =>
  void stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });

export const outputTo = (stream: Stream, env: NodeJS.ProcessEnv = process.env): Output => ({
  isTerminal: stream.isTTY && stream.columns > 0 && stream.rows > 0,
  width: stream.columns || 80,
  hasColour: hasColour(stream, env),
  // A pipe or file gets every byte as it is.
  write: (text) => void stream.write(stream.isTTY ? visible(text) : text),
});

type Colour = "green" | "red" | "yellow" | "cyan" | "dim" | "bold";

/** Colours texts, or leaves them as they are. */
export type Paint = (colour: Colour, text: string) => string;

export const painter = ({ hasColour }: Pick<Output, "hasColour">): Paint =>
  hasColour ? (colour, text) => styleText(colour, text, { validateStream: false }) : (_, text) => text;
