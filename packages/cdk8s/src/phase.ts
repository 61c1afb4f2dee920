// Phases of Blueprints as typed functions, and references to what they put out.
import { argTables, type ArgType } from "@janus/blueprints/authoring";
import type { JsonObject } from "@janus/types";

type Tables = typeof argTables;

/** The name of a function, such as `KubeTask`. */
export type FunctionName = keyof Tables;

/** What a type of argument is written as. Any of them may be a template. */
interface Written {
  readonly text: string;
  readonly content: string;
  readonly texts: readonly string[] | string;
  readonly words: readonly string[] | string;
  readonly integer: number | string;
  readonly boolean: boolean | string;
  readonly map: Readonly<Record<string, string>> | string;
  readonly object: object | string;
}

type TypeOfArg<A> = A extends { readonly type: infer T extends ArgType } ? Written[T] : never;

/** The arguments of a function. */
export type FunctionArgs<Name extends FunctionName> = {
  readonly [K in keyof Tables[Name] as Tables[Name][K] extends { readonly isRequired: true } ? K : never]: TypeOfArg<
    Tables[Name][K]
  >;
} & {
  readonly [K in keyof Tables[Name] as Tables[Name][K] extends { readonly isRequired: true } ? never : K]?: TypeOfArg<
    Tables[Name][K]
  >;
};

/** A Secret or ConfigMap that a phase reads. Each text may be a template. */
export interface PhaseObject {
  readonly kind: "Secret" | "ConfigMap";
  readonly name: string;
  /** @default - the namespace of the ActionSet */
  readonly namespace?: string;
}

export interface PhaseProps<Name extends FunctionName = FunctionName> {
  /** Its name, of which there is one in its action. */
  readonly name: string;
  readonly args: FunctionArgs<Name>;
  /**
   * What it reads besides, by the names that templates have for it.
   *
   * @default - nothing
   */
  readonly objects?: Readonly<Record<string, PhaseObject>>;
}

const IDENTIFIER = /^[A-Za-z_]\w*$/u;

/** The path of a member of a map, as templates have it. */
export const memberOf = (map: string, name: string): string =>
  IDENTIFIER.test(name) ? `${map}.${name}` : `(index ${map} ${JSON.stringify(name)})`;

/** One phase of an action. It is made by one of {@link functions}. */
export class Phase {
  readonly name: string;
  /** As it is printed. */
  readonly manifest: JsonObject;

  constructor(func: FunctionName, { name, args, objects }: PhaseProps) {
    this.name = name;
    this.manifest = { func, name, ...(objects === undefined ? {} : { objects }), args } as unknown as JsonObject;
  }

  /** An output of it, for later phases and artifacts: a template, which may be a part of a text. */
  output(key: string): string {
    return `{{ ${memberOf(`${memberOf(".Phases", this.name)}.Output`, key)} }}`;
  }
}

/** The functions of phases by their names: `const { KubeTask } = functions`. */
export const functions = Object.fromEntries(
  Object.keys(argTables).map((func) => [func, (props: PhaseProps) => new Phase(func as FunctionName, props)]),
) as { readonly [Name in FunctionName]: (props: PhaseProps<Name>) => Phase };
