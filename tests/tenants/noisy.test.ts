// Nobody stops the Transactions of another namespace.
import { share } from "../fixtures/sample.ts";
import { noisyNeighbours } from "./any-controller.ts";
import { attacks } from "./attacks.ts";
import { author, somebody, subject } from "./transactions.ts";

noisyNeighbours(
  "a user who may edit in one namespace stops no Transaction in another one",
  { ...subject, author, bystander: somebody, attacks, mostSlowdown: 3 },
  share({ npmTest: 12, ci: 4 }),
);
