// Nobody stops the recipes of another namespace.
import { share } from "../fixtures/sample.ts";
import { noisyNeighbours } from "./any-controller.ts";
import { attacks } from "./recipe-attacks.ts";
import { author, somebody, subject } from "./recipes.ts";

noisyNeighbours(
  "a user who may edit in one namespace stops no ActionSet in another one",
  { ...subject, author, bystander: somebody, attacks, mostSlowdown: 15 },
  share({ npmTest: 4, ci: 4 }),
);
