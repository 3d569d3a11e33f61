const threadId = '7c5ac28e-1a05-4b4b-9d4e-5b1b8d1e9f10';
const runId = '0d9d6b4b-6a0c-4d4e-8a3a-2c7f5f0c1a22';
const checkpointId = '1f0c9a52-8c1e-6a10-8001-3f1d2b7a9c44';
const question = { messages: [{ role: 'user', content: 'What is the capital of France?' }] };

const run = {
  assistant_id: 'agent',
  input: question,
  context: { model: 'small' },
  config: { recursion_limit: 50, configurable: { language: 'en' } },
  metadata: { customer: 'acme' },
  stream_mode: ['values', 'messages-tuple'],
};
const { stream_mode: _, ...awaited } = run;
const cron = { assistant_id: 'agent', schedule: '0 9 * * 1-5', timezone: 'Europe/Berlin', input: question };

/** An example of every JSON body, by the id of its operation. */
export const examples: Readonly<Record<string, unknown>> = {
  create_assistant: { graph_id: 'agent', name: 'Support', context: { model: 'small' }, metadata: { team: 'support' } },
  search_assistants: { graph_id: 'agent', metadata: { team: 'support' }, limit: 20, offset: 0 },
  count_assistants: { graph_id: 'agent', metadata: { team: 'support' } },
  patch_assistant: { name: 'First-line support', context: { model: 'large' } },
  list_assistant_versions: { limit: 20 },
  set_latest_assistant_version: { version: 2 },
  create_thread: { metadata: { customer: 'acme' }, if_exists: 'do_nothing', ttl: { strategy: 'delete', ttl: 43_200 } },
  search_threads: { metadata: { customer: 'acme' }, status: 'idle', limit: 20, sort_by: 'updated_at' },
  count_threads: { metadata: { customer: 'acme' }, status: 'interrupted' },
  prune_threads: { thread_ids: [threadId], strategy: 'keep_latest' },
  patch_thread: { metadata: { priority: 'high' } },
  copy_thread: { metadata: { copied_for: 'a test' } },
  update_thread_state: { values: question, as_node: 'model' },
  patch_thread_state: { metadata: { reviewed: true } },
  post_thread_state_at_checkpoint: { checkpoint: { checkpoint_id: checkpointId, checkpoint_ns: '' } },
  search_thread_history: { limit: 10, metadata: { source: 'loop' } },
  cancel_runs: { thread_id: threadId, run_ids: [runId] },
  create_run: { ...awaited, multitask_strategy: 'enqueue' },
  stream_run: run,
  wait_run: awaited,
  create_stateless_run: { ...awaited, webhook: 'https://example.com/done' },
  stream_stateless_run: run,
  wait_stateless_run: awaited,
  create_run_batch: [awaited, { assistant_id: 'agent', input: {} }],
  create_thread_cron: cron,
  create_cron: { ...cron, metadata: { report: 'daily' }, on_run_completed: 'keep' },
  search_crons: { assistant_id: 'agent', enabled: true, limit: 20 },
  count_crons: { enabled: true },
  patch_cron: { schedule: '0 7 * * *', enabled: false },
  put_item: { namespace: ['users', 'ada'], key: 'preferences', value: { language: 'en' } },
  delete_item: { namespace: ['users', 'ada'], key: 'preferences' },
  search_items: { namespace_prefix: ['users'], filter: { language: 'en' }, limit: 10 },
  list_namespaces: { prefix: ['users'], max_depth: 2 },
  post_a2a: {
    jsonrpc: '2.0',
    id: '1',
    method: 'message/send',
    params: { message: { role: 'user', parts: [{ kind: 'text', text: 'Hello' }], messageId: 'm-1' } },
  },
  post_mcp: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} },
  send_thread_command: { id: 1, method: 'run.start', params: { assistant_id: 'agent', input: question } },
  stream_thread_events: { channels: ['values', 'lifecycle'], since: 0 },
  load_ui_component: { name: 'weather' },
};
