import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { withListMapDefaults } from "../../../packages/controller/src/core/merge/list-map-defaults.ts";
import type { Json, JsonObject } from "@janus/types";

const over = (protocol: string): Json => ({ port: 80, protocol });
const [tcp, udp, sctp] = [over("TCP"), over("UDP"), over("SCTP")];
const known = { "f:ports": { 'k:{"port":80,"protocol":"TCP"}': { ".": {}, "f:name": {} } } };
const owning = (protocol: string): JsonObject => ({ "f:ports": { [`k:{"port":80,"protocol":"${protocol}"}`]: {} } });
const ports = (...items: readonly Json[]): JsonObject => ({ ports: items });

/** The fields that are managed, and those of the Transaction; others manage none. */
const owned = (managed: JsonObject, ours: JsonObject = {}) => ({ managed, ours, theirs: {}, former: {} });

const name = (one: JsonObject) => `k:${JSON.stringify({ port: one["port"], protocol: one["protocol"] })}`;

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
    const { ports: items } = withListMapDefaults(ports(item), [ports(...live), ports(...before)], owned(known, ours));
    expect((items as readonly JsonObject[]).map((one) => one["protocol"])).toEqual([protocol]);
  });

  it("are not those of an item that is named beside it", () => {
    const content = ports({ port: 80 }, udp);
    expect(withListMapDefaults(content, [ports(udp, sctp)], owned(known))).toEqual(ports(sctp, udp));
  });

  it.each<[string, readonly Json[], readonly Json[], Json]>([
    ["what was there before, where others have removed that", [udp], [tcp], tcp],
    ["what is there still", [sctp, udp], [sctp], sctp],
    ["theirs, where there is no other", [udp], [], udp],
  ])("are not those of an item that others have added since, but of %s", (_, live, before, meant) => {
    const managedBy = { ...owned(known), theirs: owning("UDP"), former: { "f:ports": {} } };
    const found = withListMapDefaults(ports({ port: 80 }), [ports(...live), ports(...before)], managedBy);
    expect(found).toEqual(ports(meant));
  });

  it("are found where the items are managed as a whole, as those of map type atomic are", () => {
    const whole = { "f:ports": { 'k:{"port":80,"protocol":"UDP"}': {} } };
    expect(withListMapDefaults(ports({ port: 80 }), [ports(udp)], owned(whole))).toEqual(ports(udp));
  });

  it("are found in lists within lists, and nothing else is touched", () => {
    const within = { "f:containers": { 'k:{"name":"web"}': { ".": {}, "f:name": {}, ...known } }, "f:args": {} };
    const content = { containers: [{ name: "web", ...ports({ port: 80 }) }], args: ["x"], more: [{ port: 80 }] };
    const live = { containers: [{ name: "web", ...ports(udp) }], args: [], more: [udp] };
    expect(withListMapDefaults(content, [live], owned(within))).toEqual({
      ...content,
      containers: [{ name: "web", ...ports(udp) }],
    });
  });

  it("are those of the first that matches, of ours, or of TCP, among all that no other names, whatever the lists", () => {
    const item = fc.record(
      { port: fc.nat({ max: 2 }), protocol: fc.constantFrom("TCP", "UDP") },
      { requiredKeys: [] },
    ) as fc.Arbitrary<JsonObject>;
    const items = fc.array(item, { maxLength: 4 });
    const whole = fc.uniqueArray(
      fc.record({ port: fc.nat({ max: 2 }), protocol: fc.constantFrom("TCP", "UDP", "SCTP") }),
      { maxLength: 4, selector: (one) => JSON.stringify(one) },
    );
    const keys = ["port", "protocol"] as const;
    const lacks = (one: JsonObject) => keys.some((key) => one[key] === undefined);
    fc.assert(
      fc.property(items, whole, whole, whole, (content, live, before, own) => {
        const ours = { "f:ports": Object.fromEntries(own.map((one) => [name(one), {}])) };
        const named = content.filter((one) => !lacks(one)).map(name);
        const meant = (one: JsonObject): JsonObject => {
          const matches = (other: JsonObject) =>
            !named.includes(name(other)) && keys.every((key) => one[key] === undefined || one[key] === other[key]);
          const found = [live, before].map((list) => list.filter(matches)).find((list) => list.length > 0) ?? [];
          const chosen =
            found.find((other) => name(other) in ours["f:ports"]) ??
            found.find(({ protocol }) => protocol === "TCP") ??
            found[0];
          return chosen === undefined ? one : { ...one, port: chosen.port, protocol: chosen.protocol };
        };
        expect(withListMapDefaults(ports(...content), [ports(...live), ports(...before)], owned(known, ours))).toEqual(
          ports(...content.map((one) => (lacks(one) ? meant(one) : one))),
        );
      }),
    );
  });
});
