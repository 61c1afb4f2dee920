import { digitsOf, parseJson } from "@janus/types";
import type { DocumentOptions, ScalarTag, SchemaOptions, Tags } from "yaml";

/** The octal numbers of YAML 1.2, which kubectl reads as well as those of 1.1. */
const octal: ScalarTag = {
  tag: "tag:yaml.org,2002:int",
  default: true,
  format: "OCT",
  test: /^[-+]?0o[0-7_]+$/,
  resolve: (text) => {
    const digits = Number.parseInt(text.replace(/^[-+]?0o/, "").replaceAll("_", ""), 8);
    return text.startsWith("-") ? -digits : digits;
  },
};

const MOST_INTEGER = 2n ** 63n - 1n;

/** Integers that JavaScript would round. kubectl has all of 64 bits, as the API server has. */
export const largeInteger: ScalarTag = {
  tag: "tag:yaml.org,2002:int",
  default: true,
  test: /^[-+]?[1-9][0-9_]{15,}$/,
  identify: (value) => digitsOf(value) !== undefined,
  resolve: (text) => {
    const digits = text.replaceAll(/[+_]/gu, "");
    const exact = BigInt(digits);
    return exact > MOST_INTEGER || exact < -MOST_INTEGER - 1n ? Number(digits) : parseJson(digits);
  },
  stringify: ({ value }) => digitsOf(value) ?? "",
};

/** kubectl makes a text of what it says in base64. */
const binary: ScalarTag = {
  tag: "tag:yaml.org,2002:binary",
  resolve: (text) => Buffer.from(text, "base64").toString("utf8"),
};

/** Of these kubectl has texts, or nothing that JSON has. */
const NOT_OF_KUBECTL = ["timestamp", "binary", "omap", "pairs", "set"].map((name) => `tag:yaml.org,2002:${name}`);

/** Nor does it know numbers to the base of 60, as of a time. */
const isOfKubectl = (tag: Tags[number]): boolean =>
  typeof tag === "string" || !(NOT_OF_KUBECTL.includes(tag.tag) || ("format" in tag && tag.format === "TIME"));

/**
 * YAML as kubectl reads it, which is 1.1: `0400` is octal, `yes` and `off` are booleans, `<<` merges. What is written so is
 * read alike by both, and by a parser of 1.2. Other tags than those of YAML are refused.
 */
export const KUBERNETES_YAML: DocumentOptions & SchemaOptions = {
  version: "1.1",
  customTags: (tags) => [largeInteger, ...tags.filter(isOfKubectl), octal, binary],
};
