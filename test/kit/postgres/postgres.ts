import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { inject } from 'vitest';
import { createDatabase, dropDatabase } from '../../../src/kit/postgres/databases.ts';

/** An empty database on the Postgres of this test run. */
export interface TestPostgres {
  /** Address of the empty database, as the superuser. */
  url: string;
  /** Address of the server's own database, for tests that make further databases and roles. */
  adminUrl: string;
  /** Removes the database, with all open connections. */
  stop(): Promise<void>;
}

/**
 * A new, empty database on a real Postgres, in some tens of milliseconds. The server is one for the whole run and
 * starts with the first call.
 */
export async function startTestPostgres(): Promise<TestPostgres> {
  const adminUrl = await pingPostgres();
  const name = `test_${randomBytes(8).toString('hex')}`;
  const url = await createDatabase(adminUrl, name);
  return { url, adminUrl, stop: () => dropDatabase(adminUrl, name) };
}

/** Over a plain socket, so that a test can intercept HTTP. */
async function pingPostgres(): Promise<string> {
  const port: number | undefined = inject('postgresUrlPort');
  if (port === undefined) throw new Error('A unit test has no Postgres. Name its file *.system.test.ts.');
  const answer = await text(connect({ host: '127.0.0.1', port }));
  if (!answer.startsWith('postgres:')) throw new Error(`The test database did not start: ${answer}`);
  return answer;
}
