// All functions of templates by name: those of Go and of sprig 2.22, and those that are refused.
import { BUILTINS } from "./builtins.ts";
import { DATE_FUNCTIONS } from "./dates.ts";
import { DICTS } from "./dicts.ts";
import { ENCODINGS } from "./encodings.ts";
import type { FunctionTable } from "./go-function.ts";
import { KUBECTL } from "./kubectl.ts";
import { LISTS } from "./lists.ts";
import { NUMBERS } from "./numbers.ts";
import { PATHS } from "./paths.ts";
import { RANDOM } from "./random.ts";
import { REGULAR_EXPRESSIONS } from "./regular-expressions.ts";
import { STRINGS } from "./strings.ts";
import { URLS } from "./urls.ts";
import { VALUES } from "./values.ts";
import { VERSIONS } from "./versions.ts";

/** By what they are for. Of two with one name the later one is there. */
const GROUPS: Readonly<Record<string, FunctionTable>> = {
  "Of Go": BUILTINS,
  Strings: STRINGS,
  Numbers: NUMBERS,
  Lists: LISTS,
  Dictionaries: DICTS,
  "Defaults and types": VALUES,
  Dates: DATE_FUNCTIONS,
  Encodings: ENCODINGS,
  Paths: PATHS,
  Random: RANDOM,
  "Regular expressions": REGULAR_EXPRESSIONS,
  URLs: URLS,
  Versions: VERSIONS,
};

/** Without a prototype: no name is there that nobody has put there. */
export const FUNCTIONS: FunctionTable = Object.assign(
  Object.create(null) as FunctionTable,
  ...Object.values(GROUPS),
) as FunctionTable;

/** With those of kubectl's output format go-template. */
const WITH_KUBECTL: FunctionTable = Object.assign(Object.create(null) as FunctionTable, FUNCTIONS, KUBECTL);

/** Which functions a template has: those of Go and sprig, or also those of kubectl. */
export type Dialect = "sprig" | "kubectl";

export const functionsOf = (dialect: Dialect): FunctionTable => (dialect === "kubectl" ? WITH_KUBECTL : FUNCTIONS);

const CONTROLLER = "it would read the controller's own environment";
const SECRETS = "make keys and passwords where they are kept, and refer to a Secret";

const REFUSED = new Map([
  ["env", CONTROLLER],
  ["expandenv", CONTROLLER],
  ["getHostByName", "it would use the controller's network"],
  ["call", "there are no functions in the data"],
  ...[
    "derivePassword",
    "genPrivateKey",
    "genCA",
    "genSelfSignedCert",
    "genSignedCert",
    "buildCustomCert",
    "encryptAES",
    "decryptAES",
  ].map((name): [string, string] => [name, SECRETS]),
]);

/** Why a function that Go and sprig have is not available. */
export const refusal = (name: string): string | undefined => {
  const why = REFUSED.get(name);
  return why === undefined ? undefined : `function "${name}" is not available: ${why}`;
};

/** The names of all functions, by what they are for. */
export const functionGroups: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries(GROUPS).map(([group, table]) => [
    group,
    Object.keys(table).filter((name) => FUNCTIONS[name] === table[name]),
  ]),
);

/** The functions that Go and sprig have and that are not available, with the reason. */
export const refusedFunctions: Readonly<Record<string, string>> = Object.fromEntries(REFUSED);
