import { goProgram } from "../../fixtures/go-program.ts";

/** Argo CD's own code; `main.go` says what it can be asked. */
const program = goProgram(import.meta.dirname, "argo-cd", "five minutes");

export const hasArgoCd = program.isAvailable;
export const buildArgoCd = program.build;
/** In ms, on a busy machine. */
export const ARGO_CD_BUILD = 1_200_000;

/** Rejects with what Argo CD complains of. */
export const askArgoCd = async <Answer>(subject: string, questions: readonly object[]): Promise<readonly Answer[]> => {
  const answers = await program.ask<{ readonly answer: Answer; readonly error?: string }>(subject, questions);
  return answers.map(({ answer, error }) => {
    if (error !== undefined) throw new Error(error);
    return answer;
  });
};
