/** Why a value can't be sent as a header, without showing it; undefined if it can, or is absent. */
export function invalidInHeader(what: string, value: string | undefined): string | undefined {
  if (value === undefined || /^[\x21-\x7e]*$/.test(value)) return undefined;
  return `${what} holds a space, a line break or a letter that no header may carry`;
}
