import { describe, expect, it } from "vitest";
import { completed } from "../../../packages/controller/src/core/completed.ts";
import type { Json, JsonObject } from "../../../packages/controller/src/core/object.ts";

const over = (protocol: string): Json => ({ port: 80, protocol });
const [tcp, udp, sctp] = [over("TCP"), over("UDP"), over("SCTP")];
const known = { "f:ports": { 'k:{"port":80,"protocol":"TCP"}': { ".": {}, "f:name": {} } } };
const owning = (protocol: string): JsonObject => ({ "f:ports": { [`k:{"port":80,"protocol":"${protocol}"}`]: {} } });
const ports = (...items: readonly Json[]): JsonObject => ({ ports: items });

describe("the keys of a list item that its author left to their defaults", () => {
  it.each<[string, Json, readonly Json[], readonly Json[], JsonObject, unknown]>([
    ["are those of the one that it matches", { port: 80, name: "a" }, [udp], [], {}, "UDP"],
    ["are those of one of ours", { port: 80 }, [tcp, udp], [], owning("UDP"), "UDP"],
    ["are TCP where nothing else tells", { port: 80 }, [udp, tcp], [], {}, "TCP"],
    ["are those of the first where nothing at all tells", { port: 80 }, [sctp, udp], [], {}, "SCTP"],
    ["are those of what was there before where it is gone since", { port: 80 }, [], [udp], {}, "UDP"],
    ["are those of what is there now, not before", { port: 80 }, [udp], [tcp], {}, "UDP"],
    ["are absent where there is no such item", { port: 81 }, [tcp], [udp], {}, undefined],
    ["may have been left to them as null", { port: 80, protocol: null }, [udp], [], {}, "UDP"],
    ["are as they are where it names them", { port: 80, protocol: "SCTP" }, [tcp], [], {}, "SCTP"],
  ])("%s", (_, item, live, before, ours, protocol) => {
    const { ports: items } = completed(ports(item), [ports(...live), ports(...before)], known, ours);
    expect((items as readonly JsonObject[]).map((one) => one["protocol"])).toEqual([protocol]);
  });

  it("are not those of an item that is named beside it", () => {
    const content = ports({ port: 80 }, udp);
    expect(completed(content, [ports(udp, sctp)], known, {})).toEqual(ports(sctp, udp));
  });

  it("are found in lists within lists, and nothing else is touched", () => {
    const within = { "f:containers": { 'k:{"name":"web"}': { ".": {}, "f:name": {}, ...known } }, "f:args": {} };
    const content = { containers: [{ name: "web", ...ports({ port: 80 }) }], args: ["x"], more: [{ port: 80 }] };
    const live = { containers: [{ name: "web", ...ports(udp) }], args: [], more: [udp] };
    expect(completed(content, [live], within, {})).toEqual({
      ...content,
      containers: [{ name: "web", ...ports(udp) }],
    });
  });
});
