// Numbers changes from 1 in messages of the controller, which count from 0.

/**
 * A message of the controller with changes numbered from 1, as all lists show them: `change 2`, where the API says `changes[1]`. Paths such
 * as `spec.changes[1].content` are left as they are.
 */
export const fromOne = (message: string): string =>
  message.replaceAll(/(?<![\w.])changes\[(\d+)\]/gu, (_, index: string) => `change ${Number(index) + 1}`);
