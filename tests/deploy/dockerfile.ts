/** One instruction of a Dockerfile: `RUN`, and what comes after it. */
export interface Instruction {
  readonly keyword: string;
  readonly argument: string;
}

/** One `FROM image AS name` and what follows it; a stage without a name is called `final`. */
export interface Stage {
  readonly name: string;
  readonly instructions: readonly Instruction[];
}

/** The stages of a Dockerfile, in order. Comments are left out; a line that ends in a backslash goes on in the next. */
export const parseDockerfile = (text: string): readonly Stage[] => {
  const lines = text
    .replaceAll(/^\s*(#.*)?\n/gm, "")
    .replaceAll(/\\\n\s*/g, "")
    .trimEnd()
    .split("\n");
  const instructions = lines.map((line): Instruction => {
    const [, keyword = "", argument = ""] = /^(\S+)\s+(.*)$/.exec(line) ?? [];
    return { keyword, argument };
  });
  const froms = instructions.flatMap(({ keyword }, index) => (keyword === "FROM" ? [index] : []));
  return froms.map((from, index) => ({
    name: / AS (\S+)$/.exec(instructions[from]?.argument ?? "")?.[1] ?? "final",
    instructions: instructions.slice(from + 1, froms[index + 1]),
  }));
};
