// Renders all objects to install, in order.
import { Janus, type JanusProps } from "./janus.ts";
import { type Manifest, render } from "./render.ts";

/** All objects to install, in the order in which they are applied: Namespace, CRD, the others. */
export const installation = (props: JanusProps = {}): readonly Manifest[] =>
  render((chart) => new Janus(chart, "Janus", props));
