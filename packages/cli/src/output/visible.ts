// Escapes invisible and control characters in texts that a terminal shows, except for our own colours.

/** The colours of `painter`, and their ends; not what hides or moves text. */
const COLOURS = [1, 2, 22, 31, 32, 33, 36, 39].map((code) => `\u001b[${code}m`);

/**
 * Control characters but tabs and line breaks, what changes the direction of text (https://unicode.org/reports/tr9/), and what has
 * no width: with it, two names or values may look the same.
 */
const CONTROLS = /(?![\t\n])[\p{Cc}\p{Cf}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]/gu;

/**
 * Shows what other users have written as a terminal may show it: whoever writes a reason or a value could otherwise hide or forge
 * what an approver sees. Control characters become visible, such as `\u{9b}`.
 */
export const visible = (text: string): string =>
  text.replace(CONTROLS, (control, at: number) =>
    COLOURS.some((colour) => text.startsWith(colour, at))
      ? control
      : `\\u{${(control.codePointAt(0) ?? 0).toString(16)}}`,
  );
