/**
 * A process that starts an embedded Postgres and can be killed: tests run it, and read one line of JSON from it.
 *
 * Usage: node embedded-process.ts <data folder> hold | write | throw [root's folder]
 */
import { Client } from 'pg';
import { startEmbeddedPostgres } from '../../../src/kit/postgres/embedded.ts';

const [dataDir = '', what = 'hold', systemFolder] = process.argv.slice(2);
const log = (...words: unknown[]): void => console.error(...words);
const server = await startEmbeddedPostgres({
  dataDir,
  log: { debug: log, info: log, warn: log, error: log },
  // Tests with root's folder check where the data is, not whether it is on the disk.
  ...(systemFolder === undefined ? {} : { systemFolder, settings: { fsync: 'off' } }),
});
process.stdout.write(
  `${JSON.stringify({ pid: process.pid, server: server.pid, url: server.url, dataDir: server.dataDir })}\n`,
);
// Stops gracefully on SIGTERM.
process.once('SIGTERM', () => void server.stop().then(() => process.exit(0)));

if (what === 'throw') {
  setTimeout(() => {
    throw new Error('uncaught');
  }, 50);
}
if (what === 'write') {
  const client = new Client({ connectionString: server.url });
  await client.connect();
  await client.query('create table if not exists written (n integer)');
  for (let n = 1; ; n += 1) {
    await client.query('insert into written values ($1)', [n]);
    process.stdout.write(`${n}\n`);
  }
}
setInterval(() => undefined, 60_000);
