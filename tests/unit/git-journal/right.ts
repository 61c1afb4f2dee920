// Takes the value out of an Either that must be right.
import * as E from "fp-ts/lib/Either.js";

export const right = <A>(either: E.Either<string, A>): A => {
  if (E.isLeft(either)) throw new Error(either.left);
  return either.right;
};
