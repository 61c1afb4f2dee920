import { parser } from "@prometheus-io/lezer-promql";

/** A metric that an expression asks for. */
export interface Selected {
  readonly metric: string;
  /** The labels by which it selects. */
  readonly labels: readonly string[];
}

/** What an expression of PromQL is made of; an error where it is none. Source: the grammar of Prometheus' own editor. */
export const selectorsIn = (expression: string): readonly Selected[] => {
  const selectors: { metric: string; readonly labels: string[] }[] = [];
  parser.parse(expression).iterate({
    enter: ({ name, type, from, to }) => {
      const text = expression.slice(from, to);
      if (type.isError) throw new Error(`not PromQL at ${from}: ${expression}`);
      if (name === "VectorSelector") selectors.push({ metric: "", labels: [] });
      const last = selectors.at(-1);
      if (name === "Identifier" && last !== undefined) last.metric = text;
      if (name === "UnquotedLabelMatcher") last?.labels.push(text.split(/[=!]/)[0] ?? "");
    },
  });
  return selectors;
};
