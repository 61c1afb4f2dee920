// Explains errors of connections and files in the words of kubectl.

const UNKNOWN_AUTHORITY =
  "x509: certificate signed by unknown authority. Is certificate-authority of the kubeconfig that of this server?";

/** What kubectl says, by the codes of Node, whose own words advise on Node. */
const WORDS: Readonly<Record<string, string>> = {
  ENOENT: "no such file or directory",
  EACCES: "permission denied",
  EPERM: "operation not permitted",
  EISDIR: "is a directory",
  ENOTDIR: "not a directory",
  ECONNREFUSED: "connection refused - did you specify the right host or port?",
  ECONNRESET: "connection reset by peer",
  EPIPE: "broken pipe",
  ENOTFOUND: "no such host",
  EAI_AGAIN: "temporary failure in name resolution",
  ETIMEDOUT: "i/o timeout",
  UND_ERR_CONNECT_TIMEOUT: "i/o timeout",
  EHOSTUNREACH: "no route to host",
  ENETUNREACH: "network is unreachable",
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_AUTHORITY,
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_AUTHORITY,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_AUTHORITY,
  CERT_HAS_EXPIRED: "x509: certificate has expired",
  CERT_NOT_YET_VALID: "x509: certificate is not yet valid",
};

/** Of the operating system and of TLS. */
interface CodedError extends Error {
  readonly code: string;
  readonly path?: string;
  readonly address?: string;
  readonly port?: number;
  readonly hostname?: string;
}

const isCoded = (error: Error): error is CodedError => "code" in error && typeof error.code === "string";

/** The file or server that it is about. */
const subjectOf = ({ path, address, port, hostname }: CodedError): string => {
  if (path !== undefined) return `open ${path}: `;
  if (address !== undefined) return `dial ${address}${port === undefined ? "" : `:${port}`}: `;
  return hostname === undefined ? "" : `lookup ${hostname}: `;
};

const wordsOf = (error: Error): string => {
  const words = isCoded(error) ? WORDS[error.code] : undefined;
  return isCoded(error) && words !== undefined ? subjectOf(error) + words : error.message;
};

/**
 * Why something failed, in the words of kubectl where it has some. If several addresses were tried, each has an error of
 * its own.
 */
export const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof AggregateError && error.errors.length > 0)
    return [...new Set(error.errors.map(reasonOf))].join("; ");
  // fetch says only that it failed.
  return error.message === "fetch failed" && error.cause !== undefined ? reasonOf(error.cause) : wordsOf(error);
};
