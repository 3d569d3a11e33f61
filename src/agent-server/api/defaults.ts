import { pageBounds } from '../../contract/agent/assistant.ts';
import { storePage } from '../../contract/agent/store-item.ts';
import { defaultStrategy } from '../runs/run-plan.ts';

const page = { limit: pageBounds.defaultLimit, offset: 0 };

const ofEveryRun = {
  stream_mode: ['values'],
  stream_subgraphs: false,
  stream_resumable: false,
  on_disconnect: 'cancel',
  durability: 'async',
};

/** The defaults of body fields, by schema name. */
export const bodyDefaults: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  AssistantCreate: { if_exists: 'raise' },
  AssistantSearchRequest: page,
  AssistantVersionsSearchRequest: page,
  CronCreate: { on_run_completed: 'delete', enabled: true },
  CronSearch: { ...page, sort_by: 'created_at', sort_order: 'desc' },
  RunCreateStateful: { ...ofEveryRun, multitask_strategy: defaultStrategy, if_not_exists: 'reject' },
  RunCreateStateless: { ...ofEveryRun, on_completion: 'delete' },
  StoreListNamespacesRequest: { limit: storePage.namespacesLimit, offset: 0 },
  StoreSearchRequest: { limit: storePage.searchLimit, offset: 0 },
  ThreadCreate: { if_exists: 'raise' },
  ThreadCronCreate: { multitask_strategy: defaultStrategy, enabled: true },
  ThreadSearchRequest: page,
  ThreadStateSearch: { limit: 1 },
};

/** The defaults of query parameters. */
export const queryDefaults: Readonly<Record<string, unknown>> = { ...page, stream_modes: ['run_modes'] };
