/** What went wrong, for people. Several addresses may have been tried, each with an error of its own. */
export const reasonOf = (error: unknown): string =>
  error instanceof AggregateError && error.errors.length > 0
    ? [...new Set(error.errors.map(reasonOf))].join("; ")
    : error instanceof Error
      ? error.message
      : String(error);
