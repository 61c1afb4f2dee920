// Types and pure functions about Kubernetes objects, names, errors and JSON, for all other packages.
export * from "./api-error.ts";
export * from "./dns-name.ts";
export * from "./error-class.ts";
export * from "./go-duration.ts";
export * from "./int32.ts";
export * from "./json-path.ts";
export * from "./json.ts";
export * from "./kube-object.ts";
export { lastEqual, memoized, memoizedBy, memoizedText } from "./memoize.ts";
export * from "./micro-time.ts";
export * from "./object-size.ts";
export * from "./resource.ts";
export type { SyntaxMistake } from "./syntax-mistake.ts";
export * from "./time.ts";
export { type Document, readYaml, readYamlInOrder } from "./yaml/read-yaml.ts";
export { plainScalar } from "./yaml/scalar.ts";
export { textOfBytes } from "./yaml/text-of-bytes.ts";
export { YamlError } from "./yaml/yaml-error.ts";
