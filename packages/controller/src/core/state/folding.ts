// The functions that fold what happened into the observations, each under the name that effects give it.
import type { Fault, Fold } from "./fold.ts";
import type { RunFolds } from "./handle-answer.ts";
import type { About, Answered, Missed } from "./happened.ts";
import type { Observations } from "./observations.ts";

/** `run` folds others with this answer, or with another one. */
export interface Folding extends About {
  readonly run: RunFolds;
}

/** By their names, what folds an answer. */
export type Folds<Data extends Fold> = {
  readonly [Type in Data["type"]]: (
    known: Observations,
    fold: Extract<Data, { readonly type: Type }>,
    answered: Answered,
    folding: Folding,
  ) => Observations;
};

/** By their names, what folds in that there was no answer. */
export type Faults<Data extends Fault> = {
  readonly [Type in Data["type"]]: (
    known: Observations,
    fold: Extract<Data, { readonly type: Type }>,
    missed: Missed,
    folding: Folding,
  ) => Observations;
};
