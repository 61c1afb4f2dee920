// Lets a bundled program begin in a Node that lacks some of what it imports, so that the program can say so itself.
import { isBuiltin } from "node:module";
import type { Plugin } from "rolldown";

/** What Node has under this name, or undefined: an import of a name that is not there would end the program before its first line. */
export const lateNames: Plugin = {
  name: "late-names",
  renderChunk(code) {
    const parts: string[] = [];
    let from = 0;
    for (const node of this.parse(code).body) {
      if (node.type !== "ImportDeclaration" || !isBuiltin(node.source.value)) continue;
      const named = node.specifiers.filter((one) => one.type === "ImportSpecifier");
      if (named.length === 0) continue;
      const others = node.specifiers.filter((one) => one.type === "ImportDefaultSpecifier");
      const all = `builtin${parts.length}`;
      const imported = [...others.map(({ local }) => local.name), `* as ${all}`].join(", ");
      const names = named.map(({ imported: name, local }) => `${code.slice(name.start, name.end)}: ${local.name}`);
      parts.push(
        code.slice(from, node.start),
        `import ${imported} from ${node.source.raw ?? JSON.stringify(node.source.value)};\nconst { ${names.join(", ")} } = ${all};`,
      );
      from = node.end;
    }
    return { code: [...parts, code.slice(from)].join(""), map: null };
  },
};
