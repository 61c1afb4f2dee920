import { type Each, type Entry, type Node, nodeOf, type Read, same } from "./node.ts";
import { placed, type Values } from "./value.ts";

/** What the constructs were given, and so print, in place of a value. */
interface Sample extends Read {
  readonly json: unknown;
  readonly optional: boolean;
}

/**
 * The whole, and an element: constructs print one or the other. Of an element that is an object the first field is its name: what
 * has that in it is there once for each element.
 */
const samplesIn = (json: unknown, read: string, optional: boolean): readonly Sample[] => {
  const whole = { json, read, optional };
  if (!Array.isArray(json)) return [whole];
  const each = { over: read, optional };
  const [element] = json as readonly unknown[];
  if (typeof element !== "object" || element === null) return [{ json: element, read: ".", optional: false, each }];
  const fields = Object.entries(element).map(([name, field], index) => ({
    json: field as unknown,
    read: `.${name}`,
    optional: Array.isArray(field),
    ...(index === 0 ? { each } : {}),
  }));
  return [whole, ...fields];
};

export const samplesOf = (values: Values): readonly Sample[] =>
  placed(values).flatMap(({ path, value: { sample, read = (value) => value, optional = false } }) =>
    sample === undefined ? [] : samplesIn(sample, read(`$.Values.${path}`), optional),
  );

const readOf = ({ read, each }: Read): Read => ({ read, ...(each === undefined ? {} : { each }) });

const valueOf = (sample: Sample): Node => ({
  at: "value",
  as: typeof sample.json === "string" ? "quote" : typeof sample.json === "number" ? "int" : "toYaml",
  optional: sample.optional,
  ...readOf(sample),
});

/** The value of which this reads one element, unless an `each` inside goes through its elements already. */
const eachIn = (node: Node | undefined): Each | undefined => {
  switch (node?.at) {
    case "value":
    case "spread":
      return node.each;
    case "text":
      return node.parts.map((part) => (typeof part === "string" ? undefined : part.each)).find((each) => each);
    case "map":
      return node.entries.map(([, one]) => eachIn(one)).find((each) => each);
    case "list":
      return node.items.map(eachIn).find((each) => each);
    case "choice":
      return eachIn(node.yes) ?? eachIn(node.no);
    case "each":
    case "scalar":
    case undefined:
      return undefined;
  }
};

/** Goes through the elements of the value that this item reads one element of. */
export const forEach = (item: Node): Node => {
  const each = eachIn(item);
  return each === undefined ? item : { at: "each", item, ...each };
};

/** Puts the values in the place of their samples. */
export const fill = (samples: readonly Sample[]): ((node: Node) => Node) => {
  const wholes = samples.map((sample) => ({ sample, node: nodeOf(sample.json) }));
  const scalars = samples.flatMap(({ json, ...sample }) =>
    typeof json === "string" || typeof json === "number"
      ? [{ text: `${json}`, ...readOf(sample), read: typeof json === "number" ? `int ${sample.read}` : sample.read }]
      : [],
  );

  const text = (scalar: string): Node => {
    const parts = scalars.reduce<readonly (string | Read)[]>(
      (parts, { text, read, each }) =>
        parts.flatMap((part) =>
          typeof part !== "string"
            ? [part]
            : part
                .split(text)
                .flatMap((between, index) =>
                  index === 0 ? [between] : [{ read, ...(each === undefined ? {} : { each }) }, between],
                ),
        ),
      [scalar],
    );
    return parts.length === 1 ? { at: "scalar", scalar } : { at: "text", parts };
  };

  const entry = ([key, node]: Entry): Entry => {
    const spread = wholes.find(
      ({ node: whole }) => whole.at === "map" && whole.entries.some((one) => same(one, [key, node])),
    );
    return [key, spread === undefined ? filled(node) : { at: "spread", ...readOf(spread.sample) }];
  };

  const filled = (node: Node): Node => {
    const whole = wholes.find((one) => same(one.node, node));
    if (whole !== undefined) return valueOf(whole.sample);
    if (node.at === "scalar" && typeof node.scalar === "string") return text(node.scalar);
    if (node.at === "map") return { at: "map", entries: node.entries.map(entry) };
    if (node.at === "list") return { at: "list", items: node.items.map((item) => forEach(filled(item))) };
    if (node.at === "choice")
      return {
        ...node,
        ...(node.yes === undefined ? {} : { yes: filled(node.yes) }),
        ...(node.no === undefined ? {} : { no: filled(node.no) }),
      };
    return node;
  };
  return filled;
};
