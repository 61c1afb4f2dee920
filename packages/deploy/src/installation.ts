import { Janus, type JanusProps } from "./janus.ts";
import { type Manifest, render } from "./render.ts";

/** Everything to install, in apply order: namespace, CRD, the rest. */
export const installation = (props: JanusProps = {}): readonly Manifest[] =>
  render((chart) => new Janus(chart, "Janus", props));
