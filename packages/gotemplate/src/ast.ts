// The syntax tree of a template.

export type Node =
  | { readonly type: "dot" }
  | { readonly type: "nil" }
  | { readonly type: "boolean"; readonly value: boolean }
  /** isInteger: written without a point or an exponent. */
  | { readonly type: "number"; readonly value: number; readonly isInteger: boolean }
  | { readonly type: "string"; readonly value: string }
  | { readonly type: "identifier"; readonly name: string }
  /** `.A.B` */
  | { readonly type: "field"; readonly path: readonly string[] }
  /** `$x.A`; the name with its dollar, `$` is the data of the template. */
  | { readonly type: "variable"; readonly name: string; readonly path: readonly string[] }
  /** `(pipeline).A` */
  | { readonly type: "chain"; readonly of: Node; readonly path: readonly string[] }
  | { readonly type: "pipeline"; readonly pipeline: Pipeline };

export interface Command {
  readonly args: readonly Node[];
  /** As it is written, for messages. */
  readonly text: string;
}

export interface Pipeline {
  readonly declared: readonly string[];
  /** `$x = …` of a variable that there is already. */
  readonly isAssignment: boolean;
  readonly commands: readonly Command[];
  readonly line: number;
  readonly text: string;
}

export interface Branch {
  readonly pipeline: Pipeline;
  readonly body: readonly Statement[];
  readonly otherwise: readonly Statement[];
}

export type Statement =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "action"; readonly pipeline: Pipeline }
  | ({ readonly type: "if" | "with" | "range" } & Branch)
  | { readonly type: "template"; readonly name: string; readonly pipeline: Pipeline | undefined; readonly line: number }
  | { readonly type: "break" | "continue" };

export interface Template {
  readonly body: readonly Statement[];
  /** Those of `define` and `block`. */
  readonly defined: ReadonlyMap<string, readonly Statement[]>;
}
