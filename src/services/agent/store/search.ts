import type { Logger } from '../../../kit/logger.ts';
import { queryWithRetries } from '../storage/retry-policy.ts';
import type { Item, Items, ItemSearch } from './items.ts';
import type { SemanticIndex } from './semantic-index.ts';

/** The store of a deployment. */
export interface DeploymentStore {
  items: Items;
  /** Absent without `store.index`. */
  semanticIndex: SemanticIndex | undefined;
}

const ignoredQuery = 'query of a store search is ignored: this store does not search by meaning without `store.index`';
const partialSearch =
  'a store search by meaning compared as many vectors as it may, those of the items written last, and may lack others: ' +
  'narrow its namespace or its filter';

/**
 * One page of items: by meaning if there is a query and an index. @returns also a warning for the response. @throws
 * EmbeddingFailed if the query could not be embedded.
 */
export async function searchItems(
  { items, semanticIndex, log }: DeploymentStore & { log: Logger },
  search: ItemSearch,
  query: string | null | undefined,
): Promise<{ items: Item[]; warning?: string }> {
  if (!query) return { items: await queryWithRetries(() => items.search(search)) };
  if (semanticIndex === undefined) {
    log.warn(ignoredQuery);
    return { items: await queryWithRetries(() => items.search(search)), warning: ignoredQuery };
  }
  const vector = await semanticIndex.vectorOf(query);
  const found = await queryWithRetries(() => items.searchByMeaning(search, vector));
  if (!found.isPartial) return { items: found.items };
  log.warn(partialSearch);
  return { items: found.items, warning: partialSearch };
}
