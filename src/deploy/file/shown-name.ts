/** A name that is safe to print. A user may have written the secret itself in place of its name. */
export const shownName = (name: string): string =>
  /^[A-Z]{1,24}$|^[A-Z0-9]+(_[A-Z0-9]+)+$/.test(name) ? name : 'that it names';
