import type { HeaderName } from './operation.ts';

/** Every header that some operation heeds. */
export const headerParameters: Readonly<Record<HeaderName, { name: string; description: string }>> = {
  accept: { name: 'Accept', description: 'What the caller can read.' },
  lastEventId: {
    name: 'Last-Event-ID',
    description: 'The id of the last event that came before the connection broke: those after it come now.',
  },
  a2aVersion: {
    name: 'A2A-Version',
    description: 'The version of the agent-to-agent protocol, `1.0` or `0.3`; the method tells it where it is absent.',
  },
  mcpVersion: { name: 'MCP-Protocol-Version', description: 'The revision of the model context protocol.' },
};

/** Every part of a path that is not fixed, and whether it is a uuid. */
export const pathParameters: Readonly<Record<string, { description: string; isUuid: boolean }>> = {
  assistant_id: { description: 'The id of the assistant, or of a graph for its default assistant.', isUuid: false },
  namespace: { description: 'The names of the nodes on the way to the subgraph, joined by `|`.', isUuid: false },
  thread_id: { description: 'The id of the thread.', isUuid: true },
  run_id: { description: 'The id of the run.', isUuid: true },
  cron_id: { description: 'The id of the cron.', isUuid: true },
  checkpoint_id: { description: 'The id of the checkpoint.', isUuid: true },
  asset: { description: 'The name of a file of the page.', isUuid: false },
};

/** What is said about the fields of a query, wherever they stand. */
export const queryNotes: Readonly<Record<string, string>> = {
  limit: 'The most that is told at once; 10 when absent.',
  offset: 'How many are passed over.',
  status: 'Only those of this status.',
  select: 'Only these fields; the parameter is repeated for each.',
  xray: 'Whether graphs inside are drawn too, or down to which depth.',
  recurse: 'Whether graphs inside of graphs inside are told too.',
  version: 'The version that becomes the active one. It may stand in the body instead.',
  delete_threads: 'Whether the threads whose metadata names the assistant go too.',
  subgraphs: 'Whether the states of subgraphs are told too.',
  before: 'Only states before this checkpoint.',
  stream_modes: 'What is told: the events of runs, their beginnings and ends, changes of the state.',
  stream_mode: 'Only events of these modes, with commas between them; all of the run’s when absent.',
  cancel_on_disconnect: 'Whether the run is cancelled when the caller goes.',
  wait: 'Whether the answer waits until the run has ended.',
  action: 'Whether what the run did stays (`interrupt`) or is undone (`rollback`).',
  key: 'The key of the item.',
  namespace: 'The namespace: the parameter repeated for each label, or one with dots between them.',
  refresh_ttl: 'Whether reading puts off the time at which the item goes.',
  check_db: 'Whether the database is asked too.',
  format: 'As Prometheus reads it, or as JSON.',
  include: 'What else is told of the thread.',
};
