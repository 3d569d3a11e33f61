/** Only the fields that a search asked for; all of them where it asked for none. */
export function selected(item: object, fields: readonly string[] | undefined): object {
  if (fields === undefined || fields.length === 0) return item;
  return Object.fromEntries(Object.entries(item).filter(([field]) => fields.includes(field)));
}
