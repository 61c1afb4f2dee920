/** The error of a text that is not valid YAML, with its position; never with the text, which may be of a Secret. */
export class YamlError extends Error {
  /** The line, from 1. */
  readonly line: number;
  readonly column: number;

  constructor(message: string, { line, column }: { readonly line: number; readonly column: number }) {
    super(message);
    this.line = line;
    this.column = column;
  }
}

/** Refuses what is in this line and column, both from 0. */
export const refuseAt = (
  message: string,
  { line, column }: { readonly line: number; readonly column: number },
): never => {
  throw new YamlError(message, { line: line + 1, column: column + 1 });
};
