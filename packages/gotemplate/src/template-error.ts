// The error of a template, and how the interpreter gives up with it.

/** What is wrong with a template, or with what it is applied to. */
export interface TemplateError {
  /** One sentence. */
  readonly message: string;
  /** Counted from 1. */
  readonly line: number;
  /** The name that was not found in the data. */
  readonly key?: string;
  /** The action that asked for the key, with its braces. */
  readonly expression?: string;
  /** The message may depend on tainted values: it is not to be shown. */
  readonly isTainted: boolean;
}

/** Thrown inside of this package only: parseTemplate and renderTemplate return it. */
export class Failure extends Error {
  readonly key: string | undefined;
  isTainted: boolean;
  position: number | undefined;
  /** The action that it happened in, from brace to brace. */
  action: readonly [number, number] | undefined;

  constructor(
    message: string,
    at: { readonly key?: string; readonly position?: number; readonly isTainted?: boolean } = {},
  ) {
    super(message);
    this.key = at.key;
    this.position = at.position;
    this.isTainted = at.isTainted ?? false;
  }
}

/** Gives up. */
export const fail = (message: string): never => {
  throw new Failure(message);
};
