// Formats the MicroTime of a Lease.
// oxlint-disable no-restricted-globals -- Date is used as arithmetic on its argument here, never as a clock

/** RFC 3339 in microseconds, the form of Lease times (MicroTime). @param at ms since the epoch */
export const toMicroTime = (at: number): string => new Date(at).toISOString().replace("Z", "000Z");
