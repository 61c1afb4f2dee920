import { readFileSync } from "node:fs";
import { parse, parseAllDocuments } from "yaml";

/** @param {string} name */
const read = (name) => readFileSync(new URL(name, import.meta.url), "utf8");

export const release = parse(read("release.yaml"));
export const live = parseAllDocuments(read("live.yaml")).map((document) => document.toJS());
