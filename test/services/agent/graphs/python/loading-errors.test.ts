import { expect, test } from 'vitest';
import { WorkerError } from '../../../../../src/services/agent/graphs/python/worker-error.ts';
import { explainGraph } from '../../../../../src/services/agent/graphs/python/loading-errors.ts';

const place = { graphId: 'agent', file: './agent.py', exportName: 'graph', description: undefined };
const frame = (file: string, code: string) => `  File "${file}", line 1, in f\n    ${code}`;

test('an error at load is told with its cause, and the frames of the agent’s own code', () => {
  const stack = [
    frame('/agent/agent.py', 'tools = load()'),
    frame('<frozen importlib._bootstrap>', 'import'),
    frame('/agent/tools.py', 'get("https://tools.example")'),
    ...Array.from({ length: 30 }, () => frame('/env/lib/python3.11/site-packages/requests/api.py', 'send()')),
    frame('/env/lib/python3.11/site-packages/requests/adapters.py', 'raise ConnectionError(e)'),
    'ConnectionError: no route',
  ].join('\n');
  const cause = { type: 'OSError', message: 'unreachable' };
  const explained = explainGraph(
    new WorkerError({ type: 'ConnectionError', message: 'no route', stack, cause }),
    place,
  );
  expect(String(explained)).toBe(
    [
      'StartupError: ./agent.py: loading graph "agent" raised ConnectionError: no route',
      'Caused by: OSError: unreachable',
      frame('/agent/agent.py', 'tools = load()'),
      frame('/agent/tools.py', 'get("https://tools.example")'),
      frame('/env/lib/python3.11/site-packages/requests/adapters.py', 'raise ConnectionError(e)'),
      'ConnectionError: no route',
    ].join('\n'),
  );
});
