// Redraws a text in place on a terminal.
import stringWidth from "string-width";

/** A terminal, as far as it is drawn on. */
export type Terminal = Pick<NodeJS.WriteStream, "columns" | "rows" | "write" | "on" | "removeListener">;

/** A text on a terminal that is drawn anew in place. */
export interface LiveScreen {
  readonly draw: () => void;
  /** Leaves the text as it is. */
  readonly end: () => void;
}

interface Drawn {
  readonly text: string;
  readonly width: number;
}

const UP_AND_ERASE = "\u001b[1A\u001b[2K";

/** How many rows more a text takes in a terminal that has been made narrower since: the terminal wraps its lines. */
const rowsAdded = ({ text, width }: Drawn, narrower: number): number => {
  const added = (columns: number): number => Math.ceil(columns / narrower) - 1;
  return text
    .split("\n")
    .map((line) => stringWidth(line))
    .map((columns) => Math.floor(columns / width) * added(width) + Math.max(0, added(columns % width)))
    .reduce((sum, one) => sum + one, 0);
};

/**
 * Draws `frame`, which is asked for the text again each time: at each `draw`, when the terminal gets another size, and each second.
 *
 * Guarantees: what was on the terminal before stays, and nothing of a former text, also where the terminal was made narrower.
 * Assumes:    nothing else is written to the terminal until the end.
 */
export const liveScreen = async (
  terminal: Terminal,
  frame: (width: number, height: number) => string,
): Promise<LiveScreen> => {
  const { createLogUpdate } = await import("log-update");
  // Its own type asks for a whole stream, of which it uses no more than this.
  const redraw = createLogUpdate(terminal as NodeJS.WriteStream);
  let drawn: Drawn | undefined;
  const draw = (): void => {
    const { columns: width, rows: height } = terminal;
    // While it is minimized, there is nothing to draw on.
    if (width === 0 || height === 0) return;
    const text = frame(width, height);
    if (text === "") return;
    if (drawn !== undefined && width < drawn.width)
      terminal.write(UP_AND_ERASE.repeat(Math.min(rowsAdded(drawn, width), height)));
    drawn = { text, width };
    redraw(text);
  };
  terminal.on("resize", draw);
  const ticking = setInterval(draw, 1000);
  return {
    draw,
    end: () => {
      clearInterval(ticking);
      terminal.removeListener("resize", draw);
      redraw.done();
    },
  };
};
