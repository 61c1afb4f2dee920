/** The message of an error. If several addresses were tried, each has an error of its own. */
export const reasonOf = (error: unknown): string =>
  error instanceof AggregateError && error.errors.length > 0
    ? [...new Set(error.errors.map(reasonOf))].join("; ")
    : error instanceof Error
      ? error.message
      : String(error);
