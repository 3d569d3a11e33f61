/** Why a value cannot be sent as a header, in words that do not show it; undefined where it can, or where there is none. */
export function unfitForHeader(what: string, value: string | undefined): string | undefined {
  if (value === undefined || /^[\x21-\x7e]*$/.test(value)) return undefined;
  return `${what} holds a space, a line break or a letter that no header may carry`;
}
