/** What is wrong with a text of YAML, and where; never with its text, which may be that of a Secret. */
export class YamlError extends Error {
  /** From 1. */
  readonly line: number;
  readonly column: number;

  constructor(message: string, { line, column }: { readonly line: number; readonly column: number }) {
    super(message);
    this.line = line;
    this.column = column;
  }
}
