// The syntax tree of a template.

/** Where in the text it begins, in bytes. */
interface Placed {
  readonly at: number;
}

export interface NumberNode extends Placed {
  readonly node: "number";
  readonly text: string;
  readonly int: bigint | undefined;
  readonly float: number | undefined;
  /** How it is written makes it a float where anything goes. */
  readonly isFloat: boolean;
}

export type Operand =
  | (Placed & { readonly node: "bool"; readonly value: boolean })
  | (Placed & { readonly node: "dot" | "nil" })
  | NumberNode
  | (Placed & { readonly node: "string"; readonly value: string })
  | (Placed & { readonly node: "function"; readonly name: string })
  | (Placed & { readonly node: "field"; readonly names: readonly string[] })
  | (Placed & { readonly node: "variable"; readonly name: string; readonly names: readonly string[] })
  | (Placed & { readonly node: "chain"; readonly of: Operand; readonly names: readonly string[] })
  | Pipe;

export interface Command extends Placed {
  readonly words: readonly [Operand, ...Operand[]];
}

export interface Pipe extends Placed {
  readonly node: "pipe";
  readonly commands: readonly Command[];
  readonly variables: readonly string[];
  readonly isAssignment: boolean;
  /** The action that it is of, from brace to brace. */
  readonly action: readonly [number, number];
}

export interface Branch extends Placed {
  readonly node: "if" | "with" | "range";
  readonly pipe: Pipe;
  readonly body: readonly Statement[];
  readonly otherwise: readonly Statement[] | undefined;
  /** Variables that are assigned to in either branch, whether it is taken or not. */
  readonly assigned: readonly string[];
  /** It may leave the loop that it is in. */
  readonly leaves: boolean;
}

export type Statement =
  | (Placed & { readonly node: "text"; readonly text: string })
  | (Placed & { readonly node: "action"; readonly pipe: Pipe })
  | Branch
  | (Placed & { readonly node: "template"; readonly name: string; readonly pipe: Pipe | undefined })
  | (Placed & { readonly node: "break" | "continue" });

/** A template, parsed. */
export interface Template {
  readonly main: readonly Statement[];
  readonly defined: ReadonlyMap<string, readonly Statement[]>;
  /** Bytes. */
  readonly text: string;
  /** It calls a function that changes a map. */
  readonly changesMaps: boolean;
}
