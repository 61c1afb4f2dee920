// The functions of sprig for paths with slashes.
import { ofBool, ofString } from "../value/value.ts";
import { type FunctionTable, type GoFunction, text } from "./go-function.ts";

const clean = (path: string): string => {
  const isRooted = path.startsWith("/");
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.length > 0 && parts.at(-1) !== "..") parts.pop();
    else if (!isRooted) parts.push("..");
  }
  const joined = (isRooted ? "/" : "") + parts.join("/");
  return joined === "" ? "." : joined;
};

const base = (path: string): string => {
  if (path === "") return ".";
  const trimmed = path.replace(/\/+$/u, "");
  return trimmed === "" ? "/" : trimmed.slice(trimmed.lastIndexOf("/") + 1);
};
const extension = (path: string): string => /\.[^./]*$/u.exec(path)?.[0] ?? "";

const mapped = (map: (path: string) => string): GoFunction => ({
  parameters: ["string"],
  call: ([path]) => ofString(map(text(path))),
});

export const PATHS: FunctionTable = {
  base: mapped(base),
  dir: mapped((path) => clean(path.slice(0, path.lastIndexOf("/") + 1))),
  clean: mapped(clean),
  ext: mapped(extension),
  isAbs: { parameters: ["string"], call: ([path]) => ofBool(text(path).startsWith("/")) },
};
