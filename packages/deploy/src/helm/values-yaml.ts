// Generates values.yaml of the Helm chart.
import { Yaml } from "cdk8s";
import { isGroup, type Values } from "./value.ts";

const width = 120;

const comment = (text: string, pad: string): readonly string[] =>
  text.split(" ").reduce<readonly string[]>((lines, word) => {
    const last = lines.at(-1);
    return last === undefined || `${last} ${word}`.length > width
      ? [...lines, `${pad}# ${word}`]
      : [...lines.slice(0, -1), `${last} ${word}`];
  }, []);

const indented = (text: string, pad: string): readonly string[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => pad + line);

const linesOf = (values: Values, pad: string): readonly string[] =>
  Object.entries(values).flatMap(([name, one], index) => [
    ...(pad === "" && index > 0 ? [""] : []),
    ...comment(one.about, pad),
    ...(isGroup(one)
      ? [`${pad}${name}:`, ...linesOf(one.values, `${pad}  `)]
      : indented(Yaml.stringify({ [name]: one.byDefault }), pad)),
  ]);

/** The defaults, each below its documentation. */
export const valuesYaml = (values: Values): string => `${linesOf(values, "").join("\n")}\n`;
