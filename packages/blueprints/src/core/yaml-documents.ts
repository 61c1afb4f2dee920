// Reads the YAML that templates give, without saying what stands in it: it may have values of Secrets.
import { equal, isObject, type JsonObject, readYaml, without, YamlError } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { isTainted, revealed, type Text } from "./text.ts";

const parsed = (text: string): E.Either<string, readonly unknown[]> =>
  E.tryCatch(
    () => readYaml(text).map(({ value }) => value),
    (error) => (error instanceof YamlError ? `is not YAML: line ${error.line}: ${error.message}` : "is not YAML"),
  );

/** The fields in which a Secret keeps its values. */
const VALUES = ["data", "stringData"];

/** Stands in the place of a Secret, to see what depends on it. */
const OTHER = "janus";

const replaced = ({ pieces }: Text): string =>
  pieces.map(({ text, isTainted: isSecret }) => (isSecret ? OTHER : text)).join("");

const objects = (all: readonly unknown[]): E.Either<string, readonly JsonObject[]> => {
  const given = all.filter((one) => one !== null);
  return given.every(isObject) ? E.right(given) : E.left("must be objects");
};

/**
 * Reads the documents of a text; empty ones are left out. Left: what is wrong, without the text itself.
 *
 * Guarantees: whatever the Secrets are that it depends on, the documents are the same, but for the values of the Secrets among them.
 *
 * @param isSecret whether a document is a Secret
 */
export const yamlDocuments = (
  text: Text,
  isSecret: (document: JsonObject) => boolean,
): E.Either<string, readonly JsonObject[]> =>
  E.flatMap(E.flatMap(parsed(revealed(text)), objects), (documents) => {
    if (!isTainted(text)) return E.right(documents);
    const refusal = E.left("must not depend on a Secret, but for the data of Secrets");
    const others = E.flatMap(parsed(replaced(text)), objects);
    if (E.isLeft(others) || others.right.length !== documents.length) return refusal;
    const isSame = documents.every((document, at) => {
      const other = others.right[at];
      return isSecret(document) ? equal(without(document, VALUES), without(other, VALUES)) : equal(document, other);
    });
    return isSame ? E.right(documents) : refusal;
  });
