/** A syntax error in a text, such as that of a gate, with its position. */
export interface SyntaxMistake {
  readonly message: string;
  /** The first character that is wrong, counted from 1; one past the last where something is missing at the end. */
  readonly position: number;
}
