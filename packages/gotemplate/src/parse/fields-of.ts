// Finds the fields of the data that a template reads: known before there are data.
import { textOf } from "../value/bytes.ts";
import type { Command, Operand, Pipe, Statement, Template } from "./node.ts";

/** A field of the data, and of what it is in turn. */
export interface ReadField {
  /** Such as Options, name. */
  readonly names: readonly string[];
  /** It is read whatever the data are. */
  readonly isCertain: boolean;
}

/** Where in a template: whether its dot is all of the data, and whether it is reached whatever they are. */
interface Reached {
  readonly isRoot: boolean;
  readonly isCertain: boolean;
}

/** These evaluate no further argument once they are decided. */
const LAZY = ["and", "or"];

const ofOperand = (operand: Operand, reached: Reached): readonly ReadField[] => {
  switch (operand.node) {
    case "field":
      return reached.isRoot ? [{ names: operand.names.map(textOf), isCertain: reached.isCertain }] : [];
    case "variable":
      return operand.name === "$" && operand.names.length > 0
        ? [{ names: operand.names.map(textOf), isCertain: reached.isCertain }]
        : [];
    case "chain":
      return ofOperand(operand.of, reached);
    case "pipe":
      return ofPipe(operand, reached);
    case "bool":
    case "dot":
    case "nil":
    case "number":
    case "string":
    case "function":
      return [];
  }
};

const ofCommand = ({ words }: Command, reached: Reached): readonly ReadField[] => {
  const [first] = words;
  const isLazy = first.node === "function" && LAZY.includes(first.name);
  return words.flatMap((word, at) => ofOperand(word, isLazy && at > 1 ? { ...reached, isCertain: false } : reached));
};

const ofPipe = ({ commands }: Pipe, reached: Reached): readonly ReadField[] =>
  commands.flatMap((command) => ofCommand(command, reached));

const ofStatements = (statements: readonly Statement[], reached: Reached): readonly ReadField[] =>
  statements.flatMap((statement): readonly ReadField[] => {
    switch (statement.node) {
      case "action":
        return ofPipe(statement.pipe, reached);
      case "template":
        return statement.pipe === undefined ? [] : ofPipe(statement.pipe, reached);
      case "if":
      case "with":
      case "range": {
        const inside = { ...reached, isCertain: false };
        const body = statement.node === "if" ? inside : { ...inside, isRoot: false };
        return [
          ...ofPipe(statement.pipe, reached),
          ...ofStatements(statement.body, body),
          ...ofStatements(statement.otherwise ?? [], inside),
        ];
      }
      case "text":
      case "break":
      case "continue":
        return [];
    }
  });

/** But for those of templates that it defines. */
export const fieldsOf = ({ main }: Template): readonly ReadField[] =>
  ofStatements(main, { isRoot: true, isCertain: true });
