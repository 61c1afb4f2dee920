// `npm run -s manifests`: prints all objects to install.
import { installation } from "./installation.ts";
import { HELP, propsOf } from "./manifest-flags.ts";
import { yaml } from "./render.ts";

try {
  const props = propsOf(process.argv.slice(2));
  process.stdout.write(props === undefined ? HELP : yaml(installation(props)));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}; see --help\n`);
  process.exitCode = 2;
}
