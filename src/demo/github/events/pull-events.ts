import type { JsonObject } from '../exchange.ts';
import type { Site } from '../site.ts';
import type { Repository } from '../repositories.ts';
import type { Delivery } from './deliveries.ts';
import { deliver } from './deliver.ts';

/** Delivers the event of a pull request as it is after `action`. */
export function deliverPull(
  site: Site,
  repository: Repository,
  action: 'opened' | 'synchronize' | 'closed' | 'reopened' | 'edited',
  pull: JsonObject,
  more: JsonObject = {},
  by?: string,
): Promise<Delivery | undefined> {
  const payload = {
    action,
    number: pull['number'],
    pull_request: pull,
    ...(action === 'edited' ? { changes: {} } : {}),
    ...more,
  };
  return deliver(site, repository, 'pull_request', payload, by);
}
