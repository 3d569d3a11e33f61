import type { HeaderName } from './operation.ts';

/** Every header that some operation reads. */
export const headerParameters: Readonly<Record<HeaderName, { name: string; description: string }>> = {
  accept: { name: 'Accept', description: 'The media types that the client accepts.' },
  lastEventId: {
    name: 'Last-Event-ID',
    description: 'The id of the last event received. The stream continues after it.',
  },
  a2aVersion: {
    name: 'A2A-Version',
    description: 'The version of the agent-to-agent protocol, `1.0` or `0.3`; derived from the method when absent.',
  },
  mcpVersion: { name: 'MCP-Protocol-Version', description: 'The revision of the model context protocol.' },
};

/** Every path parameter, and whether it is a uuid. */
export const pathParameters: Readonly<Record<string, { description: string; isUuid: boolean }>> = {
  assistant_id: { description: 'The id of the assistant, or of a graph for its default assistant.', isUuid: false },
  namespace: { description: 'The names of the nodes on the way to the subgraph, joined by `|`.', isUuid: false },
  thread_id: { description: 'The id of the thread.', isUuid: true },
  run_id: { description: 'The id of the run.', isUuid: true },
  cron_id: { description: 'The id of the cron.', isUuid: true },
  checkpoint_id: { description: 'The id of the checkpoint.', isUuid: true },
  asset: { description: 'The name of a file of the page.', isUuid: false },
};

/** The descriptions of query parameters. */
export const queryNotes: Readonly<Record<string, string>> = {
  limit: 'The maximum number of results; 10 when absent.',
  offset: 'The number of results to skip.',
  status: 'Only those with this status.',
  select: 'Only these fields; the parameter is repeated for each.',
  xray: 'Whether to expand subgraphs, or up to which depth.',
  recurse: 'Whether to include subgraphs of subgraphs.',
  version: 'The version that becomes the active one. It may be in the body instead.',
  delete_threads: 'Whether to delete the threads whose metadata names the assistant.',
  subgraphs: 'Whether to include the states of subgraphs.',
  before: 'Only states before this checkpoint.',
  stream_modes: 'Which events to send: those of runs, the start and end of runs, changes of the state.',
  stream_mode: 'Only events of these modes, separated by commas; all of the run’s when absent.',
  cancel_on_disconnect: 'Whether the run is cancelled when the client disconnects.',
  wait: 'Whether the response waits for the end of the run.',
  action: 'Whether the run’s work is kept (`interrupt`) or undone (`rollback`).',
  key: 'The key of the item.',
  namespace: 'The namespace: the parameter repeated for each label, or one joined by dots.',
  refresh_ttl: 'Whether reading extends the time to live of the item.',
  check_db: 'Whether to check the database too.',
  format: 'The Prometheus text format, or JSON.',
  include: 'Additional fields of the thread.',
};
