// Key pairs of age, for tests: their private keys are the hash of a text.
export interface Pair {
  readonly identity: string;
  readonly recipient: string;
}

export const ANNA: Pair = {
  identity: "AGE-SECRET-KEY-1X0Y9640ALA6KUQ6DG0A4ET5YN2K5TCLUHA892EWYT4FM92W7SVWQFKT850",
  recipient: "age1hp2vq4xpac8jgnwazh7y624qseu5pqskmvpu89ee5l85648dycsswrfcdv",
};
export const BEN: Pair = {
  identity: "AGE-SECRET-KEY-1JUWZMQRASNTAV8AQ7QGTUNVXLRKNYKP3Q79US9SH7Z8F2YHPKELSLA4N86",
  recipient: "age1cqm6acql0t2nq28rm4e2faydwt5a4ee4w02wrg4xnz3fk85eqfzsxe2j9m",
};
export const CHRIS: Pair = {
  identity: "AGE-SECRET-KEY-1WF2LY0PF2WAWC95GP42W5S4F3CUCPGRQAK38L4R8FSHGAUAAQYFSRX5H2K",
  recipient: "age1ac20wnkq68fwgtw5xx5n55cxec9l30zpsl2wdlm9ea8wrwzrss2sestffd",
};
