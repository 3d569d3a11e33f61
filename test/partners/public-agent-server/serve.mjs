// Serves the graphs of a folder by the public JavaScript agent server and prints where: one JSON line.
//   node serve.mjs [--auth ./path.ts:export] FOLDER GRAPH_ID=./path.ts:export ...
// It runs until its standard input ends, so it cannot outlive who started it.
import { createServer } from 'node:net';
import { parseArgs } from 'node:util';
import { startServer } from '@langchain/langgraph-api/server';

const { values, positionals } = parseArgs({ options: { auth: { type: 'string' } }, allowPositionals: true });
const [folder, ...graphs] = positionals;

// The server cannot listen on any free port, so find one just before.
const port = await new Promise((resolve, reject) => {
  const probe = createServer();
  probe.on('error', reject);
  probe.listen(0, '127.0.0.1', () => {
    const { port: free } = probe.address();
    probe.close(() => resolve(free));
  });
});

const { cleanup } = await startServer({
  port,
  host: '127.0.0.1',
  nWorkers: 4,
  cwd: folder,
  graphs: Object.fromEntries(graphs.map((graph) => graph.split('='))),
  ...(values.auth ? { auth: { path: values.auth } } : {}),
});
console.log(JSON.stringify({ url: `http://127.0.0.1:${port}` }));
process.stdin.resume();
process.stdin.on('end', () => void cleanup().finally(() => process.exit(0)));
