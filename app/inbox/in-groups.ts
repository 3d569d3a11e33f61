/** The limits of a group. */
export interface GroupLimits<Item> {
  /** Items of one group at most. */
  items: number;
  /** Size of one group at most; a single item may be larger. */
  size: number;
  sizeOf: (item: Item) => number;
  /** Groups under way at the same time. */
  atOnce: number;
}

interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/**
 * Writes concurrent items in groups. An item that arrives while no write is in progress is written at once; items that
 * arrive meanwhile form the next group, so a group waits only for the previous one.
 *
 * @param write writes a group and returns a result for each item, in order; if it fails, each item fails.
 */
export function inGroups<Item, Result>(
  write: (items: readonly Item[]) => Promise<readonly Result[]>,
  limits: GroupLimits<Item>,
): (item: Item) => Promise<Result> {
  const waiting: Waiting<Item, Result>[] = [];
  let underWay = 0;

  function begin(): void {
    while (underWay < limits.atOnce && waiting.length > 0) {
      underWay += 1;
      void writeGroup(waiting.splice(0, nextGroup(waiting, limits)));
    }
  }

  async function writeGroup(group: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await write(group.map(({ item }) => item));
      group.forEach(({ resolve, reject }, index) => {
        const result = results[index];
        if (result === undefined) reject(new Error('A group was written without a result for each of its items.'));
        else resolve(result);
      });
    } catch (error) {
      for (const { reject } of group) reject(error);
    } finally {
      underWay -= 1;
      begin();
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      begin();
    });
}

function nextGroup<Item>(waiting: readonly { item: Item }[], { items, size, sizeOf }: GroupLimits<Item>): number {
  let total = 0;
  for (const [index, { item }] of waiting.entries()) {
    total += sizeOf(item);
    if (index > 0 && (index >= items || total > size)) return index;
  }
  return Math.min(waiting.length, items);
}
