// Finds the packages that are published, and writes their package.json.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

/** What the package.json of a workspace package says of it, if it is published. */
interface Written {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly keywords: readonly string[];
  readonly license: string;
  readonly engines: { readonly node: string };
  readonly private?: boolean;
  /** Of a program: its file, by command. It has nothing to import. */
  readonly bin?: Readonly<Record<string, string>>;
  /** What the user's package manager installs. Everything else that is imported is bundled. */
  readonly dependencies?: Readonly<Record<string, string>>;
  /** What the user has installed. */
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

export interface PublishedPackage extends Written {
  readonly directory: string;
}

/** The packages that are published: those that are not private. */
export const publishedPackages = (packages: string): readonly PublishedPackage[] =>
  readdirSync(packages).flatMap((name) => {
    const directory = path.join(packages, name);
    const written = JSON.parse(readFileSync(path.join(directory, "package.json"), "utf8")) as Written;
    return written.private === true ? [] : [{ ...written, directory }];
  });

/** Imports that are left as they are. */
export const externalsOf = ({ dependencies = {}, peerDependencies = {} }: PublishedPackage): readonly string[] => [
  ...Object.keys(dependencies),
  ...Object.keys(peerDependencies),
];

/** The package.json of the tarball. */
export const manifestOf = (one: PublishedPackage): object => {
  const { name, version, description, keywords, license, engines, bin } = one;
  const about = { name, version, description, keywords, license, engines, type: "module" };
  return bin === undefined ? { ...about, ...importedFrom(one) } : { ...about, bin, files: FILES };
};

const FILES = ["bin", "dist", "THIRD-PARTY-LICENSES"];

const importedFrom = ({ dependencies, peerDependencies }: PublishedPackage): object => ({
  sideEffects: false,
  // Read by `moduleResolution: node10`, which `cdk8s init` sets up; all others read `exports`.
  main: "./dist/index.cjs",
  types: "./dist/index.d.cts",
  exports: {
    ".": {
      import: { types: "./dist/index.d.ts", default: "./dist/index.js" },
      require: { types: "./dist/index.d.cts", default: "./dist/index.cjs" },
    },
    "./package.json": "./package.json",
  },
  files: FILES,
  ...(dependencies === undefined ? {} : { dependencies }),
  ...(peerDependencies === undefined ? {} : { peerDependencies }),
});
