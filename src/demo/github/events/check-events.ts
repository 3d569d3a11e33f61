import { objectAt, type JsonObject } from '../exchange.ts';
import type { Site } from '../site.ts';
import type { Repository } from '../repositories.ts';
import { botOf } from '../answers/accounts.ts';
import { suiteAnswer } from '../answers/check-answers.ts';
import type { CheckAction } from '../answers/check-records.ts';
import type { Delivery } from './deliveries.ts';
import { deliver } from './deliver.ts';

/**
 * Delivers the event of a check run.
 *
 * @param run as GitHub shows it.
 * @param more the person and the button, for a requested action.
 */
export async function deliverCheckRun(
  site: Site,
  repository: Repository,
  action: 'created' | 'completed' | 'rerequested' | 'requested_action',
  run: JsonObject,
  more: { by?: string; button?: CheckAction } = {},
): Promise<Delivery | undefined> {
  const isSubscribed = site.app.events.includes('check_run');
  if (!isSubscribed && (action === 'created' || action === 'completed')) return undefined;
  const suiteId = Number(objectAt(run, 'check_suite')['id']);
  const suite = await suiteAnswer(site, repository, suiteId);
  const payload = {
    action,
    check_run: { ...run, check_suite: briefSuite(suite) },
    ...(more.button === undefined ? {} : { requested_action: { identifier: more.button.identifier } }),
  };
  return deliver(site, repository, 'check_run', payload, more.by ?? botOf(site).login);
}

/** The part of a suite that its runs carry. */
function briefSuite(suite: JsonObject): JsonObject {
  const names = ['id', 'node_id', 'head_branch', 'head_sha', 'status', 'conclusion', 'url', 'before', 'after'];
  const times = ['pull_requests', 'app', 'created_at', 'updated_at'];
  return Object.fromEntries([...names, ...times].map((name) => [name, suite[name] ?? null]));
}

/** Delivers the event of a check suite: GitHub requests one at every push, and people request it again. */
export function deliverCheckSuite(
  site: Site,
  repository: Repository,
  action: 'requested' | 'rerequested',
  suite: JsonObject,
  by?: string,
): Promise<Delivery | undefined> {
  const { repository: _, ...check_suite } = suite;
  return deliver(site, repository, 'check_suite', { action, check_suite }, by);
}
