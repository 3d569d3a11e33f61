import { isObject } from '../../../src/kit/json-object.ts';
import { botOf } from '../../../src/demo/github/answers/accounts.ts';
import { createRun, suiteOf, updateRun } from '../../../src/demo/github/answers/checks.ts';
import { deliver } from '../../../src/demo/github/events/deliver.ts';
import type { Delivery } from '../../../src/demo/github/deliveries.ts';
import { numberAt, textAt, type JsonObject } from '../../../src/demo/github/exchange.ts';
import {
  repositoryFor,
  type Handler,
  type Operation,
  type Repository,
  type GitHubState,
} from '../../../src/demo/github/state.ts';

/**
 * Delivers the event of a check run.
 *
 * @param run as GitHub shows it.
 * @param more the person and the button, for a requested action.
 */
export async function deliverCheckRun(
  state: GitHubState,
  repository: Repository,
  action: 'created' | 'completed' | 'rerequested' | 'requested_action',
  run: JsonObject,
  more: { by?: string; button?: string } = {},
): Promise<Delivery | undefined> {
  const suite = await suiteOf(state, repository, textAt(run, 'head_sha') ?? '');
  const payload = {
    action,
    check_run: { ...run, check_suite: suite },
    ...(more.button === undefined ? {} : { requested_action: { identifier: more.button } }),
  };
  return deliver(state, repository, 'check_run', payload, more.by ?? botOf(state).login);
}

/** The operations that write check runs, with the events of those that were created and completed. */
export function checkRunOperations(repo: string): Operation[] {
  const completed = new Set<number>();
  const withEvents =
    (handler: Handler): Handler =>
    async (call, state) => {
      const answer = await handler(call, state);
      if (answer.status >= 300 || !isObject(answer.body)) return answer;
      const id = numberAt(answer.body, 'id');
      const wasCompleted = completed.has(id);
      if (answer.body['status'] === 'completed') completed.add(id);
      else completed.delete(id);
      const repository = await repositoryFor(state, call, 'checks', 'write');
      if (call.method === 'POST') await deliverCheckRun(state, repository, 'created', answer.body);
      if (completed.has(id) && !wasCompleted) await deliverCheckRun(state, repository, 'completed', answer.body);
      return answer;
    };
  return [
    ['POST', `${repo}/check-runs`, withEvents(createRun)],
    ['PATCH', `${repo}/check-runs/{check_run_id}`, withEvents(updateRun)],
  ];
}
