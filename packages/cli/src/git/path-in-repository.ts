// Resolves a path of the user to one in the repository.
import { posix } from "node:path";
import { Failure } from "../failure.ts";
import type { Destination } from "./destination.ts";

/**
 * The path of a folder or file, from the root of the repository; empty: all of it.
 *
 * @param folder where the user is in the repository
 * Errors: if it leads out of the repository, or out of the folder of the destination.
 */
export const pathInRepository = (
  given: string | undefined,
  folder: string,
  destination: Pick<Destination, "name" | "baseFolder"> | undefined,
): string => {
  if (given === undefined && destination !== undefined) return destination.baseFolder;
  if (given?.startsWith("/") === true)
    throw new Failure(`${given}: name a path in the repository, without / before it`);
  const path = posix.join(folder, given ?? ".", ".").replace(/\/+$/u, "");
  const inside = path === "." ? "" : path;
  if (inside === ".." || inside.startsWith("../")) throw new Failure(`${given} leads out of the repository`);
  const { name = "", baseFolder = "" } = destination ?? {};
  if (baseFolder !== "" && inside !== baseFolder && !inside.startsWith(`${baseFolder}/`))
    throw new Failure(`${given} is outside of ${baseFolder}, the baseFolder of ${name}`);
  return inside;
};
