// Parses resource quantities, such as 512Mi, for comparison.

const QUANTITY =
  /^(?<sign>[+-]?)(?<whole>\d{0,30})(?:\.(?<fraction>\d{0,30}))?(?<suffix>[numkMGTPE]|[KMGTPE]i|[eE][+-]?\d{1,2})?$/u;

/** The powers of ten, and of 1024, that stand for these letters. */
const DECIMAL: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const BINARY: Readonly<Record<string, bigint>> = { Ki: 1n, Mi: 2n, Gi: 3n, Ti: 4n, Pi: 5n, Ei: 6n };

/** Nothing smaller is kept. */
const NANO = 9;

/**
 * A quantity such as `0.5Gi`, `512Mi` or `1e3`, in billionths, rounded up: the same for all texts of it. undefined: it is none.
 * https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
 */
export const quantityOf = (value: unknown): bigint | undefined => {
  const { groups } =
    QUANTITY.exec(typeof value === "number" ? `${value}` : typeof value === "string" ? value : "") ?? {};
  const { sign = "", whole = "", fraction = "", suffix = "" } = groups ?? {};
  if (`${whole}${fraction}` === "") return undefined;
  const exponent = DECIMAL[suffix] ?? (/^[eE]./u.test(suffix) ? Number(suffix.slice(1)) : 0);
  const digits = BigInt(`${whole}${fraction}`) * 1024n ** (BINARY[suffix] ?? 0n);
  const scale = NANO + exponent - fraction.length;
  const size =
    scale >= 0 ? digits * 10n ** BigInt(scale) : (digits + 10n ** BigInt(-scale) - 1n) / 10n ** BigInt(-scale);
  return sign === "-" ? -size : size;
};
