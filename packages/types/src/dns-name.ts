// Regular expressions of RFC 1123 names, with which object names are checked.
// https://kubernetes.io/docs/concepts/overview/working-with-objects/names/

/** An RFC 1123 label, but for its length: a regular expression that means the same in RE2 (CEL, Go) and in JavaScript. */
export const DNS_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
/** An RFC 1123 subdomain, but for its length, likewise. */
export const DNS_SUBDOMAIN = `${DNS_LABEL}([.]${DNS_LABEL})*`;

export const DNS_LABEL_LENGTH = 63;
export const DNS_SUBDOMAIN_LENGTH = 253;

const label = new RegExp(`^${DNS_LABEL}$`, "u");
const subdomain = new RegExp(`^${DNS_SUBDOMAIN}$`, "u");

/** Such as the name of a Namespace. */
export const isDnsLabel = (text: string): boolean => text.length <= DNS_LABEL_LENGTH && label.test(text);

/** Such as the names of most objects. */
export const isDnsSubdomain = (text: string): boolean => text.length <= DNS_SUBDOMAIN_LENGTH && subdomain.test(text);
