import { Kysely, PostgresDialect, sql } from "kysely";
import { Pool } from "pg";
import { Migrator } from "kysely/migration";
// src/database/unavailable.ts
/** SQLSTATEs of a server that is going, coming, or full. */
const goneStates = /* @__PURE__ */ new Set([
	"57P01",
	"57P02",
	"57P03",
	"57P05",
	"53300",
	"25006"
]);
/** What the sockets and the driver say when there is no server at the other end. */
const goneCodes = /* @__PURE__ */ new Set([
	"ECONNREFUSED",
	"ECONNRESET",
	"EPIPE",
	"ETIMEDOUT",
	"EHOSTUNREACH",
	"ENETUNREACH",
	"ENOTFOUND",
	"EAI_AGAIN"
]);
const goneWords = /connection terminated|timeout (exceeded )?when trying to connect|connection ended|connection error/i;
/**
* Whether an error of a query means that the database can't be used at the moment, rather than that the query is
* wrong: it restarts, is unreachable, or has no connection left. The same query may succeed later; whether this one
* was carried out is unknown.
*/
function isDatabaseUnavailable(error) {
	if (!(error instanceof Error)) return false;
	if (error instanceof AggregateError && error.errors.some(isDatabaseUnavailable)) return true;
	const code = codeOf(error);
	if (goneCodes.has(code) || goneStates.has(code) || code.startsWith("08")) return true;
	return goneWords.test(error.message) || isDatabaseUnavailable(error.cause);
}
/** The server has given out all its connections, SQLSTATE 53300; the message says what to change. */
var TooManyConnectionsError = class extends Error {
	code = "53300";
	constructor(cause) {
		super(`Postgres gives no further connection (${cause.message}). Raise max_connections of the server (100 unless set; the embedded one is fixed at that, so set DATABASE_URL to a larger server), or run fewer deployments: each agent takes 2.`, { cause });
		this.name = "TooManyConnectionsError";
	}
};
/** Gives an error of connecting the words a person needs; other errors pass as they are. */
function explainConnecting(error) {
	if (!(error instanceof Error)) return new Error(String(error));
	return codeOf(error) === "53300" ? new TooManyConnectionsError(error) : error;
}
function codeOf(error) {
	return "code" in error && typeof error.code === "string" ? error.code : "";
}
// src/graph-config/graph-path.ts
/** Takes `./src/agent.ts:graph` apart. The last colon parts the two: a path may hold one (a Windows drive). */
function placeOf(graphId, entry) {
	const path = typeof entry === "string" ? entry : entry.path;
	const colon = path.lastIndexOf(":");
	return {
		graphId,
		file: path.slice(0, colon),
		exportName: path.slice(colon + 1),
		description: typeof entry === "string" ? void 0 : entry.description ?? void 0
	};
}
/** Every graph of a configuration file, in the file's order. */
function graphPlaces(config) {
	return Object.entries(config.graphs).map(([graphId, entry]) => placeOf(graphId, entry));
}
// src/graph-config/language.ts
const ENDINGS = {
	js: "javascript",
	mjs: "javascript",
	cjs: "javascript",
	jsx: "javascript",
	ts: "typescript",
	mts: "typescript",
	cts: "typescript",
	tsx: "typescript",
	py: "python"
};
/** The language of a graph's file. A path without an ending, such as a Python module's dotted name, is `unknown`. */
function graphLanguage(file) {
	const name = file.split(/[\\/]/).at(-1) ?? "";
	const ending = name.includes(".") ? name.split(".").at(-1) : void 0;
	return ENDINGS[ending?.toLowerCase() ?? ""] ?? "unknown";
}
/** Whether this machine can run the graphs: it runs JavaScript and TypeScript, by Node.js. The first that it can't decides. */
function runnableHere(places) {
	for (const { graphId, file } of places) {
		const language = graphLanguage(file);
		if (language === "python") return {
			kind: "refused",
			graphId,
			reason: `Graph "${graphId}" is written in Python (${file}). This machine runs graphs in JavaScript and TypeScript only.`
		};
		if (language === "unknown") return {
			kind: "refused",
			graphId,
			reason: `Graph "${graphId}" lies in ${file}, whose ending says no language. This machine runs .ts, .mts, .cts, .js, .mjs and .cjs files.`
		};
	}
	return { kind: "runnable" };
}
// src/database/database.ts
/**
* Opens a database. No connection is made before the first query, and one that breaks is replaced at the next query,
* so a restart of the server costs the queries under way and no more.
*
* Waiting for a connection ends with an error after 10 s; one that the server refuses because it has no more to give
* is a `TooManyConnectionsError`.
*
* @typeParam Schema the tables, as Kysely wants them.
*/
function openDatabase(options) {
	const { url, max = 5, applicationName = "landfall", log } = options;
	const pool = new ExplainingPool({
		connectionString: url,
		max,
		application_name: applicationName,
		connectionTimeoutMillis: 1e4,
		idleTimeoutMillis: 3e4,
		keepAlive: true
	});
	pool.on("error", (error) => log?.(`A connection to the database was lost: ${error.message}`));
	let closed;
	const db = new Kysely({ dialect: new PostgresDialect({ pool }) });
	return {
		db,
		pool,
		close: () => closed ??= db.destroy().then(() => pool.ending ? void 0 : pool.end())
	};
}
/** A pool whose refusals say what to change, whether one asks for a connection or for a query. */
var ExplainingPool = class extends Pool {
	connect(callback) {
		if (callback !== void 0) return super.connect((error, client, done) => callback(error === void 0 ? error : explainConnecting(error), client, done));
		return super.connect().catch((error) => {
			throw explainConnecting(error);
		});
	}
};
// src/database/migrate.ts
/** The database has steps that this program does not know: a newer version of it was here. */
var NewerDatabaseError = class extends Error {
	constructor(unknown) {
		super(`The database was made by a newer version of Landfall (it has ${unknown.join(", ")}). Run that version, or give this one another database.`);
		this.name = "NewerDatabaseError";
	}
};
/**
* Brings a database to the form this program wants: forward only, all pending steps or none. Several processes may
* do it at once; a lock lets one work and the others find it done.
*
* @returns the names of the steps that were applied now.
* @throws NewerDatabaseError when the database is ahead of this program.
*/
async function migrate(db, migrations, { schema = "public", table = "migrations" } = {}) {
	const names = migrations.map(({ name }) => name);
	const disorder = firstOutOfOrder(names);
	if (disorder !== void 0) throw new Error(`The migration ${disorder} must have a name that sorts after the one before it.`);
	const { error, results = [] } = await new Migrator({
		db,
		provider: { getMigrations: async () => Object.fromEntries(migrations.map((step) => [step.name, { up: (tx) => step.up(tx.withSchema(schema)) }])) },
		migrationTableSchema: schema,
		migrationTableName: table,
		migrationLockTableName: `${table}_lock`,
		nameComparator: (a, b) => a < b ? -1 : a > b ? 1 : 0
	}).migrateToLatest();
	if (error === void 0) return results.map(({ migrationName }) => migrationName);
	const unknown = (await appliedNames(db, schema, table)).filter((name) => !names.includes(name));
	throw unknown.length > 0 ? new NewerDatabaseError(unknown) : error;
}
/** The first name that does not sort after the one before it, letter by letter. */
function firstOutOfOrder(names) {
	return names.find((name, at) => at > 0 && name <= (names[at - 1] ?? ""));
}
async function appliedNames(db, schema, table) {
	if ((await sql`
    select to_regclass(format('%I.%I', ${schema}::text, ${table}::text)) is not null as there`.execute(db)).rows[0]?.there !== true) return [];
	const { rows } = await sql`select name from ${sql.id(schema, table)} order by name`.execute(db);
	return rows.map(({ name }) => name);
}
export { TooManyConnectionsError as a, graphPlaces as i, openDatabase as n, explainConnecting as o, runnableHere as r, isDatabaseUnavailable as s, migrate as t };
