// Finds the steps that no controller can mean: they would be decided on again and again, at full speed.
import type { Step } from "./controller.ts";

/** The purpose of an effect, if it has one; else its type. */
const nameOf = (effect: unknown): string => {
  const { purpose, type } = Object(effect) as { readonly purpose?: unknown; readonly type?: unknown };
  return typeof purpose === "string" ? purpose : typeof type === "string" ? type : typeof effect;
};

/** What effects are for, for messages; the first few. */
export const namesOf = (effects: readonly unknown[]): string =>
  [...effects.slice(0, 5).map(nameOf), ...(effects.length > 5 ? ["…"] : [])].join(", ");

/** What is wrong with a step, whatever it was decided on. */
export const defectOf = (step: Step<unknown>): string | undefined => {
  if (step.type === "run" && step.effects.length === 0)
    return "decide returned a run without effects: nothing can have changed when it is decided again";
  if (step.type === "wait" && Number.isNaN(step.until))
    return `decide returned a wait until NaN (because: ${step.because})`;
  return undefined;
};
