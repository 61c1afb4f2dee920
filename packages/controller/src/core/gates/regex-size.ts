// Estimates the number of states of a regular expression, to bound its cost.

/**
 * Each way to read a pattern is the only one, so that reading takes no longer than it is long: a backslash in a class is always the
 * beginning of an escape. A class, quoted text, an escaped character, flags, an opening or closing parenthesis, a repetition with its numbers, or one character.
 */
const TOKEN =
  /\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]|(?<quoted>\\Q.*?(?:\\E|$))|\\.|\(\?[a-zA-Z-]*\)|[()]|\{(?<least>\d+)(?:,(?<most>\d*))?\}|[*+?]|./gsu;

/**
 * About how many states a regular expression has for a machine that tries all ways at once, such as RE2: a repetition
 * such as `{100}` has those of what it repeats a hundred times. What compiling and matching cost grows with them.
 *
 * Guarantees: no fewer than there are characters to match, each as often as it is repeated.
 */
export const regexSize = (pattern: string): number => {
  const around: number[] = [];
  let size = 0;
  let last = 0;
  for (const { 0: token, groups } of pattern.matchAll(TOKEN)) {
    if (token === "(") {
      around.push(size);
      size = 1;
    } else if (token === ")") {
      last = size;
      size += around.pop() ?? 0;
    } else if (groups?.["least"] !== undefined) {
      const times = Math.max(1, Number(groups["least"]), Number(groups["most"] ?? 0));
      size += last * (times - 1);
      last *= times;
    } else if (!/^(?:[*+?]|\(\?.*)$/su.test(token)) {
      last = 1;
      size += groups?.["quoted"]?.length ?? 1;
    }
  }
  return around.reduce((sum, outer) => sum + outer, size);
};

const CASE_INSENSITIVE = /\(\?[a-zA-Z]*i[a-zA-Z-]*[:)]/u;
const BEYOND_ASCII = /[^\p{ASCII}]|\\x\{|\\[pP]/u;

/**
 * Whether it ignores case in a class that may have more than ASCII characters: RE2 goes through all of them, one by one, to find those
 * of the other case, which takes seconds for a pattern of a few hundred characters.
 */
export const foldsWideClass = (pattern: string): boolean =>
  CASE_INSENSITIVE.test(pattern) &&
  [...pattern.matchAll(TOKEN)].some(([token]) => /^(?:\[|\\[pP])/u.test(token) && BEYOND_ASCII.test(token));
