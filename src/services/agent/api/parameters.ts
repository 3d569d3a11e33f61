import * as z from 'zod';
import type { Header } from '../../../kit/http/operation.ts';

export const accept: Header = { name: 'Accept', description: 'The media types that the client accepts.' };
export const lastEventId: Header = {
  name: 'Last-Event-ID',
  description: 'The id of the last event received. The stream continues after it.',
};
export const a2aVersion: Header = {
  name: 'A2A-Version',
  description: 'The version of the agent-to-agent protocol, `1.0` or `0.3`; derived from the method when absent.',
};
export const mcpVersion: Header = {
  name: 'MCP-Protocol-Version',
  description: 'The revision of the model context protocol.',
};

const id = (description: string) => z.uuid().meta({ param: { description } });
const text = (description: string) => z.string().meta({ param: { description } });

/** Every parameter of a path. */
export const pathParameters: Readonly<Record<string, z.ZodType>> = {
  assistant_id: text('The id of the assistant, or of a graph for its default assistant.'),
  namespace: text('The names of the nodes on the way to the subgraph, joined by `|`.'),
  thread_id: id('The id of the thread.'),
  run_id: id('The id of the run.'),
  cron_id: id('The id of the cron.'),
  delivery_id: id('The id of the delivery: that of its run.'),
  checkpoint_id: id('The id of the checkpoint.'),
  ui: text('The name of the UI: a key of `ui` in the graph configuration.'),
  asset: text('The name of a file of the page.'),
};

/** The descriptions of query parameters. */
export const queryDescriptions: Readonly<Record<string, string>> = {
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
