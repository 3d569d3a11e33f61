/** Features that the public server has and ours does not, as named by `lacking.ts`, and the reason. */
export interface Difference {
  reason: string;
  what: readonly string[];
}

/** Every difference. The test also fails on rows that no longer differ. */
export const differences: readonly Difference[] = [
  {
    reason:
      'What was deleted is answered with 204 and no body, as the public servers themselves do with threads and runs.',
    what: [
      'DELETE /assistants/{assistant_id} 200',
      'DELETE /threads/{thread_id} 200',
      'DELETE /threads/{thread_id}/runs/{run_id} 200',
      'DELETE /runs/crons/{cron_id} 200',
    ],
  },
  {
    reason:
      'A run that will end is a 202, and one that has ended, for those who waited for that, a 204, as of the public servers.',
    what: ['POST /threads/{thread_id}/runs/{run_id}/cancel 200'],
  },
  {
    reason:
      'A call without an id is answered too, because callers of the protocol before it was written down send some.',
    what: ['POST /a2a/{assistant_id} body.id required'],
  },
  {
    reason: 'Only a server of graphs in Python has it, as the public server for JavaScript has none.',
    what: ['GET /info 200.langgraph_py_version required'],
  },
  {
    reason: 'A schema that can’t be determined is omitted, as the public document says of these fields.',
    what: ['GraphSchemaNoId.input_schema required', 'GraphSchemaNoId.output_schema required'],
  },
];
