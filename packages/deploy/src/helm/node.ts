/**
 * YAML in which some places are decided when the chart is rendered.
 *
 * Conditions and what is read are in the language of Go templates. They reach the values by `$`, and what is inside an `each` also by `.`.
 */
export type Node = Plain | Choice | Filled;

type Plain =
  | { readonly at: "scalar"; readonly scalar: string | number | boolean | null }
  | { readonly at: "map"; readonly entries: readonly Entry[] }
  | { readonly at: "list"; readonly items: readonly Node[] };

export type Entry = readonly [key: string, node: Node];

/** One or the other. Where there is only one, its entry, item or document may be absent. */
export interface Choice {
  readonly at: "choice";
  readonly when: string;
  readonly yes?: Node;
  readonly no?: Node;
}

/** Stands for a value. */
type Filled =
  | ({ readonly at: "value"; readonly as: "quote" | "int" | "toYaml"; readonly optional: boolean } & Read)
  /** A string with values in it. */
  | { readonly at: "text"; readonly parts: readonly (string | Read)[] }
  /** More entries of the map that it is an entry of. */
  | ({ readonly at: "spread" } & Read)
  /** An item for each element of a value. */
  | ({ readonly at: "each"; readonly item: Node } & Each);

export interface Read {
  readonly read: string;
  /** What is read belongs to one element of this value. */
  readonly each?: Each;
}

export interface Each {
  readonly over: string;
  /** Whether the list is left out where it would be empty. */
  readonly optional: boolean;
}

export const nodeOf = (json: unknown): Node => {
  if (Array.isArray(json)) return { at: "list", items: json.map(nodeOf) };
  if (typeof json === "object" && json !== null)
    return { at: "map", entries: Object.entries(json).map(([key, one]) => [key, nodeOf(one)] as const) };
  return { at: "scalar", scalar: json as string | number | boolean | null };
};

const texts = new WeakMap<Node | Entry, string>();

const textOf = (one: Node | Entry): string => {
  const text = texts.get(one) ?? JSON.stringify(one);
  texts.set(one, text);
  return text;
};

export const same = <A extends Node | Entry>(one: A | undefined, other: A | undefined): boolean =>
  one === other || (one !== undefined && other !== undefined && textOf(one) === textOf(other));
