import { expect, it } from "vitest";
import { takenOf } from "../../../packages/controller/src/core/undo/service-allocations.ts";
import { place } from "./thing.ts";
import type { ApiError } from "@janus/types";

const refused = (code: number, message: string): ApiError => ({
  type: "refused",
  code,
  reason: "",
  message,
  causes: [],
});

const address =
  'Service "a" is invalid: spec.clusterIPs: Invalid value: failed to allocate IP 10.0.0.9: provided IP is already allocated';
const port = 'Service "a" is invalid: spec.ports[0].nodePort: Invalid value: 30080: provided port is already allocated';
const healthCheck =
  "Internal error occurred: failed to allocate requested HealthCheck NodePort 32117: provided port is already allocated";

it.each([
  ["Service", "", 422, address, "addresses"],
  ["Service", "", 422, port, "ports"],
  ["Service", "", 500, healthCheck, "ports"],
  ["Service", "", 422, 'Service "a" is invalid: spec.selector: Invalid value', undefined],
  ["Service", "", 403, port, undefined],
  // What only has fields of such names keeps them.
  ["Service", "example.com", 422, port, undefined],
  ["Gateway", "example.com", 422, port, undefined],
])("of a %s of group '%s', refused with %i: %s", (kind, group, code, message, taken) => {
  expect(takenOf({ ...place.resource, kind, group }, refused(code, message))).toBe(taken);
});
