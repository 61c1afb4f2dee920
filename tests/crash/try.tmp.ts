import { connect, discovery, loadConfig } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { play } from "./play.ts";
import { scenarios } from "./scenario.ts";
import { violations } from "./invariants.ts";
import { installRefusal } from "./refusal.ts";
const config = loadConfig(process.env); if (E.isLeft(config)) throw new Error(config.left);
const api = connect(config.right);
await installRefusal(api);
const find = discovery(api);
const s = scenarios[Number(process.argv[2] ?? 0)]!;
const deaths = process.argv[3] === undefined ? [] : [{at: Number(process.argv[3]), when: process.argv[4] as "before"}];
const u = await play({connection: config.right, api, find}, s, []);
try {
const r = await play({connection: config.right, api, find}, s, deaths);
console.log(r.traces.map(t => t.map((t,i)=>`${i} ${t}`).join("\n")).join("\n---\n"));
console.log(violations(r,u).map(x=>x.slice(0,3000)));
} catch (e) { console.log(String(e).slice(0, 3000)); }
process.exit(0);
