import { Client, escapeIdentifier, escapeLiteral } from 'pg';
import { hasCode } from '../errors.ts';
import { explainConnecting } from './unavailable.ts';
import { createHmac, hash, pbkdf2Sync, randomBytes } from 'node:crypto';

/** A database with a role of its own, as an agent gets it. */
export interface AgentDatabase {
  database: string;
  role: string;
  /** Printable ASCII; a secret. */
  password: string;
  /** Connections that the role may have at once, so that one deployment leaves some to the others; 20 when absent. */
  connections?: number | undefined;
}

/** The default number of connections of a deployment's role. */
export const usualConnections = 20;

/** Makes a database on a server unless it exists, and returns its address with the same role. */
export async function createDatabase(adminUrl: string, name: string): Promise<string> {
  const url = withDatabase(adminUrl, name);
  await asAdmin(adminUrl, (admin) => makeDatabase(admin, name));
  return url;
}

/** Makes sure of Landfall's own database on a server of ours, to which deployments' roles may not connect. */
export async function ensureOwnDatabase(adminUrl: string, name: string): Promise<void> {
  await asAdmin(adminUrl, async (admin) => {
    await makeDatabase(admin, name);
    for (const database of ['postgres', 'template1', name]) await closeToPublic(admin, database);
  });
}

/** Removes a database, and ends the connections to it; one that does not exist is no error. */
export async function dropDatabase(adminUrl: string, name: string): Promise<void> {
  await asAdmin(adminUrl, (admin) => admin.query(`drop database if exists ${escapeIdentifier(name)} with (force)`));
}

/**
 * Makes sure of a database that belongs to a role, and that the role can log in with this password and reach no
 * other database of Landfall's: the right to connect is taken from the public, on this database and on the
 * administrator's. May be called again, also with another password, and by several processes at once. On a server of
 * your own, other databases keep the rights you gave them.
 *
 * @param adminUrl address of Landfall's own database, with a role that may create databases and roles.
 * @returns the address for the agent: a secret.
 */
export async function ensureAgentDatabase(adminUrl: string, agent: AgentDatabase): Promise<string> {
  const { database, role, password, connections = usualConnections } = agent;
  for (const name of [database, role]) checkName(name);
  await asAdmin(adminUrl, async (admin) => {
    const quoted = escapeIdentifier(role);
    const known = await admin.query('select from pg_roles where rolname = $1', [role]);
    if (known.rowCount === 0) await admin.query(`create role ${quoted}`);
    await admin.query(
      `alter role ${quoted} login noinherit nocreatedb nocreaterole connection limit ${Math.trunc(connections)} password ${escapeLiteral(scramVerifier(password))}`,
    );
    // Each connection of one deployment would fill the disk of all with its sorting; only a superuser may bound that.
    await admin.query(
      `do $$ begin if (select rolsuper from pg_catalog.pg_roles where rolname = current_user) then alter role ${quoted} set temp_file_limit = '1GB'; end if; end $$`,
    );
    // Without being its member, an administrator who is no superuser may not make the role an owner.
    await admin.query(
      `do $$ begin if not pg_has_role(current_user, ${escapeLiteral(role)}, 'set') then grant ${quoted} to current_user; end if; end $$`,
    );
    await makeDatabase(admin, database, role);
    await closeToPublic(admin, database);
    const own = await admin.query<{ name: string }>('select current_database() as name');
    for (const { name } of own.rows) await closeToPublic(admin, name);
  });
  return withRole(withDatabase(adminUrl, database), agent);
}

/** The databases whose names begin so and that their owners can use: they take connections, and the owner may log in. */
export async function usableDatabases(adminUrl: string, prefix: string): Promise<Set<string>> {
  const { rows } = await asAdmin(adminUrl, (admin) =>
    admin.query<{ name: string }>(
      `select datname as name from pg_database join pg_roles on pg_roles.oid = datdba
       where starts_with(datname, $1) and datallowconn and datconnlimit not in (0, -2)
         and rolcanlogin and rolconnlimit <> 0 and (rolvaliduntil is null or rolvaliduntil > now())`,
      [prefix],
    ),
  );
  return new Set(rows.map(({ name }) => name));
}

/** The same database for another role. An address may name its user in the query too, where it would count first. */
function withRole(url: string, { role, password }: AgentDatabase): string {
  const other = new URL(url);
  for (const name of ['user', 'password']) other.searchParams.delete(name);
  if (other.hostname === '') {
    // Without a host, as for a socket's file, there is no other place for them.
    other.searchParams.set('user', role);
    other.searchParams.set('password', password);
  } else {
    other.username = encodeURIComponent(role);
    other.password = encodeURIComponent(password);
  }
  return other.href;
}

/** Removes an agent's database and its role; what does not exist is no error. */
export async function dropAgentDatabase(
  adminUrl: string,
  { database, role }: Omit<AgentDatabase, 'password'>,
): Promise<void> {
  await dropDatabase(adminUrl, database);
  await asAdmin(adminUrl, (admin) => admin.query(`drop role if exists ${escapeIdentifier(role)}`));
}

/** The same server and role, another database. Throws for a name that Postgres would cut off or an address breaks. */
export function withDatabase(url: string, database: string): string {
  checkName(database);
  const other = new URL(url);
  // The driver reads the name with decodeURI, which leaves the escapes of ?, # and the like as they are.
  other.pathname = `/${encodeURI(database)}`;
  return other.href;
}

function checkName(name: string): void {
  if (name === '' || Buffer.byteLength(name) > 63 || /[?#%\0]/.test(name)) {
    throw new Error(`${JSON.stringify(name)} can't be the name of a database or role: 1 to 63 bytes, none of ? # %.`);
  }
}

async function makeDatabase(admin: Client, name: string, owner?: string): Promise<void> {
  const known = await admin.query('select from pg_database where datname = $1', [name]);
  if (known.rowCount !== 0) return;
  const owned = owner === undefined ? '' : ` owner ${escapeIdentifier(owner)}`;
  await admin.query(`create database ${escapeIdentifier(name)}${owned} template template0`);
}

async function closeToPublic(admin: Client, database: string): Promise<void> {
  await admin.query(`revoke connect, temporary on database ${escapeIdentifier(database)} from public`);
}

/** Runs one piece of administration; the lock keeps two processes from doing the same at once. */
async function asAdmin<T>(adminUrl: string, work: (admin: Client) => Promise<T>): Promise<T> {
  const admin = new Client({
    connectionString: adminUrl,
    application_name: 'landfall-admin',
    connectionTimeoutMillis: 10_000,
  });
  // The query in progress reports a broken connection; the event is a duplicate.
  admin.on('error', () => undefined);
  await admin.connect().catch((error: unknown) => {
    throw explainConnecting(error);
  });
  try {
    await admin.query("select pg_advisory_lock(hashtext('landfall administration'))");
    return await work(admin).catch((error: unknown) => {
      throw explainForbidden(error);
    });
  } finally {
    await admin.end();
  }
}

/** SQLSTATE 42501 says what is not allowed, and not what to do. */
function explainForbidden(error: unknown): unknown {
  if (!hasCode(error, '42501')) return error;
  return new Error(
    `Postgres says: ${error.message}. Every deployment has a database and a role of its own: let the role of DATABASE_URL make them (ALTER ROLE ... CREATEDB CREATEROLE), or name another one.`,
    { cause: error },
  );
}

/**
 * What Postgres keeps of a password (RFC 5803): set in this form, the password stays out of logs and lists of activity.
 * Throws for characters other than printable ASCII.
 */
function scramVerifier(password: string): string {
  if (!/^[\x20-\x7e]+$/.test(password)) throw new Error("A role's password must be of printable ASCII characters.");
  const [salt, iterations] = [randomBytes(16), 4096];
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256');
  const keyed = (word: string) => createHmac('sha256', salted).update(word).digest();
  const storedKey = hash('sha256', keyed('Client Key'), 'base64');
  const serverKey = keyed('Server Key').toString('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
}
