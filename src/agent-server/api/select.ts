/** Keeps the selected fields of an item; all by default. */
export function selected(item: object, fields: readonly string[] | undefined): object {
  if (fields === undefined || fields.length === 0) return item;
  return Object.fromEntries(Object.entries(item).filter(([field]) => fields.includes(field)));
}
