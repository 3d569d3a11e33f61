import { PAGE } from '../../contract/agent/assistant.ts';
import { STORE_PAGE } from '../../contract/agent/store-item.ts';
import { DEFAULT_STRATEGY } from '../runs/run-plan.ts';

const page = { limit: PAGE.defaultLimit, offset: 0 };

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
  RunCreateStateful: { ...ofEveryRun, multitask_strategy: DEFAULT_STRATEGY, if_not_exists: 'reject' },
  RunCreateStateless: { ...ofEveryRun, on_completion: 'delete' },
  StoreListNamespacesRequest: { limit: STORE_PAGE.namespacesLimit, offset: 0 },
  StoreSearchRequest: { limit: STORE_PAGE.searchLimit, offset: 0 },
  ThreadCreate: { if_exists: 'raise' },
  ThreadCronCreate: { multitask_strategy: DEFAULT_STRATEGY, enabled: true },
  ThreadSearchRequest: page,
  ThreadStateSearch: { limit: 1 },
};

/** The defaults of query parameters. */
export const queryDefaults: Readonly<Record<string, unknown>> = { ...page, stream_modes: ['run_modes'] };
