import { t as systemClock } from "./clock.js";
import { n as fieldSpellings, r as spellFields } from "./aliases.js";
import { a as TooManyConnectionsError, i as graphPlaces, n as openDatabase, o as explainConnecting, r as runnableHere, s as isDatabaseUnavailable, t as migrate } from "./migrate.js";
import { a as clusterOf, c as hasCode, i as lockFolder, l as messageOf, n as preparePrograms, o as settleMove, r as stopLeftover, s as defaultSystemFolder, t as locate } from "./locate.js";
import { i as readRepoRef, r as isTagRef, t as fieldRules } from "./field-rules.js";
import { t as readGraphConfig } from "./read.js";
import { a as formatProblem } from "./parse.js";
import { t as ServiceError } from "./service-error.js";
import { a as revisionsQuery, c as deploymentCreateRequest, f as deploymentsQuery, l as deploymentPatchRequest, r as revisionStatusClasses, u as deploymentStatuses } from "./revision.js";
import { n as logQuery } from "./log.js";
import { basename, delimiter, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { accessSync, chownSync, closeSync, constants, existsSync, mkdirSync, openSync, readFileSync, readdirSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import * as z from "zod";
import { createHash, createHmac, pbkdf2Sync, randomBytes, randomUUID, timingSafeEqual } from "node:crypto";
import { sql } from "kysely";
import { Hono } from "hono";
import { isDeepStrictEqual, parseArgs, stripVTControlCharacters } from "node:util";
import { fileURLToPath } from "node:url";
import { Agent, createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { Client, escapeIdentifier, escapeLiteral } from "pg";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { createServer as createServer$1 } from "node:net";
import { StringDecoder } from "node:string_decoder";
import { ProxyServer } from "httpxy";
import { chmod, link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
// src/database/embedded/cluster.ts
/** The superuser that owns everything in an embedded server. */
const superuser = "landfall";
/**
* The environment of the server's programs: nothing of ours, so that no `PG...` variable, no locale and no secret of
* the person's reaches them.
*/
function programEnvironment({ libraries }) {
	const loader = process.platform === "darwin" ? "DYLD_LIBRARY_PATH" : "LD_LIBRARY_PATH";
	return {
		PATH: "/usr/local/bin:/usr/bin:/bin",
		LC_ALL: "C",
		TZ: "UTC",
		...libraries === void 0 ? {} : { [loader]: libraries }
	};
}
/**
* Makes the database cluster of a home unless it has one.
*
* @param durable whether it is written through to the disk.
* @returns the superuser's password, which lies in the home for later starts.
* @throws Error with what `initdb` said when it fails.
*/
async function ensureCluster(home, programs, durable = true) {
	const cluster = clusterOf(home);
	const passwordFile = join(home, "password");
	for (const half of readdirSync(home).filter((entry) => entry.startsWith("cluster-making-"))) rmSync(join(home, half), {
		recursive: true,
		force: true,
		maxRetries: 10,
		retryDelay: 100
	});
	if (existsSync(cluster)) return readPassword(passwordFile, cluster);
	const password = randomBytes(24).toString("base64url");
	rmSync(passwordFile, { force: true });
	writeFileSync(passwordFile, password, {
		mode: 384,
		flag: "wx"
	});
	const aside = join(home, `cluster-making-${randomBytes(6).toString("hex")}`);
	mkdirSync(aside, { mode: 448 });
	const handed = join(aside, "password");
	writeFileSync(handed, password, {
		mode: 384,
		flag: "wx"
	});
	const made = join(aside, "cluster");
	if (programs.user !== void 0) handOver([aside, handed], programs.user);
	await initialise(made, handed, programs, durable);
	rmSync(handed);
	renameSync(made, cluster);
	rmSync(aside, { recursive: true });
	return password;
}
function handOver(paths, { name, uid, gid }) {
	try {
		for (const path of paths) chownSync(path, uid, gid);
	} catch (error) {
		throw new Error(`Postgres does not run as root, and this root may not hand files to the user ${name} (${messageOf(error)}). Run as an ordinary user, or set DATABASE_URL to a Postgres server of yours.`, { cause: error });
	}
}
function readPassword(file, cluster) {
	if (existsSync(file)) return readFileSync(file, "utf8");
	throw new Error(`${file} is gone, which holds the password of the database in ${cluster}. Bring it back, or remove the cluster's folder to begin with an empty database.`);
}
async function initialise(folder, passwordFile, programs, durable) {
	const { installation, user } = programs;
	const child = spawn(join(installation.root, "bin", "initdb"), [
		`--pgdata=${folder}`,
		`--username=${superuser}`,
		`--pwfile=${passwordFile}`,
		"--auth=scram-sha-256",
		"--no-instructions",
		"--encoding=UTF8",
		"--locale=C",
		"--locale-provider=builtin",
		"--builtin-locale=C.UTF-8",
		...durable ? [] : ["--no-sync"]
	], {
		cwd: "/",
		env: programEnvironment(programs),
		detached: true,
		stdio: [
			"ignore",
			"pipe",
			"pipe"
		],
		...user === void 0 ? {} : {
			uid: user.uid,
			gid: user.gid
		}
	});
	const ended = new Promise((resolve, reject) => {
		child.once("error", reject);
		child.once("close", (code, signal) => resolve(code ?? signal));
	});
	const [said, end] = await Promise.all([Promise.all([text(child.stdout), text(child.stderr)]), ended]).catch((error) => {
		throw explainSpawn(error, programs);
	});
	if (end === 0) return;
	const words = said.join("\n").trim();
	throw new Error(`The embedded Postgres could not make its database in ${folder} (initdb ended with ${end}${user === void 0 ? "" : `, run as ${user.name}`}):\n${words}${adviceOn(words)}`);
}
function adviceOn(said) {
	return said.includes("could not look up effective user ID") ? "\nPostgres wants its user to have a line in /etc/passwd. Add one, or set DATABASE_URL to a Postgres server of yours." : "";
}
/** What it means that a program of the installation could not be run at all. */
function explainSpawn(error, { installation, user }) {
	const why = messageOf(error);
	const reason = user !== void 0 && hasCode(error, "EPERM", "EINVAL") ? `Postgres does not run as root, and this root may not run it as the user ${user.name} (${why}). Run as an ordinary user, or set` : `The programs of the embedded Postgres in ${installation.root} can't be run (${why}). They are made for the C library glibc and need to be executable. Set`;
	return new Error(`${reason} DATABASE_URL to a Postgres server of yours.`, { cause: error });
}
// src/database/embedded/keeper.ts
/** How long to wait before the next attempt to start a server that ended, in milliseconds. */
function pauseBefore(attempt) {
	return Math.min(250 * 2 ** (attempt - 1), 1e4);
}
/**
* Watches over a server: when it ends although nobody stopped it (killed for its memory, say), it is started again,
* at the same address, for as long as it takes.
*
* @param again starts the server anew; gives `undefined` when there is nothing left to start.
*/
function keepRunning(first, again, clock, log) {
	const enough = new AbortController();
	let server = first;
	async function watch() {
		for (let attempt = 0; !enough.signal.aborted;) {
			const how = await server.ended;
			if (enough.signal.aborted) return;
			attempt += 1;
			if (attempt === 1) log(`The embedded Postgres ended by itself (${how}); it is started again.`);
			try {
				await clock.sleep(pauseBefore(attempt), enough.signal);
				const next = await again();
				if (next === void 0) return;
				server = next;
				attempt = 0;
			} catch (error) {
				if (enough.signal.aborted) return;
				log(`The embedded Postgres could not be started again yet: ${messageOf(error)}`);
			}
		}
	}
	const watching = watch();
	return {
		pid: () => server.pid,
		stop: async () => {
			enough.abort();
			await server.stop();
			await watching;
			await server.stop();
		}
	};
}
// src/database/embedded/port.ts
/**
* A free port of 127.0.0.1: the one of the last time if nobody took it, so that processes which outlived us find the
* server again under the address they know; else any.
*
* @param lastTime the file that holds the number of the last time.
*/
async function choosePort(lastTime) {
	const wanted = readPort(lastTime);
	return (wanted === void 0 ? void 0 : await freePort(wanted)) ?? await freePort(0) ?? 0;
}
function readPort(file) {
	try {
		const port = Number(readFileSync(file, "utf8"));
		return Number.isInteger(port) && port > 1023 && port < 65536 ? port : void 0;
	} catch (error) {
		if (hasCode(error, "ENOENT")) return void 0;
		throw error;
	}
}
function freePort(port) {
	return new Promise((resolve, reject) => {
		const probe = createServer$1();
		probe.once("error", (error) => hasCode(error, "EADDRINUSE", "EACCES") ? resolve(void 0) : reject(error));
		probe.listen({
			host: "127.0.0.1",
			port,
			exclusive: true
		}, () => {
			const address = probe.address();
			probe.close(() => resolve(typeof address === "object" && address !== null ? address.port : void 0));
		});
	});
}
// src/database/embedded/server.ts
/** The server ended before it took connections. */
var ServerStartError = class extends Error {
	/** The end of the server's log. */
	said;
	constructor(message, said) {
		super(`${message}\n${said}`);
		this.name = "ServerStartError";
		this.said = said;
	}
};
/**
* Starts Postgres in a process group of its own, so that a Ctrl-C in the terminal ends us first and the server when
* we are done with it. It listens on 127.0.0.1 alone and makes no socket file, whose path would have to be short.
*/
function spawnServer(plan, clock) {
	const log = openLog(plan.logFile);
	const { user, installation } = plan.programs;
	const child = spawn(join(installation.root, "bin", "postgres"), serverArguments(plan), {
		cwd: "/",
		env: programEnvironment(plan.programs),
		detached: true,
		stdio: [
			"ignore",
			log,
			log
		],
		...user === void 0 ? {} : {
			uid: user.uid,
			gid: user.gid
		}
	});
	closeSync(log);
	child.unref();
	const ended = new Promise((resolve) => {
		child.once("error", (error) => resolve(explainSpawn(error, plan.programs).message));
		child.once("exit", (code, signal) => resolve(signal === null ? `exit code ${code}` : `signal ${signal}`));
	});
	const farewell = () => child.kill("SIGINT");
	process.once("exit", farewell);
	ended.then(() => process.removeListener("exit", farewell));
	return {
		pid: child.pid ?? 0,
		ended,
		stop: async () => {
			for (const [signal, patience] of [
				["SIGINT", 5e3],
				["SIGQUIT", 2e3],
				["SIGKILL", 2e3]
			]) {
				child.kill(signal);
				if (await endsWithin(ended, patience, clock)) return;
			}
		}
	};
}
function serverArguments({ cluster, port, settings }) {
	const all = {
		listen_addresses: "127.0.0.1",
		port: String(port),
		unix_socket_directories: "",
		max_connections: "100",
		timezone: "UTC",
		log_timezone: "UTC",
		log_min_error_statement: "panic",
		log_error_verbosity: "terse",
		...settings
	};
	return [
		"-D",
		cluster,
		...Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`])
	];
}
/** Opens the server's log anew, keeping the one before; a link in its place is not followed. */
function openLog(file) {
	if (existsSync(file)) renameSync(file, `${file}.before`);
	const { O_WRONLY, O_CREAT, O_APPEND, O_NOFOLLOW } = constants;
	return openSync(file, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 384);
}
async function endsWithin(ended, ms, clock) {
	const done = new AbortController();
	const patience = clock.sleep(ms, done.signal).then(() => false, () => true);
	const gone = ended.then(() => true);
	const result = await Promise.race([gone, patience]);
	done.abort();
	return result;
}
/**
* Waits until the server takes connections.
*
* @throws ServerStartError with the last lines of its log when it ends first, or is not ready by the deadline.
*/
async function untilReady(server, url, logFile, clock, patience = 12e4) {
	let end;
	server.ended.then((how) => end = how);
	for (const deadline = clock.now() + patience;;) {
		if (end !== void 0) throw new ServerStartError(`The embedded Postgres did not start (${end}). Its last words:`, lastLines(logFile));
		const problem = await connectionProblem(url);
		if (problem === void 0) return;
		if (clock.now() > deadline || isFinal(problem)) {
			await server.stop();
			throw new ServerStartError(`The embedded Postgres takes no connection (${problem.message}). Its last words:`, lastLines(logFile));
		}
		await clock.sleep(20);
	}
}
async function connectionProblem(url) {
	const client = new Client({
		connectionString: url,
		connectionTimeoutMillis: 5e3
	});
	client.on("error", () => void 0);
	try {
		await client.connect();
		await client.end();
		return;
	} catch (error) {
		return error instanceof Error ? error : new Error(String(error));
	}
}
/** A wrong password stays wrong: waiting does not help. */
function isFinal(problem) {
	return hasCode(problem, "28P01", "28000", "3D000");
}
/** The last lines of a server's log. */
function lastLines(file, count = 15) {
	return existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n").slice(-count).join("\n") : "";
}
// src/database/embedded/launch.ts
/**
* The address of a database on an embedded server: a secret. It says that there is no TLS on the loopback, because a
* `PGSSLMODE` in somebody's environment would ask for it.
*/
function addressOf(port, password, database) {
	return `postgres://${superuser}:${password}@127.0.0.1:${port}/${database}?sslmode=disable`;
}
/**
* Starts a server and waits until it takes connections. What passes by itself is tried again: a port that somebody
* took meanwhile, and the last processes of a killed server that hold on to its memory.
*
* @param fixedPort keeps to this port, because others know it; when absent it is the one of the last time if free.
*/
async function launch(home, password, plan, clock, fixedPort) {
	const portFile = join(home, "port");
	for (let attempt = 1;; attempt += 1) {
		const port = fixedPort ?? await choosePort(portFile);
		const server = spawnServer({
			...plan,
			port
		}, clock);
		try {
			await untilReady(server, addressOf(port, password, "postgres"), plan.logFile, clock);
			rmSync(portFile, { force: true });
			writeFileSync(portFile, String(port), {
				mode: 384,
				flag: "wx"
			});
			return {
				server,
				port
			};
		} catch (error) {
			await server.stop();
			if (attempt >= 20 || !(error instanceof ServerStartError) || !passes(error.said)) throw error;
			await clock.sleep(250);
		}
	}
}
/** Whether the last words of a server speak of something that passes. */
function passes(said) {
	return said.includes("could not create any TCP/IP sockets") || said.includes("pre-existing shared memory block") || said.includes("lock file \"postmaster.pid\" already exists");
}
// src/database/embedded.ts
/** The database of Landfall's own tables in an embedded server. */
const ownDatabase = "landfall";
/**
* Starts the Postgres that comes with Landfall on a data folder of its own.
*
* Run as root it starts the server as `nobody`, because Postgres refuses root. What that user can't reach, data or
* programs, lies in `/var/lib/landfall`. A server that a killed process left on the folder is stopped first. The
* caller stops the server; nothing here listens to signals. One that ends by itself is started again at the same
* address.
*
* @throws FolderBusyError when another process uses the folder.
* @throws Error with the last lines of the server's log when it does not start.
*/
async function startEmbeddedPostgres(options) {
	const { dataDir, log, clock = systemClock, systemFolder = defaultSystemFolder } = options;
	const { user, placement } = locate(dataDir, systemFolder);
	const { requested, home } = placement;
	const lock = await lockFolder(home, requested, clock, log);
	try {
		await stopLeftover(clusterOf(home), clock, log);
		settleMove(placement, new Date(clock.now()), log);
		if (home !== requested) log(`Postgres runs as ${user?.name}, who may not enter ${requested}; its data is in ${home}.`);
		const programs = preparePrograms(home, user, systemFolder, log);
		const password = await ensureCluster(home, programs, options.settings?.["fsync"] !== "off");
		const plan = {
			cluster: clusterOf(home),
			logFile: join(home, "server.log"),
			programs,
			settings: options.settings ?? {}
		};
		const { server, port } = await launch(home, password, plan, clock);
		const again = async () => existsSync(plan.cluster) ? (await launch(home, password, plan, clock, port)).server : void 0;
		const kept = keepRunning(server, again, clock, log);
		const stop = async () => {
			await kept.stop();
			lock.release();
		};
		let stopped;
		await ensureOwnDatabase(addressOf(port, password, "postgres")).catch(async (error) => {
			await kept.stop();
			throw error;
		});
		return {
			url: addressOf(port, password, ownDatabase),
			dataDir: home,
			get pid() {
				return kept.pid();
			},
			stop: () => stopped ??= stop()
		};
	} catch (error) {
		lock.release();
		throw error;
	}
}
async function ensureOwnDatabase(adminUrl) {
	const client = new Client({ connectionString: adminUrl });
	await client.connect();
	try {
		if ((await client.query("select from pg_database where datname = $1", [ownDatabase])).rowCount === 0) await client.query(`create database ${escapeIdentifier(ownDatabase)}`);
		for (const database of [
			"postgres",
			"template1",
			ownDatabase
		]) await client.query(`revoke connect, temporary on database ${escapeIdentifier(database)} from public`);
	} finally {
		await client.end();
	}
}
// src/database/resolve-database.ts
/**
* The one Postgres of this installation: the person's own where an address is given, else the embedded one.
*
* @throws Error when the address is not one of Postgres, or as `startEmbeddedPostgres` does.
*/
async function resolveDatabase({ databaseUrl, dataDir, log }) {
	if (databaseUrl !== void 0 && databaseUrl !== "") return {
		url: checkAddress(databaseUrl),
		embedded: false,
		close: async () => void 0
	};
	const server = await startEmbeddedPostgres({
		dataDir,
		log
	});
	return {
		url: server.url,
		embedded: true,
		close: () => server.stop()
	};
}
function checkAddress(address) {
	const scheme = URL.canParse(address) ? new URL(address).protocol : void 0;
	if (scheme === "postgres:" || scheme === "postgresql:") return address;
	throw new Error("DATABASE_URL is not the address of a Postgres database. Write it as postgres://user:password@host:5432/database.");
}
// src/control-service/compute/agent-environment.ts
/** The PATH for what belongs to agents: the Node.js that runs this service comes first. */
const pathWithOurNode = (path) => [dirname(process.execPath), path].join(delimiter);
/**
* The whole environment of an agent's process: the deployment's secrets, and over them what the platform sets. Nothing
* of this service's own environment but the search path: it may hold our key and database.
*/
function agentEnvironment(spec, { token, drainMs, path }) {
	return {
		NODE_ENV: "production",
		...Object.fromEntries(spec.secrets.map(({ name, value }) => [name, value])),
		PATH: pathWithOurNode(path),
		HOME: spec.homeFolder,
		HOST: "127.0.0.1",
		PORT: "0",
		DATABASE_URI: spec.databaseUrl,
		LANDFALL_GRAPH_CONFIG: spec.graphConfigFile,
		LANDFALL_AGENT_TOKEN: token,
		LANDFALL_REVISION_ID: spec.revisionId,
		LANDFALL_DEPLOYMENT_ID: spec.deploymentId,
		LANDFALL_DRAIN_MS: String(drainMs)
	};
}
/** What must not be read in the agent's log. */
function agentSecrets(spec, token) {
	const { password } = new URL(spec.databaseUrl);
	return [
		...spec.secrets.map(({ value }) => value),
		token,
		spec.databaseUrl,
		decodeURIComponent(password)
	];
}
// src/control-service/compute/agent-server-path.ts
/** The file that runs one revision's agent: a source file beside this one's room, or what is built beside this file. */
function agentServerPath(here = import.meta.url) {
	const there = here.endsWith(".ts") ? "../../agent-server/main.ts" : "./agent-server.js";
	return fileURLToPath(new URL(there, here));
}
// src/control-service/gateway/headers.ts
/** The header by which an agent's process knows that a request came through the gateway. */
const agentTokenHeader = "x-landfall-agent-token";
/** They speak about one connection, not about the message. */
const hopByHop = [
	"connection",
	"keep-alive",
	"proxy-connection",
	"te",
	"trailer",
	"upgrade"
];
/** What a caller shows to be let in: it is for the service and none of the agent's business. */
const credentials = [
	"x-api-key",
	"x-tenant-id",
	"authorization",
	"proxy-authorization",
	agentTokenHeader
];
/** They say where the body ends; a caller may not have them dropped by naming them in `Connection`. */
const framing = /* @__PURE__ */ new Set([
	"host",
	"content-length",
	"transfer-encoding"
]);
/** Names that the sender of a message bound to its own connection. */
function boundToConnection(headers) {
	return (headers.connection ?? "").split(",").map((name) => name.trim().toLowerCase()).filter((name) => name !== "" && !framing.has(name));
}
/**
* Leaves only what the agent may see, and adds its token. Works on the given headers: the proxy reads them from the
* request. `Expect` goes because the service has answered it already.
*/
function makeFitForAgent(headers, token) {
	const dropped = [
		...boundToConnection(headers),
		...hopByHop,
		...credentials,
		"expect"
	];
	for (const name of dropped) delete headers[name];
	headers[agentTokenHeader] = token;
}
/** Leaves only what speaks about the agent's answer itself. Its framing stays: it is how the body arrives. */
function makeFitForCaller(headers) {
	for (const name of [
		...boundToConnection(headers),
		...hopByHop,
		"proxy-authenticate"
	]) delete headers[name];
}
// src/control-service/compute/health.ts
const betweenTries = 200;
/**
* Asks an agent for its health until it says that it is well (`GET /ok`).
*
* @returns whether it did before `signal` aborted.
*/
async function becomesHealthy(origin, token, clock, signal) {
	while (!signal.aborted) {
		if (await isHealthy(origin, token, signal)) return true;
		await clock.sleep(betweenTries, signal).catch(() => void 0);
	}
	return false;
}
async function isHealthy(origin, token, signal) {
	try {
		const response = await fetch(`${origin}/ok`, {
			headers: { [agentTokenHeader]: token },
			signal
		});
		await response.body?.cancel();
		return response.ok;
	} catch {
		return false;
	}
}
// src/control-service/compute/leashed-process.ts
/**
* The guard waits on a pipe whose other end only we hold. However we end, `kill -9` included, the pipe closes, and the
* guard kills the group that it shares with the process. As long as the guard lives, the group's id is not given to
* anybody else, so that sweeping up after the process can't hit a stranger.
*/
const leash = "{ read -r _; sleep \"$1\"; kill -s KILL 0; } <&3 >/dev/null 2>&1 & shift; exec 3<&-; exec \"$@\"";
/** How long output is waited for after the end, when a grandchild that left the group keeps it open. */
const lastWordsMs = 1e3;
/** Starts a process on the leash. */
function startLeashed(spec, clock) {
	const { command, args, cwd, env, withInput, graceSeconds } = spec;
	const child = spawn("/bin/sh", [
		"-c",
		leash,
		"leash",
		String(graceSeconds),
		command,
		...args
	], {
		cwd,
		env,
		detached: true,
		stdio: [
			withInput ? "pipe" : "ignore",
			"pipe",
			"pipe",
			"pipe"
		]
	});
	const { stdout, stderr } = child;
	if (!stdout || !stderr) throw new Error("a process was spawned without its pipes");
	for (const pipe of [child.stdin, child.stdio[3]]) pipe?.on("error", () => void 0);
	let killed = false;
	const killGroup = () => {
		if (child.pid === void 0 || killed) return;
		killed = true;
		signalGroup(child.pid);
	};
	const closed = new Promise((resolve) => child.once("close", () => resolve()));
	const left = new Promise((resolve) => {
		child.once("error", (error) => resolve({
			kind: "unstartable",
			reason: error.message
		}));
		child.once("exit", (code, signal) => resolve(code === null ? {
			kind: "killed",
			signal: signal ?? "unknown"
		} : {
			kind: "exited",
			code
		}));
	});
	const untilReadToTheEnd = async () => {
		const end = await left;
		killGroup();
		const silence = new AbortController();
		await Promise.race([closed, clock.sleep(lastWordsMs, silence.signal).catch(() => void 0)]);
		silence.abort();
		stdout.destroy();
		stderr.destroy();
		return end;
	};
	const ended = untilReadToTheEnd();
	return {
		pid: child.pid,
		stdin: child.stdin,
		stdout,
		stderr,
		ended,
		kill: killGroup
	};
}
function signalGroup(pid) {
	try {
		process.kill(-pid, "SIGKILL");
	} catch (error) {
		if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
	}
}
// src/control-service/compute/last-words.ts
/** `TypeError: ...`, `Error [ERR_X]: ...`, as JavaScript prints what was thrown. */
const namesAnError = /^(Uncaught )?[A-Z]\w*(Error|Exception)?( \[\w+\])?: \S/;
/** What stands around it: the stack, the source line with its marker, fields of the error, the runtime's version. */
const isAround = /^(\s|[{}[\]]*,?$|at |Node\.js v\d|node:internal|file:\/\/)/;
/** Makes a memory that has heard nothing yet. */
function lastWords() {
	let error;
	let line;
	return {
		hear(said) {
			const plain = stripVTControlCharacters(said);
			if (isAround.test(plain)) return;
			line = plain;
			if (namesAnError.test(plain)) error = plain;
		},
		best: () => error ?? line
	};
}
// src/control-service/compute/listening.ts
/** The line by which an agent's process says that it listens. */
const listening = z.object({
	event: z.literal("listening"),
	port: z.int().min(1).max(65535)
});
/** The port that a line of an agent's output announces, if it is that line. */
function announcedPort(line) {
	if (!line.startsWith("{")) return void 0;
	try {
		return listening.safeParse(JSON.parse(line)).data?.port;
	} catch {
		return;
	}
}
// src/control-service/compute/mask.ts
/** A shorter value would black out half of every log; nobody keeps a secret in three letters. */
const shortest$1 = 4;
const escaped = (text) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
/** The ways in which a value is found in output: as it is, line by line, and as other formats write it. */
function spellings(value) {
	return [
		value,
		...value.split(/\r?\n/).map((line) => line.trim()),
		JSON.stringify(value).slice(1, -1),
		encodeURIComponent(value),
		Buffer.from(value).toString("base64"),
		Buffer.from(value).toString("base64url")
	];
}
/** Makes the mask of some secret values. */
function maskOf(values) {
	const words = [...new Set([...values].flatMap(spellings))].filter((word) => word.length >= shortest$1);
	words.sort((one, other) => other.length - one.length);
	const pattern = words.length === 0 ? void 0 : new RegExp(words.map(escaped).join("|"), "g");
	const whole = (text) => pattern ? text.replace(pattern, "***") : text;
	const cut = (text) => {
		const masked = whole(text);
		return masked.slice(0, masked.length - longestBeginning(masked, words));
	};
	return {
		whole,
		cut
	};
}
/** How many characters at the end of a text are the beginning of one of the words. */
function longestBeginning(text, words) {
	let longest = 0;
	for (const word of words) for (let length = Math.min(word.length - 1, text.length); length > longest; length -= 1) if (text.endsWith(word.slice(0, length))) longest = length;
	return longest;
}
// src/control-service/compute/line-budget.ts
const usualBounds = {
	burst: 5e3,
	perSecond: 20,
	keepLast: 100
};
/** Makes a budget that passes lines on to `write`. */
function lineBudget(write, clock, bounds = usualBounds) {
	let allowance = bounds.burst;
	let since = clock.now();
	let leftOut = 0;
	let kept = [];
	const refill = () => {
		const now = clock.now();
		allowance = Math.min(bounds.burst, allowance + (now - since) / 1e3 * bounds.perSecond);
		since = now;
	};
	const catchUp = () => {
		const lost = leftOut - kept.length;
		if (lost > 0) write("warning", `[${lost} lines left out: too many to keep]`);
		for (const [level, line] of kept) write(level, line);
		allowance -= kept.length;
		leftOut = 0;
		kept = [];
	};
	return {
		tell(level, line) {
			refill();
			const needed = leftOut > 0 ? kept.length + bounds.perSecond : 1;
			if (allowance < needed) {
				leftOut += 1;
				kept.push([level, line]);
				if (kept.length > bounds.keepLast) kept.shift();
				return;
			}
			if (leftOut > 0) catchUp();
			allowance -= 1;
			write(level, line);
		},
		end: catchUp
	};
}
// src/control-service/compute/output-lines.ts
/** Characters of a line that are kept while it has not ended; what follows them is dropped. */
const longestRead = 16384;
/**
* Cuts a process's output into lines as it comes, without colours; of a line that was written over only its last state.
* A line that is too long to keep is told with `cut`.
*
* Resolves when the output has ended or was destroyed.
*/
function readLines(output, tell) {
	const decoder = new StringDecoder("utf8");
	let pending = "";
	let cut = false;
	const take = (text) => {
		const room = longestRead - pending.length;
		cut ||= text.length > room;
		pending += text.slice(0, room);
	};
	const end = () => {
		const plain = stripVTControlCharacters(pending.replace(/\r+$/, "")).replaceAll("\0", "");
		const line = plain.slice(plain.lastIndexOf("\r") + 1).trimEnd();
		if (line !== "") tell(line, cut);
		pending = "";
		cut = false;
	};
	output.on("data", (chunk) => {
		const [first = "", ...rest] = decoder.write(chunk).split("\n");
		take(first);
		for (const text of rest) {
			end();
			take(text);
		}
	});
	return new Promise((resolve) => {
		output.once("close", () => {
			take(decoder.end());
			end();
			resolve();
		});
	});
}
// src/control-service/compute/process-log.ts
/** Characters of a line that are told. */
const longestTold = 4e3;
/**
* Writes what a process says into a log, line by line, masked and bounded.
*
* @returns resolves when the process has said its last word.
*/
async function logProcess({ stdout, stderr }, { write, mask, clock, errorLevel, bounds = usualBounds }) {
	const budget = lineBudget(write, clock, bounds);
	const teller = (level) => (line, cut) => {
		const masked = cut ? `${mask.cut(line)} [...]` : mask.whole(line);
		budget.tell(level, masked.length > longestTold ? `${masked.slice(0, longestTold)} [...]` : masked);
	};
	await Promise.all([readLines(stdout, teller("info")), readLines(stderr, teller(errorLevel))]);
	budget.end();
}
// src/control-service/compute/process-compute.ts
/** Beyond the drain bound, for what a process does on its way out. */
const lastStepsMs = 2e3;
/**
* Runs every agent as a process of its own, in a process group of its own, with an environment of its own. The process
* listens on a free port of the loopback and answers only to who knows its token.
*
* An agent that this service leaves behind, even killed, ends: its input closes, and what does not end by itself then
* is killed by its guard. Agents run as the user of this service: their code is trusted as far as that user is.
*/
function processCompute(settings) {
	const { clock, startWithinMs = 6e4, drainMs = 3e4, path = process.env.PATH ?? "" } = settings;
	const agentServer = settings.agentServer ?? agentServerPath();
	return { async start(spec, signal) {
		const token = randomBytes(32).toString("base64url");
		mkdirSync(spec.homeFolder, { recursive: true });
		const running = startLeashed({
			command: process.execPath,
			args: [agentServer],
			cwd: dirname(spec.graphConfigFile),
			env: agentEnvironment(spec, {
				token,
				drainMs,
				path
			}),
			withInput: true,
			graceSeconds: Math.ceil((drainMs + lastStepsMs) / 1e3)
		}, clock);
		const { port, lastWords: lastWord } = listenTo(running, spec, token, clock);
		const tooLate = new AbortController();
		const bound = AbortSignal.any([signal, tooLate.signal]);
		clock.sleep(startWithinMs, bound).then(() => tooLate.abort(), () => void 0);
		const ended = running.ended.then((end) => ({ end }));
		const begun = await Promise.race([
			ended,
			port.then((found) => ({ port: found })),
			aborted$1(bound)
		]);
		const origin = begun && "port" in begun ? `http://127.0.0.1:${begun.port}` : void 0;
		const healthy = origin && await Promise.race([ended, becomesHealthy(origin, token, clock, bound)]);
		const wasInTime = !bound.aborted;
		tooLate.abort();
		if (origin && healthy === true) return {
			kind: "running",
			agent: agentOf(running, origin, token)
		};
		running.kill();
		const end = await running.ended;
		if (signal.aborted) return failed("The start was broken off.");
		if (!wasInTime) return failed(`The agent did not become healthy within ${startWithinMs / 1e3} s.`, lastWord());
		return failed(`The agent's process ended before it was healthy: ${inWords(end)}.`, lastWord());
	} };
	function agentOf(running, origin, token) {
		const stop = async (withinMs = drainMs + lastStepsMs) => {
			running.stdin?.end();
			const gone = new AbortController();
			const bound = clock.sleep(withinMs, gone.signal).then(running.kill, () => void 0);
			await running.ended;
			gone.abort();
			await bound;
		};
		return {
			origin,
			token,
			stop,
			exited: running.ended.then(inWords)
		};
	}
}
/** Sends what the process says to the deploy log, and waits for the line that tells its port. */
function listenTo(running, { log, ...spec }, token, clock) {
	let found = (_port) => {};
	const port = new Promise((resolve) => found = resolve);
	let listening = false;
	const words = lastWords();
	const write = (level, line) => {
		const announced = listening || level === "error" ? void 0 : announcedPort(line);
		if (announced !== void 0) {
			listening = true;
			found(announced);
			return;
		}
		if (level === "error") words.hear(line);
		log(level, line);
	};
	logProcess(running, {
		write,
		mask: maskOf(agentSecrets({
			log,
			...spec
		}, token)),
		clock,
		errorLevel: "error"
	});
	return {
		port,
		lastWords: words.best
	};
}
function aborted$1(signal) {
	return new Promise((resolve) => {
		if (signal.aborted) resolve(void 0);
		signal.addEventListener("abort", () => resolve(void 0), { once: true });
	});
}
const failed = (reason, saidLast) => ({
	kind: "failed",
	reason: saidLast === void 0 ? reason : `${reason} It said last: ${saidLast}`
});
/** How a process ended, for a person. */
function inWords(end) {
	if (end.kind === "exited") return `exit code ${end.code}`;
	return end.kind === "killed" ? `killed by ${end.signal}` : `it could not be started (${end.reason})`;
}
// src/control-service/gateway/agent-path.ts
/**
* Reads the target of a request; `undefined` when it is no agent's. Dot segments are resolved before the id is read, so
* that the deployment that was authorised is the one that answers.
*/
function readAgentPath(target) {
	if (!URL.canParse(target, "http://service")) return void 0;
	const { pathname, search } = new URL(target, "http://service");
	const found = /^\/agents\/([^/]+)(\/.*)?$/.exec(pathname);
	return found?.[1] ? {
		deploymentId: found[1].toLowerCase(),
		path: `${found[2] ?? "/"}${search}`
	} : void 0;
}
// src/control-service/gateway/refusal.ts
const refusals = {
	unauthorized: {
		status: 401,
		detail: "The X-Api-Key header is missing or its key is not valid for this deployment. Send a key of the owner."
	},
	missing: {
		status: 404,
		detail: "No deployment has this id. Check the address of the agent."
	},
	notLive: {
		status: 503,
		detail: "No revision of this deployment is live at the moment. Ask the control service for the status of its revisions, and try again.",
		retryAfter: 5
	},
	unchecked: {
		status: 503,
		detail: "The key could not be checked at the moment. Try again.",
		retryAfter: 2
	},
	broken: {
		status: 502,
		detail: "The agent's process broke off before it answered. Its deploy log says more."
	},
	late: {
		status: 504,
		detail: "The agent's process took the request and did not begin an answer in time. Its deploy log says more."
	}
};
/** Sends a refusal in the shape of the documents' errors, or ends a response that has begun, which then shows as cut. */
function refuse(response, { status, detail, retryAfter }) {
	if (response.headersSent || response.destroyed) {
		response.destroy();
		return;
	}
	const body = JSON.stringify({ detail });
	for (const name of response.getHeaderNames()) response.removeHeader(name);
	response.writeHead(status, {
		"content-type": "application/json",
		"content-length": Buffer.byteLength(body),
		connection: "close",
		...retryAfter === void 0 ? {} : { "retry-after": String(retryAfter) }
	});
	response.end(body);
}
// src/control-service/gateway/lane.ts
/**
* Opens the way to a process. Bodies flow both ways as they come, unread and never decompressed; a caller that goes away
* ends the request at the agent too.
*/
function openLane(upstream, { clock, log, answerWithinMs }) {
	const connections = new Agent({
		keepAlive: true,
		maxSockets: Infinity
	});
	const proxy = new ProxyServer({
		target: upstream.origin,
		agent: connections
	});
	const answering = /* @__PURE__ */ new WeakMap();
	let inFlight = 0;
	let waiting = [];
	proxy.on("proxyReq", (outgoing, request, response) => {
		const answered = answering.get(request);
		if (answered) giveUpAfter(outgoing, response, answered.signal);
	});
	proxy.on("proxyRes", (incoming, request, response) => {
		answering.get(request)?.abort();
		makeFitForCaller(incoming.headers);
		if (incoming.headers["content-length"] === void 0) queueMicrotask(() => response.flushHeaders());
	});
	async function giveUpAfter(outgoing, response, answered) {
		if (!await clock.sleep(answerWithinMs, answered).then(() => true, () => false)) return;
		refuse(response, refusals.late);
		outgoing.destroy();
	}
	return {
		upstream,
		inFlight: () => inFlight,
		drained: () => inFlight === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve)),
		close: () => connections.destroy(),
		async send(request, response, path) {
			inFlight += 1;
			const answered = new AbortController();
			answering.set(request, answered);
			makeFitForAgent(request.headers, upstream.token);
			request.url = path;
			try {
				await proxy.web(request, response);
			} catch (error) {
				if (response.writableEnded || response.destroyed) return;
				log(`An agent at ${upstream.origin} broke off: ${error instanceof Error ? error.message : String(error)}`);
				refuse(response, refusals.broken);
			} finally {
				answered.abort();
				inFlight -= 1;
				if (inFlight === 0) {
					const drained = waiting;
					waiting = [];
					for (const resolve of drained) resolve();
				}
			}
		}
	};
}
// src/control-service/gateway/gateway.ts
const tenMinutes = 6e5;
/** Makes a gateway with nothing live. */
function createGateway(settings) {
	const { authorize, clock, log, answerWithinMs = tenMinutes } = settings;
	const lanes = /* @__PURE__ */ new Map();
	async function admit(deploymentId, request) {
		const header = (name) => {
			const value = request.headers[name.toLowerCase()];
			return Array.isArray(value) ? value.join(", ") : value;
		};
		try {
			return await authorize(deploymentId, header);
		} catch (error) {
			log(`A key could not be checked: ${error instanceof Error ? error.message : String(error)}`);
			return "unchecked";
		}
	}
	async function answer(deploymentId, path, request, response) {
		const admission = await admit(deploymentId, request);
		if (response.destroyed) return;
		if (admission !== "allowed") return refuse(response, typeof admission === "string" ? refusals[admission] : admission);
		const lane = lanes.get(deploymentId);
		if (!lane) return refuse(response, refusals.notLive);
		await lane.send(request, response, path);
	}
	return {
		handle(request, response) {
			const target = readAgentPath(request.url ?? "/");
			if (!target) return false;
			answer(target.deploymentId, target.path, request, response);
			return true;
		},
		switchTo(deploymentId, upstream) {
			const former = lanes.get(deploymentId);
			lanes.set(deploymentId, openLane(upstream, {
				clock,
				log,
				answerWithinMs
			}));
			return former;
		},
		withdraw(deploymentId) {
			const former = lanes.get(deploymentId);
			lanes.delete(deploymentId);
			return former;
		},
		live: (deploymentId) => lanes.get(deploymentId)?.upstream
	};
}
// src/control-service/keys/api-key.ts
const spelled = /^lf_([0-9a-f]{16})_[A-Za-z0-9_-]{43}$/;
/** Makes a key with 256 random bits. */
function makeApiKey() {
	const id = randomBytes(8).toString("hex");
	return {
		id,
		text: `lf_${id}_${randomBytes(32).toString("base64url")}`
	};
}
/** Reads what a caller sent as a key; undefined for what is not spelled like one. */
function readApiKey(text) {
	const id = spelled.exec(text)?.[1];
	return id === void 0 ? void 0 : {
		id,
		text
	};
}
/** What is kept of a key. It has 256 random bits, so that a plain hash cannot be turned back. */
const hashApiKey = (key) => createHash("sha256").update(key.text).digest();
/** Whether the key is the one that was kept; takes the same time wherever they differ. */
const isSameKey = (key, kept) => timingSafeEqual(hashApiKey(key), kept.hash);
// src/control-service/keys/admit.ts
/**
* Finds the tenant of a request by its key: in `X-Api-Key`, or as the bearer token of `Authorization`. `X-Tenant-Id`,
* where given, has to be the key's own tenant. Whatever cannot be read is refused.
*/
async function admit(header, findKey) {
	const sent = header("x-api-key") ?? bearerToken(header("authorization"));
	if (sent === void 0) return refused$1(401, "No API key was sent. Send one in the header X-Api-Key, or as Authorization: Bearer <key>.");
	const key = readApiKey(sent.trim());
	const kept = key && await findKey(key.id);
	if (!key || !isSameKey(key, kept ?? { hash: hashApiKey({
		id: "",
		text: ""
	}) }) || !kept) return refused$1(401, "The API key is not valid. Send a key of this service in the header X-Api-Key.");
	const tenantId = header("x-tenant-id")?.trim();
	if (tenantId && tenantId.toLowerCase() !== kept.tenant_id) return refused$1(403, "X-Tenant-Id is not the tenant of this API key. Leave it out, or send a key of that tenant.");
	return {
		kind: "tenant",
		tenantId: kept.tenant_id
	};
}
/** Who may talk to an agent: whoever has a key of the tenant that owns it; other tenants' agents are not there. */
const admitToAgent = (store) => async (deploymentId, header) => {
	const caller = await admit(header, store.findKey);
	if (caller.kind === "refused") return "unauthorized";
	if (!z.uuid().safeParse(deploymentId).success) return "missing";
	return (await store.deployment(deploymentId))?.tenant_id === caller.tenantId ? "allowed" : "missing";
};
const bearerToken = (authorization) => /^Bearer +(\S+)$/i.exec(authorization?.trim() ?? "")?.[1];
const refused$1 = (status, detail) => ({
	kind: "refused",
	status,
	detail
});
// src/control-service/keys/kept-key.ts
/**
* The key of this installation: made at the first start and kept in `<dataDir>/api-key`, which only its owner can
* read, so that later starts tell the same one. The tenant is made beside it where there is none.
*
* @throws Error where the file holds something else than a key, or a key that was revoked or whose hash is another.
*/
async function keepKey(store, dataDir) {
	const file = join(dataDir, "api-key");
	const key = await readOrMake(file);
	const kept = await store.findKey(key.id);
	if (kept) {
		if (!isSameKey(key, kept)) throw new Error(`${file} holds a key whose hash is another. ${newKeyAdvice}`);
		return {
			apiKey: key.text,
			tenantId: kept.tenant_id
		};
	}
	const tenantId = await store.firstTenant() ?? await store.addTenant("local");
	if (!await store.addKey({
		id: key.id,
		tenant_id: tenantId,
		hash: hashApiKey(key)
	})) throw new Error(`${file} holds a key that was revoked. ${newKeyAdvice}`);
	return {
		apiKey: key.text,
		tenantId
	};
}
const newKeyAdvice = "Remove the file to have a new key made.";
async function readOrMake(file) {
	const made = makeApiKey();
	const draft = `${file}.${randomUUID()}`;
	await writeFile(draft, `${made.text}\n`, {
		mode: 384,
		flag: "wx"
	});
	try {
		await link(draft, file);
		return made;
	} catch (error) {
		if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
	} finally {
		await rm(draft);
	}
	await chmod(file, 384);
	const key = readApiKey((await readFile(file, "utf8")).trim());
	if (!key) throw new Error(`${file} holds no API key. ${newKeyAdvice}`);
	return key;
}
// src/control-service/builds/build-folder.ts
const buildsIn = (dataDir) => join(dataDir, "builds");
/** Where the build of a revision lies, or would. */
function buildFolder(dataDir, revisionId) {
	const root = join(buildsIn(dataDir), revisionId);
	return {
		root,
		source: join(root, "source"),
		home: join(root, "home"),
		temporary: join(root, "tmp")
	};
}
/** Makes the folders of a build anew: what an earlier attempt left is removed. */
async function freshBuildFolder(dataDir, revisionId) {
	const folder = buildFolder(dataDir, revisionId);
	await removeBuild(folder.root);
	for (const path of [
		folder.source,
		folder.home,
		folder.temporary
	]) await mkdir(path, {
		recursive: true,
		mode: 448
	});
	return folder;
}
/** Removes a build; one that is not there is no error. */
async function removeBuild(root) {
	await rm(root, {
		recursive: true,
		force: true,
		maxRetries: 3
	});
}
/** The file that says that a build is complete; it is written last. */
const recordOf = (root) => join(root, "build.json");
const record = z.object({
	commit: z.string(),
	graphConfigPath: z.string()
});
/** Declares a build complete. */
function recordBuild({ folder, commit, graphConfigFile }) {
	const temporary = `${recordOf(folder)}.new`;
	writeFileSync(temporary, JSON.stringify({
		commit,
		graphConfigPath: relative(realpathSync(folder), graphConfigFile)
	}));
	renameSync(temporary, recordOf(folder));
}
/** The build in a folder, if there is a complete one. */
function readBuild(folder) {
	try {
		const { commit, graphConfigPath } = record.parse(JSON.parse(readFileSync(recordOf(folder), "utf8")));
		return {
			folder,
			commit,
			graphConfigFile: join(folder, graphConfigPath)
		};
	} catch (error) {
		if (hasCode(error, "ENOENT", "ENOTDIR")) return void 0;
		throw error;
	}
}
/** The revisions that something lies in the folder of builds for, complete or not. */
function buildsThere(dataDir) {
	try {
		return readdirSync(buildsIn(dataDir));
	} catch (error) {
		if (hasCode(error, "ENOENT")) return [];
		throw error;
	}
}
/** Whether a path is the folder or lies below it. Both are real paths. */
function isWithin$1(folder, path) {
	const way = relative(folder, path);
	return way === "" || way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
// src/database/scram.ts
/**
* What Postgres keeps of a password (RFC 5803). Setting a role's password in this form keeps the password itself
* out of statements, and so out of the server's log and its list of activity.
*
* @param password printable ASCII, for which no normalisation is needed.
* @throws Error for other characters.
*/
function scramVerifier(password, salt = randomBytes(16), iterations = 4096) {
	if (!/^[\x20-\x7e]+$/.test(password)) throw new Error("A role's password must be of printable ASCII characters.");
	const salted = pbkdf2Sync(password, salt, iterations, 32, "sha256");
	const keyed = (word) => createHmac("sha256", salted).update(word).digest();
	const storedKey = createHash("sha256").update(keyed("Client Key")).digest("base64");
	const serverKey = keyed("Server Key").toString("base64");
	return `SCRAM-SHA-256$${iterations}:${salt.toString("base64")}$${storedKey}:${serverKey}`;
}
// src/database/databases.ts
/**
* Makes sure of a database that belongs to a role, and that the role can log in with this password and reach no
* other database of Landfall's: the right to connect is taken from the public, on this database and on the
* administrator's. May be called again, also with another password, and by several processes at once.
*
* On a server of your own, other databases keep the rights you gave them.
*
* @param adminUrl address of Landfall's own database, with a role that may create databases and roles.
* @returns the address for the agent: a secret.
*/
async function ensureAgentDatabase(adminUrl, agent) {
	const { database, role, password } = agent;
	for (const name of [database, role]) checkName(name);
	await asAdmin(adminUrl, async (admin) => {
		const quoted = escapeIdentifier(role);
		if ((await admin.query("select from pg_roles where rolname = $1", [role])).rowCount === 0) await admin.query(`create role ${quoted}`);
		await admin.query(`alter role ${quoted} login noinherit nocreatedb nocreaterole password ${escapeLiteral(scramVerifier(password))}`);
		await admin.query(`do $$ begin if not pg_has_role(current_user, ${escapeLiteral(role)}, 'set') then grant ${quoted} to current_user; end if; end $$`);
		await makeDatabase(admin, database, role);
		await closeToPublic(admin, database);
		const own = await admin.query("select current_database() as name");
		for (const { name } of own.rows) await closeToPublic(admin, name);
	});
	const url = new URL(withDatabase(adminUrl, database));
	url.username = encodeURIComponent(role);
	url.password = encodeURIComponent(password);
	return url.href;
}
/**
* The same server and role, another database.
*
* @throws Error for a name that Postgres would cut off (more than 63 bytes), so that it might mean another database,
*   or that an address can't carry.
*/
function withDatabase(url, database) {
	checkName(database);
	const other = new URL(url);
	other.pathname = `/${encodeURI(database)}`;
	return other.href;
}
function checkName(name) {
	if (name === "" || Buffer.byteLength(name) > 63 || /[?#%\0]/.test(name)) throw new Error(`${JSON.stringify(name)} can't be the name of a database or role: 1 to 63 bytes, none of ? # %.`);
}
async function makeDatabase(admin, name, owner) {
	if ((await admin.query("select from pg_database where datname = $1", [name])).rowCount !== 0) return;
	const owned = owner === void 0 ? "" : ` owner ${escapeIdentifier(owner)}`;
	await admin.query(`create database ${escapeIdentifier(name)}${owned} template template0`);
}
async function closeToPublic(admin, database) {
	await admin.query(`revoke connect, temporary on database ${escapeIdentifier(database)} from public`);
}
/** Runs one piece of administration; the lock keeps two processes from doing the same at once. */
async function asAdmin(adminUrl, work) {
	const admin = new Client({
		connectionString: adminUrl,
		application_name: "landfall-admin",
		connectionTimeoutMillis: 1e4
	});
	admin.on("error", () => void 0);
	await admin.connect().catch((error) => {
		throw explainConnecting(error);
	});
	try {
		await admin.query("select pg_advisory_lock(hashtext('landfall administration'))");
		return await work(admin);
	} finally {
		await admin.end();
	}
}
// src/control-service/rollouts/agent-database.ts
/**
* The database that all revisions of a deployment keep their state in, and its one role. Both bear the deployment's id,
* so that two services on one server do not meet.
*/
function databaseOf({ id, database_password }) {
	const name = `landfall_agent_${id.replaceAll("-", "")}`;
	return {
		database: name,
		role: name,
		password: database_password
	};
}
/** On the server that `adminUrl` names; see `ensureAgentDatabase` for what its role has to be allowed. */
const ensureOn = (adminUrl) => (deployment) => ensureAgentDatabase(adminUrl, databaseOf(deployment));
// src/control-service/rules/commands.ts
/** What a command may not hold, by what it is called when one is told so. */
const refusedCharacters = [
	[/['"`]/, "a quote"],
	[/\\/, "a backslash"],
	[/[\r\n]/, "a line break"],
	[/\t/, "a tab"],
	[/[|;$<>]/, "one of | ; $ < >"],
	[/(?<!&)&(?!&)|&{3,}/, "a single &"],
	[/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/, "a control character"]
];
/** The sentence against `install_command` or `build_command`, where there is one: only plain words and `&&` are taken. */
function commandProblem(field, command) {
	const found = refusedCharacters.filter(([pattern]) => pattern.test(command)).map(([, called]) => called);
	if (found.length > 0) return `${field} may not hold ${found.join(" or ")}; put what needs it into a script of the repository.`;
	return command.trim() === "" ? `${field} may not be blank; leave it out to have it found.` : void 0;
}
// src/control-service/builds/build-environment.ts
/** How this machine reaches the network: proxies and the certificates it trusts. */
const network = [
	"HTTP_PROXY",
	"HTTPS_PROXY",
	"NO_PROXY",
	"http_proxy",
	"https_proxy",
	"no_proxy",
	"NODE_EXTRA_CA_CERTS",
	"SSL_CERT_FILE",
	"SSL_CERT_DIR"
];
/** What of npm's configuration says where packages come from. The rest of it speaks about other folders than ours. */
const npmSettings = [
	"registry",
	"strict_ssl",
	"cafile",
	"proxy",
	"https_proxy",
	"noproxy"
];
/** Files with npm's configuration, which are passed on where they exist. */
const npmFiles = ["userconfig", "globalconfig"];
/** A variable that npm reads in both spellings. */
const npmVariable = (env, name) => env[`npm_config_${name}`] ?? env[`NPM_CONFIG_${name.toUpperCase()}`];
/**
* The environment of a build's commands: a search path with our Node.js first, a home of the build's own, and what it
* takes to reach the network and the person's npm registry. Nothing else of `env`, which is this service's own.
*/
function buildEnvironment(folder, dataDir, env) {
	const ofNpm = npmSettings.map((name) => [`npm_config_${name}`, npmVariable(env, name)]);
	const files = npmFiles.map((name) => [`npm_config_${name}`, npmVariable(env, name)]);
	if (npmVariable(env, "userconfig") === void 0 && env.HOME) files.push(["npm_config_userconfig", join(env.HOME, ".npmrc")]);
	return {
		...present(network.map((name) => [name, env[name]])),
		...present(ofNpm),
		...present(files.filter(([, file]) => file !== void 0 && existsSync(file))),
		npm_config_cache: join(dataDir, "npm-cache"),
		npm_config_update_notifier: "false",
		npm_config_fund: "false",
		npm_config_audit: "false",
		PATH: pathWithOurNode(env.PATH ?? ""),
		HOME: folder.home,
		TMPDIR: folder.temporary,
		CI: "1",
		NO_COLOR: "1"
	};
}
/** What the network's variables may hold that is nobody's business: a proxy's user and password. */
function networkSecrets(env) {
	return network.map((name) => env[name] ?? "").filter((value) => URL.canParse(value)).map((value) => decodeURIComponent(new URL(value).password)).filter((password) => password !== "");
}
function present(variables) {
	return Object.fromEntries(variables.flatMap(([name, value]) => value ? [[name, value]] : []));
}
// src/control-service/builds/build.ts
const usualBuildBounds = {
	cloneMs: 3e5,
	installMs: 9e5,
	buildMs: 9e5
};
const made = (value) => ({
	ok: true,
	value
});
const cannot = (reason) => ({
	ok: false,
	reason
});
// src/control-service/rules/repo-url.ts
/** A clone reads what its address names, so everything but these two is refused. */
const protocols = /* @__PURE__ */ new Set(["https:", "http:"]);
/**
* Reads `repo_url` (control-service.md, source_config). Taken are https addresses, http ones of this machine, and
* folders below one of `allowGit`. Everything else that git understands is refused: other protocols can run commands
* or use this machine's keys, a leading hyphen is an option, and a user or a password in an address would be shown to
* everybody who reads the deployment.
*
* Folders are compared as they are written: who clones has to compare the real paths too, since a link may lead out.
*
* @param allowGit absolute paths of folders.
*/
function readRepoUrl(written, allowGit) {
	if (/[\u0000-\u0020\u007f]/.test(written)) return refused("may not hold blanks or control characters");
	if (written.startsWith("-")) return refused("may not begin with a hyphen");
	if (isAbsolute(written)) return readFolder(written, allowGit);
	if (/^[^/:]+@[^/:]+:/.test(written) || written.startsWith("ssh:")) return refused("names an ssh address, for which this service has no key; use the https address of the repository");
	if (!URL.canParse(written) || written.includes("::")) return refused(advice);
	const url = new URL(written);
	if (url.protocol === "file:") return readFileUrl(url, allowGit);
	if (!protocols.has(url.protocol) || !/^https?:\/\//i.test(written)) return refused(advice);
	if (url.username || url.password) return refused("may not hold a user or a password; an integration or a public repository needs none");
	if (url.search || url.hash) return refused("may not hold a query or a fragment");
	if (url.protocol === "http:" && !isLoopback(url.hostname)) return refused("is plain http, which is taken for this machine only; use https");
	if (url.pathname === "/") return refused("names a host but no repository on it");
	return {
		ok: true,
		kind: "network",
		url: url.href
	};
}
const advice = "must be the https address of a git repository, as in https://host/owner/name";
const refused = (why) => ({
	ok: false,
	problem: `source_config.repo_url ${why}.`
});
const isLoopback = (hostname) => hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
function readFileUrl(url, allowGit) {
	if (url.hostname !== "" || url.search !== "" || url.hash !== "" || /%2f|%5c|%00/i.test(url.pathname)) return refused(advice);
	return readFolder(fileURLToPath(url), allowGit);
}
function readFolder(written, allowGit) {
	const path = resolve(written);
	if (allowGit.some((folder) => isWithin(resolve(folder), path))) return {
		ok: true,
		kind: "folder",
		path
	};
	return refused("names a folder of this machine that the service was not started to allow (--allow-git DIR)");
}
function isWithin(folder, path) {
	const way = relative(folder, path);
	return way === "" || way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
// src/control-service/builds/git-settings.ts
/**
* The one configuration file that git reads for a build. No helper, no hook and no filter of the person's or of the
* machine's runs, and nothing but the one protocol is spoken, not after a redirect either.
*
* `safe.directory` is open because folders are allowed one by one before git sees them, and may be somebody else's.
* A commit may be asked for by its id so that an earlier revision can be built again.
*/
const gitConfig = `[safe]
	directory = *
[core]
	hooksPath = /dev/null
	fsmonitor = false
	askPass =
[credential]
	helper =
[protocol]
	allow = never
[protocol "ext"]
	allow = never
[http]
	followRedirects = initial
	lowSpeedLimit = 1000
	lowSpeedTime = 60
[uploadpack]
	allowAnySHA1InWant = true
[submodule]
	recurse = false
[fetch]
	recurseSubmodules = false
[gc]
	auto = 0
[maintenance]
	auto = false
[init]
	defaultBranch = main
[advice]
	detachedHead = false
`;
/** The variables that make git read nothing else, ask nobody, and speak only this protocol. */
const gitVariables = (configFile, protocol) => ({
	GIT_CONFIG_NOSYSTEM: "1",
	GIT_CONFIG_GLOBAL: configFile,
	GIT_ATTR_NOSYSTEM: "1",
	GIT_ALLOW_PROTOCOL: protocol,
	GIT_TERMINAL_PROMPT: "0",
	GIT_LFS_SKIP_SMUDGE: "1",
	LC_ALL: "C"
});
/** What to fetch for a `repo_ref`: a branch is its plain name, a tag its full path, nothing the repository's own default. */
function refToFetch(repoRef) {
	if (repoRef === void 0) return "HEAD";
	return repoRef.startsWith("refs/") ? repoRef : `refs/heads/${repoRef}`;
}
/** What a failed fetch means for the person who asked, told by what git printed. */
function explainFetch(printed, asked) {
	const { repoUrl, what } = asked;
	if (/couldn't find remote ref|not our ref|no such remote ref/i.test(printed)) return `${repoUrl} has no ${what}. Check source_revision_config.repo_ref: a branch is its plain name, a tag refs/tags/<name>.`;
	if (/could not read Username|Authentication failed|terminal prompts disabled|403|401/i.test(printed)) return `${repoUrl} is private or does not exist. This service clones without credentials: make the repository public, or check source_config.repo_url.`;
	if (/not found|does not appear to be a git repository|does not exist|not a git repository/i.test(printed)) return `There is no git repository at ${repoUrl}. Check source_config.repo_url.`;
	if (/could not resolve host|failed to connect|connection (refused|timed out|reset)|unable to access/i.test(printed)) return `${repoUrl} could not be reached from this machine. Check source_config.repo_url and the network.`;
	return `${repoUrl} could not be cloned.`;
}
// src/control-service/builds/check-out.ts
/**
* Judges a `repo_url` at the moment of use: the rules of its spelling again, and for a folder that its real path lies
* below one that is allowed, so that no link leads out.
*/
function remoteOf(repoUrl, allowGit) {
	const read = readRepoUrl(repoUrl, allowGit);
	if (!read.ok) return cannot(read.problem);
	if (read.kind === "network") return made({
		address: read.url,
		protocol: new URL(read.url).protocol === "https:" ? "https" : "http"
	});
	const path = realPath(read.path);
	if (path === void 0) return cannot(`There is no folder ${read.path} on this machine. Check source_config.repo_url.`);
	if (!allowGit.some((folder) => {
		const real = realPath(folder);
		return real !== void 0 && isWithin$1(real, path);
	})) return cannot(`${read.path} leads out of the folders that the service was started to allow (--allow-git DIR).`);
	return made({
		address: path,
		protocol: "file"
	});
}
/**
* Fetches the one commit that a revision is built from and checks it out, without its history, tags and submodules.
*
* @returns the commit. Where the build was interrupted the reason says nothing: the caller knows.
*/
async function checkOut(request, { folder, allowGit, run, withinMs }) {
	const { repoUrl, repoRef, commit, log } = request;
	const remote = remoteOf(repoUrl, allowGit);
	if (!remote.ok) return remote;
	const ref = repoRef === void 0 ? void 0 : readRepoRef(repoRef);
	if (ref && !ref.ok) return cannot(`source_revision_config.repo_ref: ${ref.problem}.`);
	const configFile = join(folder.root, "gitconfig");
	writeFileSync(configFile, gitConfig);
	const env = gitVariables(configFile, remote.value.protocol);
	const git = (args, silent = false) => run({
		command: "git",
		args,
		cwd: folder.source,
		env,
		withinMs,
		silent
	});
	const what = commit ? `commit ${commit}` : ref ? `ref ${refToFetch(ref.ref)}` : "default branch";
	log("info", `Cloning ${repoUrl}, ${what}.`);
	const begun = await git([
		"init",
		"--quiet",
		"--template=",
		"."
	]);
	if (begun.kind !== "done") return cannot(`git init failed: ${reasonOf(begun)}.`);
	const fetched = await git([
		"fetch",
		...[
			"--depth",
			"1",
			"--no-tags",
			"--no-recurse-submodules",
			"--no-progress",
			"--quiet"
		],
		"--",
		remote.value.address,
		commit ?? refToFetch(ref?.ref)
	]);
	if (fetched.kind === "interrupted") return cannot("");
	if (fetched.kind === "failed") return cannot(`${explainFetch(fetched.output.join("\n"), {
		repoUrl,
		what
	})} (git: ${reasonOf(fetched)})`);
	const named = await git([
		"rev-parse",
		"--verify",
		"--end-of-options",
		"FETCH_HEAD^{commit}"
	], true);
	const found = named.kind === "done" ? named.output[0] : void 0;
	if (!found) return cannot(`The ${what} of ${repoUrl} is no commit: ${reasonOf(named)}.`);
	const checkedOut = await git([
		"checkout",
		"--quiet",
		"--force",
		"--detach",
		found
	]);
	if (checkedOut.kind !== "done") return cannot(`Commit ${found} could not be checked out: ${reasonOf(checkedOut)}.`);
	log("info", `Checked out commit ${found}.`);
	return made(found);
}
const reasonOf = (end) => end.kind === "failed" ? end.said ?? end.how : end.kind;
function realPath(path) {
	try {
		return realpathSync(path);
	} catch (error) {
		if (hasCode(error, "ENOENT", "ENOTDIR", "EACCES", "ELOOP")) return void 0;
		throw error;
	}
}
// src/control-service/builds/find-tool.ts
/** Where a program lies on a search path; `undefined` when it is not there. */
function findTool(name, path) {
	return path.split(delimiter).filter((folder) => folder !== "").map((folder) => join(folder, name)).find(isProgram);
}
function isProgram(file) {
	try {
		accessSync(file, constants.X_OK);
		return statSync(file).isFile();
	} catch (error) {
		if (hasCode(error, "ENOENT", "ENOTDIR", "EACCES", "ELOOP")) return false;
		throw error;
	}
}
// src/control-service/builds/graph-config-file.ts
const largest = 1e6;
/**
* Finds the graph configuration file in a checkout and reads it: it has to lie inside, also after every link is
* followed, to be sound, and to name graphs that this machine can run. Every problem is written to the log.
*
* @returns its real path.
*/
function findGraphConfig(source, graphConfigPath, log) {
	const advice = "Check source_revision_config.graph_config_path: it is relative to the root of the repository.";
	const file = realFile(join(source, graphConfigPath));
	if (file === void 0) return cannot(`The repository has no file ${graphConfigPath}. ${advice}`);
	if (!isWithin$1(realpathSync(source), file)) return cannot(`${graphConfigPath} leads out of the repository. ${advice}`);
	const stat = statSync(file);
	if (!stat.isFile()) return cannot(`${graphConfigPath} is not a file. ${advice}`);
	if (stat.size > largest) return cannot(`${graphConfigPath} is larger than ${largest} bytes.`);
	const read = readGraphConfig(readFileSync(file, "utf8"), graphConfigPath);
	if (!read.ok) {
		const [first, ...others] = read.problems.map(formatProblem);
		for (const problem of [first, ...others]) if (problem) log("error", problem);
		const more = others.length === 0 ? "" : ` (and ${others.length} more in the build log)`;
		return cannot(`The graph configuration is not sound: ${first}${more}.`);
	}
	for (const warning of read.warnings) log("warning", formatProblem(warning));
	const runnable = runnableHere(graphPlaces(read.value));
	return runnable.kind === "runnable" ? made(file) : cannot(runnable.reason);
}
function realFile(path) {
	try {
		return realpathSync(path);
	} catch (error) {
		if (hasCode(error, "ENOENT", "ENOTDIR", "ELOOP", "EACCES")) return void 0;
		throw error;
	}
}
// src/control-service/builds/install-plan.ts
const lockFiles = [
	["package-lock.json", "npm"],
	["npm-shrinkwrap.json", "npm"],
	["pnpm-lock.yaml", "pnpm"],
	["yarn.lock", "yarn"],
	["bun.lock", "bun"],
	["bun.lockb", "bun"]
];
/** Installs what the lock file says and nothing else. */
const argsOf = (manager, modernYarn) => {
	if (manager === "npm") return ["ci"];
	return ["install", manager === "yarn" && modernYarn ? "--immutable" : "--frozen-lockfile"];
};
/**
* Decides how to install (control-service.md, source_config: `install_command`). Without a command the lock file decides
* that is nearest to the graph configuration: in its folder, or above it up to the root. So a workspace is installed
* from its root, where its one lock file lies, and a package that stands for itself from its own folder.
*
* @param folders from the graph configuration's folder up to the repository's root.
*/
function planInstall(installCommand, folders) {
	if (installCommand !== void 0) return {
		kind: "command",
		command: installCommand
	};
	for (const folder of folders) {
		const found = lockFiles.filter(([file]) => folder.files.has(file));
		const named = folder.packageManager?.split("@")[0];
		const [lock] = [...found.filter(([, manager]) => manager === named), ...found];
		if (!lock) continue;
		const [file, manager] = lock;
		const others = found.filter((other) => other !== lock).map(([other]) => other);
		const aside = others.length === 0 ? "" : `; ${others.join(" and ")} beside it is not used`;
		const why = `${inFolder(file, folder.path)} asks for ${manager}${aside}`;
		return {
			kind: "manager",
			manager,
			args: argsOf(manager, folder.modernYarn ?? false),
			folder: folder.path,
			why
		};
	}
	const unlocked = folders.find(({ files }) => files.has("package.json"));
	if (!unlocked) return {
		kind: "nothing",
		why: "There is no package.json, so no packages are installed."
	};
	return {
		kind: "refused",
		reason: `${inFolder("package.json", unlocked.path)} has no lock file beside or above it. Commit one (package-lock.json, pnpm-lock.yaml, yarn.lock or bun.lock), or set source_config.install_command.`
	};
}
const inFolder = (file, folder) => folder === "" ? file : `${folder}/${file}`;
// src/control-service/builds/install.ts
/** Installs the packages of a checkout, in the way that `planInstall` decides. */
async function install$1(settings) {
	const { installCommand, source, configFolder, run, path, withinMs, log } = settings;
	const plan = planInstall(installCommand, foldersUp(configFolder, source));
	switch (plan.kind) {
		case "refused": return cannot(plan.reason);
		case "nothing":
			log("info", plan.why);
			return made("installed");
		case "command": {
			log("info", `Installing: ${plan.command}`);
			const end = await run({
				command: "/bin/sh",
				args: ["-c", plan.command],
				cwd: source,
				withinMs
			});
			if (end.kind === "done") return made("installed");
			return cannot(end.kind === "failed" ? failure("source_config.install_command", end) : "");
		}
		case "manager": {
			const { manager, args, folder, why } = plan;
			if (!findTool(manager, path)) return cannot(`${why}, which is not installed on this machine. Install ${manager}, or commit the lock file of another package manager, or set source_config.install_command.`);
			log("info", `Installing: ${manager} ${args.join(" ")} (${why})`);
			const end = await run({
				command: manager,
				args,
				cwd: join(source, folder),
				withinMs
			});
			if (end.kind === "done") return made("installed");
			return cannot(end.kind === "failed" ? failure(`${manager} ${args.join(" ")}`, end) : "");
		}
	}
}
/** Says that a command of the build failed, and how. */
const failure = (what, { how, said }) => said === void 0 ? `${what} failed: ${how}.` : `${what} failed: ${how}. It said: ${said}`;
const manifest = z.object({ packageManager: z.string().optional() });
/** What lies in a folder and in those above it, up to the root of the checkout. */
function foldersUp(folder, source) {
	const seen = see(folder, relative(source, folder));
	return folder === source ? [seen] : [seen, ...foldersUp(dirname(folder), source)];
}
function see(folder, path) {
	const files = new Set(readdirSync(folder));
	const text = files.has("package.json") ? readText$1(join(folder, "package.json")) : void 0;
	return {
		path,
		files,
		packageManager: text === void 0 ? void 0 : packageManagerIn(text),
		modernYarn: files.has("yarn.lock") && (readText$1(join(folder, "yarn.lock")) ?? "").includes("__metadata:")
	};
}
function packageManagerIn(text) {
	try {
		return manifest.safeParse(JSON.parse(text)).data?.packageManager;
	} catch {
		return;
	}
}
function readText$1(file) {
	try {
		return readFileSync(file, "utf8");
	} catch (error) {
		if (hasCode(error, "ENOENT", "EISDIR", "EACCES", "ELOOP")) return void 0;
		throw error;
	}
}
// src/control-service/builds/run-command.ts
const linesKept = 50;
/** Makes what runs the commands of a build. Each is killed whole when its time is up or the build is interrupted. */
function commandRunner({ env, log, mask, clock, signal }) {
	return async ({ command, args, cwd, withinMs, env: more = {}, silent = false }) => {
		if (signal.aborted) return { kind: "interrupted" };
		const started = startLeashed({
			command,
			args,
			cwd,
			env: {
				...env,
				...more
			},
			withInput: false,
			graceSeconds: 0
		}, clock);
		const output = [];
		const words = lastWords();
		const write = (level, line) => {
			output.push(line);
			if (output.length > linesKept) output.shift();
			if (line.trim() !== "") words.hear(line);
			if (!silent) log(level, line);
		};
		const said = logProcess(started, {
			write,
			mask,
			clock,
			errorLevel: "info"
		});
		const over = new AbortController();
		const late = isLate(over.signal);
		signal.addEventListener("abort", started.kill, { once: true });
		const end = await started.ended;
		signal.removeEventListener("abort", started.kill);
		over.abort();
		await said;
		if (signal.aborted) return { kind: "interrupted" };
		if (await late) return failed(`it took longer than ${withinMs / 1e3} s and was ended`);
		if (end.kind === "unstartable") return failed(`it could not be started (${end.reason})`);
		if (end.kind === "killed") return failed(`it was killed by ${end.signal}`);
		return end.code === 0 ? {
			kind: "done",
			output
		} : failed(`exit code ${end.code}`);
		async function isLate(ended) {
			await clock.sleep(withinMs, ended).catch(() => void 0);
			if (ended.aborted) return false;
			started.kill();
			return true;
		}
		function failed(how) {
			return {
				kind: "failed",
				how,
				said: words.best(),
				output
			};
		}
	};
}
// src/control-service/builds/make-build.ts
/**
* Makes a `github` revision: clones, reads the graph configuration, installs, builds (control-service.md, source_config).
* A build that fails or is interrupted leaves nothing on the disk.
*/
async function makeBuild(request, settings, signal) {
	const folder = await freshBuildFolder(settings.dataDir, request.revisionId);
	let complete = false;
	try {
		const part = await build(request, folder, settings, signal);
		if (signal.aborted) return { kind: "interrupted" };
		if (!part.ok) return {
			kind: "failed",
			reason: part.reason
		};
		recordBuild(part.value);
		complete = true;
		return {
			kind: "built",
			build: part.value
		};
	} finally {
		await removeBuild(complete ? folder.temporary : folder.root);
	}
}
async function build(request, folder, { dataDir, allowGit, clock, bounds = usualBuildBounds, env: ours = process.env }, signal) {
	const { installCommand, buildCommand, graphConfigPath, log } = request;
	const wrong = commandsProblem(installCommand, buildCommand);
	if (wrong) return cannot(wrong);
	const env = buildEnvironment(folder, dataDir, ours);
	const path = env.PATH ?? "";
	if (!findTool("git", path)) return cannot("git is not installed on this machine, so no repository can be cloned. Install git and deploy again.");
	const mask = maskOf([...request.secrets.map(({ value }) => value), ...networkSecrets(ours)]);
	const masked = {
		...request,
		log: (level, message) => log(level, mask.whole(message))
	};
	const run = commandRunner({
		env,
		log,
		mask,
		clock,
		signal
	});
	const commit = await checkOut(masked, {
		folder,
		allowGit,
		run,
		withinMs: bounds.cloneMs
	});
	if (!commit.ok || signal.aborted) return commit.ok ? cannot("") : commit;
	await request.onCommit(commit.value);
	const config = findGraphConfig(folder.source, graphConfigPath, masked.log);
	if (!config.ok) return config;
	const source = realpathSync(folder.source);
	const configFolder = dirname(config.value);
	const installed = await install$1({
		installCommand,
		source,
		configFolder,
		run,
		path,
		withinMs: bounds.installMs,
		log: masked.log
	});
	if (!installed.ok) return installed;
	if (buildCommand !== void 0) {
		log("info", `Building: ${buildCommand}`);
		const end = await run({
			command: "/bin/sh",
			args: ["-c", buildCommand],
			cwd: configFolder,
			withinMs: bounds.buildMs
		});
		if (end.kind !== "done") return cannot(end.kind === "failed" ? failure("source_config.build_command", end) : "");
	}
	return made({
		folder: folder.root,
		commit: commit.value,
		graphConfigFile: config.value
	});
}
/** The rules of the commands hold at the moment of use too. */
function commandsProblem(installCommand, buildCommand) {
	return (installCommand === void 0 ? void 0 : commandProblem("source_config.install_command", installCommand)) ?? (buildCommand === void 0 ? void 0 : commandProblem("source_config.build_command", buildCommand));
}
// src/control-service/rollouts/carry-out.ts
/** Begins to carry out a revision: opens its logs. */
const undertake = (deployment, revision, signal, { logs }) => ({
	deployment,
	revision,
	buildLog: logs.open(revision.id, "build"),
	deployLog: logs.open(revision.id, "deploy"),
	signal
});
/**
* The story of one revision from where it stands to its end: built, started, healthy, live. A revision that was
* interrupted meanwhile is let go of; one whose service stops stays where it is and is taken up by the next start.
*/
async function carryOut(undertaking, tools) {
	const { revision } = undertaking;
	if (revision.source !== "github") return fail(undertaking, "CREATE_FAILED", unsupported(revision.source), tools);
	const build = revision.build_folder === null ? await buildAnew(undertaking, tools) : await oldBuild(undertaking, tools);
	if (build) await deploy(undertaking, build, tools);
}
const unsupported = (source) => `This machine can't run a deployment with the source ${source}: it builds github repositories with graphs in JavaScript or TypeScript, and runs them as processes. Create a deployment with the source github.`;
async function buildAnew(undertaking, tools) {
	const { revision, buildLog, signal } = undertaking;
	const { store, buildSlots, patiently, builds } = tools;
	const giveBack = await buildSlots.take(signal);
	if (!giveBack) return void 0;
	try {
		if (!await patiently(() => store.setStatus(revision.id, ["AWAITING_BUILD"], "BUILDING"))) return void 0;
		const end = await makeBuild(buildRequest(undertaking, tools), builds, signal);
		await buildLog.flush();
		if (end.kind === "interrupted") return void 0;
		if (end.kind === "failed") {
			await fail(undertaking, "BUILD_FAILED", end.reason, tools);
			return;
		}
		const details = {
			buildFolder: `builds/${basename(end.build.folder)}`,
			commit: end.build.commit
		};
		return await patiently(() => store.setStatus(revision.id, ["BUILDING"], "AWAITING_DEPLOY", details)) && end.build;
	} finally {
		giveBack();
	}
}
/** The build that a revision has already, made again from the same commit where it was cleared away. */
async function oldBuild(undertaking, tools) {
	const { revision, buildLog, signal } = undertaking;
	const { builds, buildSlots } = tools;
	const id = basename(revision.build_folder ?? revision.id);
	const build = readBuild(buildFolder(builds.dataDir, id).root);
	if (build) return build;
	buildLog.write("warning", "The build was cleared away from this machine; it is made again from the same commit.");
	const giveBack = await buildSlots.take(signal);
	if (!giveBack) return void 0;
	try {
		const end = await makeBuild({
			...buildRequest(undertaking, tools),
			revisionId: id
		}, builds, signal);
		await buildLog.flush();
		if (end.kind === "built") return end.build;
		if (end.kind === "failed") await fail(undertaking, "DEPLOY_FAILED", end.reason, tools);
		return;
	} finally {
		giveBack();
	}
}
function buildRequest({ revision, buildLog }, { store, patiently }) {
	const { source_config, source_revision_config, repo_commit_sha } = revision;
	return {
		revisionId: revision.id,
		repoUrl: source_config.repo_url ?? "",
		repoRef: source_revision_config.repo_ref ?? void 0,
		commit: repo_commit_sha ?? void 0,
		graphConfigPath: source_revision_config.graph_config_path ?? "",
		installCommand: source_config.install_command ?? void 0,
		buildCommand: source_config.build_command ?? void 0,
		secrets: revision.secrets,
		log: buildLog.write,
		onCommit: (commit) => patiently(() => store.noteCommit(revision.id, commit))
	};
}
/** What it takes to run a revision's build. */
async function agentSpec(undertaking, build, tools) {
	const { deployment, revision, deployLog } = undertaking;
	const { ensureDatabase, patiently, store, builds } = tools;
	const databaseUrl = await patiently(() => ensureDatabase(deployment));
	await patiently(() => store.setDatabaseState(deployment.id, "ready"));
	return {
		deploymentId: deployment.id,
		revisionId: revision.id,
		graphConfigFile: build.graphConfigFile,
		homeFolder: buildFolder(builds.dataDir, basename(build.folder)).home,
		databaseUrl,
		secrets: revision.secrets,
		log: deployLog.write
	};
}
async function deploy(undertaking, build, tools) {
	const { deployment, revision, deployLog, signal } = undertaking;
	const { store, compute, live, patiently } = tools;
	if (!await patiently(() => store.setStatus(revision.id, ["AWAITING_DEPLOY"], "DEPLOYING"))) return;
	deployLog.write("info", `Starting the agent of commit ${build.commit}.`);
	const spec = await agentSpec(undertaking, build, tools);
	const start = await compute.start(spec, signal);
	await deployLog.flush();
	if (start.kind === "failed") {
		if (!signal.aborted) await fail(undertaking, "DEPLOY_FAILED", start.reason, tools);
		return;
	}
	const switched = live.switchTo(spec, start.agent);
	if (!await patiently(() => store.activate(deployment.id, revision.id)).catch((error) => {
		switched.undo();
		throw error;
	})) return switched.undo();
	switched.settle();
	deployLog.write("info", "The agent is healthy and serves; traffic has gone over to it.");
	await deployLog.flush();
}
const runningBefore = {
	CREATE_FAILED: ["AWAITING_BUILD"],
	BUILD_FAILED: ["AWAITING_BUILD", "BUILDING"],
	DEPLOY_FAILED: ["AWAITING_DEPLOY", "DEPLOYING"]
};
/** Ends a revision as failed, with the reason in its status and at the end of its log. The live one goes on serving. */
async function fail({ revision, buildLog, deployLog }, status, reason, { store, patiently }) {
	const log = status === "DEPLOY_FAILED" ? deployLog : buildLog;
	log.write("error", reason);
	await log.flush();
	await patiently(() => store.setStatus(revision.id, runningBefore[status], status, { message: reason }));
}
/** Ends a revision as failed wherever it stands, for a reason that no step of it foresaw. */
async function failAnyway({ revision, buildLog }, reason, { store, patiently }) {
	buildLog.write("error", reason);
	for (const status of ["BUILD_FAILED", "DEPLOY_FAILED"]) await patiently(() => store.setStatus(revision.id, runningBefore[status], status, { message: reason }));
}
const shortest = 500;
const longest = 6e4;
/** How long to wait before an agent is started again (ms), after so many breakdowns in a row. */
const restartDelay = (breakdowns) => Math.min(shortest * 2 ** (breakdowns - 1), longest);
// src/control-service/rollouts/slots.ts
/** Makes `count` slots, all free. */
function slots(count) {
	let free = count;
	const waiting = [];
	const giveBack = () => {
		const next = waiting.shift();
		if (next) next();
		else free += 1;
	};
	return { take(signal) {
		if (signal.aborted) return Promise.resolve(void 0);
		if (free > 0) {
			free -= 1;
			return Promise.resolve(giveBack);
		}
		return new Promise((resolve) => {
			const served = () => {
				signal.removeEventListener("abort", leave);
				resolve(giveBack);
			};
			const leave = () => {
				waiting.splice(waiting.indexOf(served), 1);
				resolve(void 0);
			};
			waiting.push(served);
			signal.addEventListener("abort", leave, { once: true });
		});
	} };
}
// src/control-service/rollouts/live-agents.ts
/** How many agents are started again at the same time: after a restart of this service all of them are. */
const startsAtOnce = 4;
/** Makes the agents that serve; none does yet. */
function liveAgents({ compute, gateway, clock, lettingGoMs }) {
	const startSlots = slots(startsAtOnce);
	const posts = /* @__PURE__ */ new Map();
	const retiring = /* @__PURE__ */ new Set();
	const leaving = /* @__PURE__ */ new Set();
	let stopWithin;
	let hurry = () => {};
	const hurried = new Promise((resolve) => hurry = resolve);
	function take(spec, agent) {
		const post = {
			spec,
			leaving: new AbortController(),
			agent,
			watched: Promise.resolve()
		};
		post.watched = watch(post);
		return post;
	}
	/** Looks after an agent until it is to leave: one that breaks down is started again, each time after a longer wait. */
	async function watch(post) {
		const { spec } = post;
		const { signal } = post.leaving;
		for (let breakdowns = 0; !signal.aborted;) {
			if (breakdowns > 0) await clock.sleep(restartDelay(breakdowns), signal).catch(() => void 0);
			if (!post.agent && !signal.aborted) {
				const start = await startAgent(spec, signal);
				if (start.kind === "running") {
					post.agent = start.agent;
					if (posts.get(spec.deploymentId) !== post) continue;
					gateway.switchTo(spec.deploymentId, start.agent);
					spec.log("info", "The agent serves.");
				} else if (!signal.aborted) {
					breakdowns += 1;
					spec.log("error", `${start.reason} Trying again in ${restartDelay(breakdowns) / 1e3} s.`);
				}
			}
			if (!post.agent) continue;
			const since = clock.now();
			const ended = await Promise.race([post.agent.exited, aborted(signal)]);
			if (ended === void 0 || signal.aborted) return;
			breakdowns = clock.now() - since >= 6e4 ? 1 : breakdowns + 1;
			withdraw(spec.deploymentId, post.agent);
			post.agent = void 0;
			spec.log("error", `The agent's process ended: ${ended}. Starting it again in ${restartDelay(breakdowns) / 1e3} s.`);
		}
	}
	async function startAgent(spec, signal) {
		const giveBack = await startSlots.take(signal);
		try {
			return await compute.start(spec, signal);
		} catch (error) {
			return {
				kind: "failed",
				reason: `The agent could not be started: ${error instanceof Error ? error.message : String(error)}.`
			};
		} finally {
			giveBack?.();
		}
	}
	function withdraw(deploymentId, agent) {
		if (gateway.live(deploymentId)?.origin === agent.origin) gateway.withdraw(deploymentId)?.close();
	}
	/** Ends an agent once nothing is in flight on it, or after a bound. */
	async function retire(post, lane) {
		post.leaving.abort();
		await post.watched;
		if (lane) {
			const drained = new AbortController();
			const bound = clock.sleep(lettingGoMs, drained.signal).catch(() => void 0);
			await Promise.race([
				lane.drained(),
				bound,
				hurried
			]);
			drained.abort();
			lane.close();
		}
		if (!post.agent) return;
		leaving.add(post.agent);
		await post.agent.stop(stopWithin);
		leaving.delete(post.agent);
		post.spec.log("info", "The agent was stopped.");
	}
	function inBackground(work) {
		const kept = work.finally(() => retiring.delete(kept));
		retiring.add(kept);
	}
	/** Agents that had begun to leave before got longer for it than there is now. */
	async function stopLate(inTime, ms) {
		await clock.sleep(ms, inTime).catch(() => void 0);
		hurry();
		if (!inTime.aborted) await Promise.all([...leaving].map((agent) => agent.stop(ms)));
	}
	return {
		switchTo(spec, agent) {
			const { deploymentId } = spec;
			const former = posts.get(deploymentId);
			const formerLane = gateway.switchTo(deploymentId, agent);
			const post = take(spec, agent);
			posts.set(deploymentId, post);
			return {
				settle() {
					if (!former) return;
					former.spec.log("info", "Traffic has gone over to a newer revision; the agent finishes what it is at.");
					inBackground(retire(former, formerLane));
				},
				undo() {
					const lane = former?.agent ? gateway.switchTo(deploymentId, former.agent) : gateway.withdraw(deploymentId);
					if (former) posts.set(deploymentId, former);
					else posts.delete(deploymentId);
					inBackground(retire(post, lane));
				}
			};
		},
		revive(spec) {
			if (!posts.has(spec.deploymentId)) posts.set(spec.deploymentId, take(spec, void 0));
		},
		async stop(withinMs) {
			const inTime = new AbortController();
			const forRequests = withinMs / 2;
			stopWithin = withinMs - forRequests;
			const late = stopLate(inTime.signal, forRequests);
			for (const post of posts.values()) inBackground(retire(post, gateway.withdraw(post.spec.deploymentId)));
			posts.clear();
			while (retiring.size > 0) await Promise.all(retiring);
			inTime.abort();
			await late;
		}
	};
}
function aborted(signal) {
	return new Promise((resolve) => {
		if (signal.aborted) resolve(void 0);
		signal.addEventListener("abort", () => resolve(void 0), { once: true });
	});
}
// src/control-service/rollouts/log-book.ts
/** Milliseconds that lines may wait for others. */
const gatherMs = 100;
const linesAtOnce = 500;
/** Lines that are held while the database is away; of more, the oldest are given up. */
const mostHeld = 1e4;
/** After so many lines a log is shortened to what is kept of it. */
const linesBetweenTrims = 5e3;
/** Opens the book. */
function logBook(settings) {
	const unwritten = /* @__PURE__ */ new Set();
	return {
		open: (revisionId, kind) => logWriter(revisionId, kind, unwritten, settings),
		async flush() {
			await Promise.all([...unwritten].map((writer) => writer.flush()));
		}
	};
}
function logWriter(revisionId, kind, unwritten, { store, clock, log }) {
	let held = [];
	let sinceTrim = 0;
	let gathering;
	/** Lines are kept by one statement after the other, else they could change places. */
	let keeping = Promise.resolve();
	async function keep() {
		while (held.length > 0) {
			const lines = held.slice(0, linesAtOnce);
			try {
				await store.appendLog(revisionId, kind, lines);
			} catch (error) {
				if (isDatabaseUnavailable(error)) return;
				log(`Lines of the ${kind} log of revision ${revisionId} were lost: ${String(error)}`);
			}
			held = held.slice(lines.length);
			sinceTrim += lines.length;
			if (sinceTrim >= linesBetweenTrims) await trim();
		}
		unwritten.delete(writer);
	}
	async function trim() {
		sinceTrim = 0;
		try {
			await store.trimLog(revisionId, kind);
		} catch (error) {
			log(`The ${kind} log of revision ${revisionId} could not be shortened: ${String(error)}`);
		}
	}
	async function gather() {
		await clock.sleep(gatherMs);
		gathering = void 0;
		await writer.flush();
	}
	const writer = {
		write(level, message) {
			held.push({
				level,
				message,
				at: clock.now()
			});
			if (held.length > mostHeld) held = held.slice(-1e4);
			unwritten.add(writer);
			gathering ??= gather();
		},
		flush: () => keeping = keeping.then(keep)
	};
	return writer;
}
// src/control-service/rules/revision-states.ts
/**
* Every step that a revision may take from one status to the next (control-service.md, States, names only DEPLOYED;
* the others are our choice and drawn in this room's README). A step back is one that is taken again after the
* service was killed in the middle of it.
*/
const revisionSteps = {
	CREATING: [
		"QUEUED",
		"AWAITING_BUILD",
		"AWAITING_DEPLOY",
		"CREATE_FAILED",
		"SKIPPED",
		"INTERRUPTED"
	],
	QUEUED: [
		"AWAITING_BUILD",
		"AWAITING_DEPLOY",
		"CREATE_FAILED",
		"SKIPPED",
		"INTERRUPTED"
	],
	AWAITING_BUILD: [
		"BUILDING",
		"CREATE_FAILED",
		"BUILD_FAILED",
		"INTERRUPTED"
	],
	BUILDING: [
		"AWAITING_BUILD",
		"AWAITING_DEPLOY",
		"BUILD_FAILED",
		"INTERRUPTED"
	],
	AWAITING_DEPLOY: [
		"DEPLOYING",
		"CREATE_FAILED",
		"DEPLOY_FAILED",
		"INTERRUPTED"
	],
	DEPLOYING: [
		"AWAITING_DEPLOY",
		"DEPLOYED",
		"DEPLOY_FAILED",
		"INTERRUPTED"
	],
	DEPLOYED: [],
	CREATE_FAILED: [],
	BUILD_FAILED: [],
	DEPLOY_FAILED: [],
	SKIPPED: [],
	INTERRUPTED: [],
	UNKNOWN: []
};
/** A revision that nobody has begun yet. Of several, only the newest is ever begun. */
const waitingStatuses = ["CREATING", "QUEUED"];
/** A revision that is being carried out. A deployment has at most one. */
const runningStatuses = [
	"AWAITING_BUILD",
	"BUILDING",
	"AWAITING_DEPLOY",
	"DEPLOYING"
];
/** Waiting or running: the statuses that have a step ahead of them. */
const unfinishedStatuses = [...waitingStatuses, ...runningStatuses];
/** True where a revision has reached its end, whichever. */
const hasEnded = (status) => revisionSteps[status].length === 0;
/** True where the step is one of `revisionSteps`. */
const mayStep = (from, to) => revisionSteps[from].includes(to);
/** Where a claimed revision begins: a build that exists already is only deployed. */
const firstStep = (hasBuild) => hasBuild ? "AWAITING_DEPLOY" : "AWAITING_BUILD";
// src/control-service/rollouts/next-revision.ts
/** Where a step begins again that was broken off in its middle. */
const beginAgainAt = {
	BUILDING: "AWAITING_BUILD",
	DEPLOYING: "AWAITING_DEPLOY"
};
/**
* The revision of a deployment to be carried out now: one that was begun and broken off, else the newest that waits.
* There is one process that carries out revisions, so one that is running in the database is at work nowhere else.
*/
async function nextRevision(store, deploymentId) {
	const [begun] = await store.listRevisions(deploymentId, {
		limit: 1,
		statuses: runningStatuses
	});
	if (!begun) return store.claimNextRevision(deploymentId);
	const { id, status } = begun;
	if (status !== "BUILDING" && status !== "DEPLOYING") return begun;
	return store.setStatus(id, [status], beginAgainAt[status], { message: "Begun again: the service was stopped in the middle of it." });
}
// src/control-service/rollouts/patience.ts
const shortestWait = 250;
const longestWait = 5e3;
/**
* Makes what waits for a database that restarts: a revision is not to fail for it. What is repeated has to bear that,
* since it is unknown whether the attempt before was carried out.
*
* The work's other errors pass, and so does that the server has no connection left: that does not pass by waiting.
* When `signal` aborts, its reason is thrown.
*/
function patience(clock, signal, log) {
	return async (work) => {
		for (let wait = shortestWait;; wait = Math.min(wait * 2, longestWait)) {
			signal.throwIfAborted();
			try {
				return await work();
			} catch (error) {
				if (!isDatabaseUnavailable(error) || error instanceof TooManyConnectionsError) throw error;
				log(`The database does not answer; trying again (${error instanceof Error ? error.message : String(error)})`);
				await clock.sleep(wait, signal);
			}
		}
	};
}
/** The ids of builds that may be removed: neither live, nor on their way, nor among the newest. */
function spareBuilds(revisions, activeRevisionId) {
	const inUse = /* @__PURE__ */ new Set();
	const others = /* @__PURE__ */ new Set();
	for (const { id, status, build_folder } of revisions) {
		if (build_folder === null) continue;
		if (id === activeRevisionId || !hasEnded(status)) inUse.add(basename(build_folder));
		else others.add(basename(build_folder));
	}
	return [...others].filter((build) => !inUse.has(build)).slice(4);
}
// src/control-service/rollouts/rollouts.ts
/** How often the table is looked at for work that nobody woke us for, in milliseconds. */
const lookEvery = 3e4;
/** Makes what carries revisions out. Nothing happens before `recover` or a `wake`. */
function startRollouts(settings) {
	const { store, dataDir, allowGit, gateway, compute, clock, log } = settings;
	const stopping = new AbortController();
	const patiently = patience(clock, stopping.signal, log);
	const tools = {
		store,
		builds: {
			dataDir,
			allowGit,
			clock,
			...settings.buildBounds ? { bounds: settings.buildBounds } : {}
		},
		buildSlots: slots(settings.buildsAtOnce ?? 2),
		compute,
		ensureDatabase: ensureOn(settings.adminDatabaseUrl),
		live: liveAgents({
			compute,
			gateway,
			clock,
			lettingGoMs: settings.lettingGoMs ?? 6e5
		}),
		patiently,
		logs: logBook({
			store,
			clock,
			log
		})
	};
	const working = /* @__PURE__ */ new Map();
	const wokenAgain = /* @__PURE__ */ new Set();
	const atWork = /* @__PURE__ */ new Map();
	const background = /* @__PURE__ */ new Set();
	/** Runs something to its end; what goes wrong with it is told and harms nothing else. */
	function atTheDoor(what, work) {
		return work().catch((error) => {
			if (!stopping.signal.aborted) log(`${what} broke down: ${error instanceof Error ? error.stack : String(error)}`);
		});
	}
	function inBackground(what, work) {
		const kept = atTheDoor(what, work).finally(() => background.delete(kept));
		background.add(kept);
	}
	async function workOn(deploymentId) {
		do {
			wokenAgain.delete(deploymentId);
			const revision = await patiently(() => nextRevision(store, deploymentId));
			const deployment = revision && await patiently(() => store.deployment(deploymentId));
			if (!revision || !deployment) continue;
			await carryOutOne(deployment, revision);
			wokenAgain.add(deploymentId);
		} while (wokenAgain.has(deploymentId) && !stopping.signal.aborted);
	}
	async function carryOutOne(deployment, revision) {
		const letGo = new AbortController();
		atWork.set(deployment.id, {
			revisionId: revision.id,
			letGo
		});
		const undertaking = undertake(deployment, revision, AbortSignal.any([letGo.signal, stopping.signal]), tools);
		try {
			await carryOut(undertaking, tools);
			await removeSpareBuilds(deployment.id);
		} catch (error) {
			if (stopping.signal.aborted) return;
			log(`Revision ${revision.id} could not be carried out: ${error instanceof Error ? error.stack : String(error)}`);
			await failAnyway(undertaking, `The service could not carry this revision out: ${error instanceof Error ? error.message : String(error)}`, tools);
		} finally {
			atWork.delete(deployment.id);
			await undertaking.buildLog.flush();
		}
	}
	async function removeSpareBuilds(deploymentId) {
		const deployment = await patiently(() => store.deployment(deploymentId));
		const built = await patiently(() => store.revisionsWithBuild(deploymentId));
		for (const build of spareBuilds(built, deployment?.active_revision_id ?? null)) await removeBuild(buildFolder(dataDir, build).root);
	}
	/** A revision that is asked for while another one is at work is told to wait. */
	async function queueUp(deploymentId) {
		if (await patiently(() => store.claimNextRevision(deploymentId))) wake(deploymentId);
	}
	function wake(deploymentId) {
		if (stopping.signal.aborted) return;
		if (working.has(deploymentId)) {
			wokenAgain.add(deploymentId);
			inBackground("Queueing a revision", () => queueUp(deploymentId));
			return;
		}
		begin(deploymentId, async () => void 0);
	}
	function begin(deploymentId, first) {
		const work = async () => {
			await atTheDoor(`Serving deployment ${deploymentId} again`, first);
			await atTheDoor(`The work on deployment ${deploymentId}`, () => workOn(deploymentId));
			working.delete(deploymentId);
			if (wokenAgain.delete(deploymentId)) wake(deploymentId);
		};
		working.set(deploymentId, work());
	}
	async function wakeAll() {
		for (const id of await patiently(() => store.deploymentsWithWork())) if (!working.has(id)) wake(id);
	}
	async function lookAgain() {
		while (!stopping.signal.aborted) {
			await clock.sleep(lookEvery, stopping.signal).catch(() => void 0);
			if (!stopping.signal.aborted) await atTheDoor("Looking for work", wakeAll);
		}
	}
	async function serveAgain(deployment, revision) {
		const undertaking = undertake(deployment, revision, stopping.signal, tools);
		const build = await oldBuild(undertaking, tools);
		if (!build) return;
		undertaking.deployLog.write("info", "The service was started again; starting the agent.");
		tools.live.revive(await agentSpec(undertaking, build, tools));
	}
	return {
		wake,
		interrupted(deploymentId, revisionId) {
			const work = atWork.get(deploymentId);
			if (work?.revisionId === revisionId) work.letGo.abort();
		},
		async recover() {
			const named = new Set((await patiently(() => store.namedBuilds())).map((build) => basename(build)));
			for (const id of buildsThere(dataDir)) if (!named.has(id)) await removeBuild(buildFolder(dataDir, id).root);
			for (const { deployment, revision } of await patiently(() => store.activeRevisions())) begin(deployment.id, () => serveAgain(deployment, revision));
			await wakeAll();
			inBackground("Looking for work", lookAgain);
		},
		async stop(withinMs = 9e3) {
			stopping.abort();
			await Promise.all([
				tools.live.stop(withinMs),
				...working.values(),
				...background
			]);
			await tools.live.stop(0);
			await tools.logs.flush();
		}
	};
}
// src/control-service/routes/answer.ts
/** The header by which a request asks for the other spelling of the fields that have two. */
const spellingHeader = "X-Field-Names";
/** Answers with JSON, in the spelling that the request asks for, else in the service's own. */
function answer(context, usual, body, status = 200) {
	const asked = context.req.header(spellingHeader)?.trim().toLowerCase();
	const spelling = fieldSpellings.find((word) => word === asked) ?? usual;
	return context.json(spelling === "contract" ? body : spellFields(body, spelling), status);
}
/** Every failure in the one shape of the document: `detail` is a sentence, or the list of a 422. */
function answerError(context, error, log) {
	if (error instanceof ServiceError && error.status !== void 0) {
		const detail = error.status === 422 ? error.problems : error.detail ?? error.message;
		return context.json({ detail }, statusOf(error.status));
	}
	if (isDatabaseUnavailable(error)) {
		log(`The database can't be used at the moment: ${wordsOf(error)}`);
		context.header("Retry-After", "2");
		return context.json({ detail: "The database of this service is not there at the moment. Try again." }, 503);
	}
	log(`${context.req.method} ${context.req.path} failed: ${wordsOf(error)}`);
	return context.json({ detail: "The service failed at this request; its log says more." }, 500);
}
const known = [
	400,
	401,
	403,
	404,
	405,
	409,
	412,
	413,
	415,
	422,
	501
];
const statusOf = (status) => known.find((one) => one === status) ?? 500;
const wordsOf = (error) => error instanceof Error ? error.stack ?? error.message : typeof error;
// src/control-service/routes/read.ts
/** The largest body that is read, in bytes. */
const largestBody = 1048576;
/** The JSON body of a request; undefined where there is none. What is something else is a 413, a 415 or a 422. */
async function readJson(context) {
	const text = await readText(context);
	if (text === "") return void 0;
	const type = context.req.header("content-type")?.split(";")[0]?.trim().toLowerCase() ?? "";
	if (type !== "application/json" && !/^application\/[\w.-]+\+json$/.test(type)) throw unreadable(context, 415, "Send the body as JSON, with Content-Type: application/json.");
	try {
		return JSON.parse(text);
	} catch {
		throw unreadable(context, 422, [{
			loc: ["body"],
			msg: "The body is not JSON",
			type: "json_invalid"
		}]);
	}
}
/** The body's text; no more of it is taken in than may be. */
async function readText(context) {
	if (Number(context.req.header("content-length") ?? 0) > 1048576) throw tooLarge(context);
	const chunks = [];
	let size = 0;
	for await (const chunk of context.req.raw.body ?? []) {
		size += chunk.byteLength;
		if (size > 1048576) throw tooLarge(context);
		chunks.push(chunk);
	}
	return Buffer.concat(chunks).toString("utf8");
}
function tooLarge(context) {
	context.header("Connection", "close");
	return unreadable(context, 413, `The body is larger than ${largestBody} bytes.`);
}
function unreadable(context, status, why) {
	return new ServiceError({
		kind: "rejected",
		operation: "read body",
		method: context.req.method,
		address: context.req.path,
		status,
		effect: "none",
		...typeof why === "string" ? { detail: why } : { problems: why }
	});
}
/** The precondition of a change: the revision that `If-Match` names. `*` is none, for what is not there is a 404 anyway. */
function readIfMatch(context) {
	const written = context.req.header("if-match")?.trim() ?? "*";
	return written === "*" ? {} : { ifLatest: written.replace(/^"(.*)"$/, "$1") };
}
/** The numbers of a query as numbers; what is none stays a text, which the schema then refuses. */
function readQuery(context) {
	const { deployment_ids: _, ...query } = context.req.query();
	for (const name of ["limit", "offset"]) {
		const written = query[name];
		if (typeof written === "string" && /^-?\d{1,15}$/.test(written)) query[name] = Number(written);
	}
	const ids = context.req.queries("deployment_ids")?.flatMap((list) => list.split(",").map((id) => id.trim()));
	return ids === void 0 ? query : {
		...query,
		deployment_ids: ids.filter((id) => id !== "")
	};
}
// src/control-service/routes/refusing.ts
/** Answers a method that a path does not have, and names those that it has. */
const onlyMethods = (...allowed) => (context) => {
	context.header("Allow", allowed.join(", "));
	return context.json({ detail: `Method Not Allowed: this path takes ${allowed.join(" and ")}.` }, 405);
};
/** Answers for an endpoint that a service of this kind may have and this one has not. */
const notOffered = (what) => (context) => context.json({ detail: `${what} is not offered by this service.` }, 501);
// src/control-service/routes/deployments.ts
const all = "/v2/deployments";
const one = "/v2/deployments/:id";
const revisions = "/v2/deployments/:id/revisions";
const revision$1 = "/v2/deployments/:id/revisions/:revision";
/** Deployments and their revisions. */
function deploymentRoutes(fieldNames) {
	const routes = new Hono();
	routes.post(all, async (c) => answer(c, fieldNames, await c.var.service.createDeployment(await readJson(c)), 201));
	routes.get(all, async (c) => answer(c, fieldNames, await c.var.service.listDeployments(readQuery(c))));
	routes.delete(all, notOffered("Deleting deployments"));
	routes.all(all, onlyMethods("GET", "POST"));
	routes.get(one, async (c) => answer(c, fieldNames, await c.var.service.getDeployment(c.req.param("id"))));
	routes.patch(one, async (c) => answer(c, fieldNames, await c.var.service.patchDeployment(c.req.param("id"), await readJson(c), readIfMatch(c))));
	routes.delete(one, notOffered("Deleting deployments"));
	routes.all(one, onlyMethods("GET", "PATCH"));
	for (const path of ["/v2/deployments/:id/upload-url", "/deployments/:id/upload-url"]) routes.post(path, notOffered("Uploading sources"));
	routes.post("/v2/deployments/:id/push-token", notOffered("Pushing images"));
	routes.get(revisions, async (c) => answer(c, fieldNames, await c.var.service.listRevisions(c.req.param("id"), readQuery(c))));
	routes.post(revisions, async (c) => {
		const body = await readJson(c) ?? {};
		return answer(c, fieldNames, await c.var.service.createRevision(c.req.param("id"), body), 201);
	});
	routes.all(revisions, onlyMethods("GET", "POST"));
	routes.get(revision$1, async (c) => answer(c, fieldNames, await c.var.service.getRevision(c.req.param("id"), c.req.param("revision"))));
	routes.all(revision$1, onlyMethods("GET"));
	routes.post(`${revision$1}/redeploy`, async (c) => answer(c, fieldNames, await c.var.service.redeployRevision(c.req.param("id"), c.req.param("revision"))));
	routes.all(`${revision$1}/redeploy`, onlyMethods("POST"));
	routes.post(`${revision$1}/interruption`, async (c) => answer(c, fieldNames, await c.var.service.interruptRevision(c.req.param("id"), c.req.param("revision"))));
	routes.all(`${revision$1}/interruption`, onlyMethods("POST"));
	return routes;
}
// src/control-service/routes/projects.ts
const revision = "/v1/projects/:id/revisions/:revision";
/** The logs of revisions; a deployment's project has the deployment's id. */
function projectRoutes() {
	const routes = new Hono();
	routes.post(`${revision}/build_logs`, async (c) => c.json(await c.var.service.buildLogs(c.req.param("id"), c.req.param("revision"), await readJson(c))));
	routes.post(`${revision}/deploy_logs`, async (c) => c.json(await c.var.service.deployLogs(c.req.param("id"), c.req.param("revision"), await readJson(c))));
	for (const log of ["build_logs", "deploy_logs"]) routes.all(`${revision}/${log}`, onlyMethods("POST"));
	return routes;
}
// src/control-service/routes/surroundings.ts
const install = "/v1/integrations/github/install";
const repositories = "/v1/integrations/github/:id/repos";
const listeners = "/v2/listeners";
/** Integrations and listeners, to be read. */
function surroundingsRoutes() {
	const routes = new Hono();
	routes.get(install, async (c) => c.json(await c.var.service.listIntegrations()));
	routes.all(install, onlyMethods("GET"));
	routes.get(repositories, async (c) => c.json(await c.var.service.listRepositories(c.req.param("id"))));
	routes.all(repositories, onlyMethods("GET"));
	routes.get(listeners, async (c) => c.json(await c.var.service.listListeners(readQuery(c))));
	routes.post(listeners, notOffered("Making listeners"));
	routes.all(listeners, onlyMethods("GET"));
	routes.get(`${listeners}/:id`, async (c) => c.json(await c.var.service.getListener(c.req.param("id"))));
	routes.patch(`${listeners}/:id`, notOffered("Changing listeners"));
	routes.delete(`${listeners}/:id`, notOffered("Deleting listeners"));
	routes.all(`${listeners}/:id`, onlyMethods("GET"));
	return routes;
}
// src/control-service/routes/app.ts
/** The version of the interface that is served (control-service.md, Versioning). */
const interfaceVersion = "0.1.0";
/** The control service over HTTP (control-service.md, Endpoints). Only `/ok` and `/info` answer without a key. */
function createApp({ serviceFor, findKey, fieldNames, log }) {
	const app = new Hono();
	app.onError((error, context) => answerError(context, error, log));
	app.notFound((context) => context.json({ detail: "Not Found" }, 404));
	app.use(async (context, next) => {
		await next();
		context.header("Cache-Control", "no-store");
	});
	app.get("/ok", (context) => context.json({ ok: true }));
	app.get("/info", (context) => context.json({
		service: "landfall control service",
		version: interfaceVersion
	}));
	for (const paths of [
		"/v1/*",
		"/v2/*",
		"/deployments/*"
	]) app.use(paths, async (context, next) => {
		const caller = await admit((name) => context.req.header(name), findKey);
		if (caller.kind === "refused") return context.json({ detail: caller.detail }, caller.status);
		context.set("service", serviceFor(caller.tenantId));
		return next();
	});
	app.route("/", deploymentRoutes(fieldNames));
	app.route("/", projectRoutes());
	app.route("/", surroundingsRoutes());
	return app;
}
// src/control-service/server.ts
/** The one server of the control service: agents below `/agents/`, the service's own routes everywhere else. */
function createHttpServer({ fetch, agents, basePath }) {
	const own = getRequestListener(fetch, { overrideGlobalObjects: false });
	return createServer((request, response) => {
		const path = below(basePath, request.url ?? "/");
		if (path === void 0) {
			response.writeHead(404, { "content-type": "application/json" });
			response.end(JSON.stringify({ detail: `Not Found: everything of this service is below ${basePath}.` }));
			return;
		}
		request.url = path;
		if (!agents(request, response)) own(request, response);
	});
}
/** What stands behind the base path; undefined for a path that is not below it. */
function below(basePath, url) {
	if (basePath === "") return url;
	if (!url.startsWith(basePath)) return void 0;
	const rest = url.slice(basePath.length);
	if (rest === "" || rest.startsWith("?")) return `/${rest}`;
	return rest.startsWith("/") ? rest : void 0;
}
// src/control-service/rules/field.ts
/** The value that a dotted path names in a body; undefined where nothing stands. */
function fieldAt(body, path) {
	return path.split(".").reduce((inner, key) => {
		return typeof inner === "object" && inner !== null && Object.hasOwn(inner, key) ? Reflect.get(inner, key) : void 0;
	}, body);
}
/** True where a request really gives a field: null and absent are the same (control-service.md, source_config). */
const isGiven = (body, path) => fieldAt(body, path) != null;
/** The rules whose field a body gives. */
const rulesGiven = (body) => fieldRules.filter(({ path }) => isGiven(body, path));
/** A sentence for every field that a body gives and that the source does not have. */
function surplusFields(source, body) {
	const surplus = rulesGiven(body).filter(({ appliesTo }) => !appliesTo.includes(source));
	const told = surplus.map(({ path, appliesTo }) => doesNotApply(path, source, appliesTo));
	const emptyConfig = source !== "external_docker" && isGiven(body, "source_config.listener_config");
	const isTold = surplus.some(({ path }) => path.startsWith("source_config.listener_config"));
	return emptyConfig && !isTold ? [...told, doesNotApply("source_config.listener_config", source, ["external_docker"])] : told;
}
const doesNotApply = (path, source, appliesTo) => `${path} is for ${appliesTo.join(" and ")}: leave it out or null with the source ${source}.`;
// src/control-service/rules/listener.ts
/**
* A sentence for everything that is wrong with the listener that is asked for and what it is asked
* (control-service.md, source_config: `listener_id`, `listener_config`).
*
* @param listener the tenant's listener of this id.
*/
function listenerProblems({ listener_id, listener_config }, listener) {
	if (listener_id && !listener) return ["source_config.listener_id is none of those that GET /v2/listeners lists."];
	const namespace = listener_config?.k8s_namespace;
	if (!namespace) return [];
	const field = "source_config.listener_config.k8s_namespace";
	if (!listener) return [`${field} needs a source_config.listener_id.`];
	if (listener.compute_type !== "k8s") return [`${field} is for listeners of the compute type k8s; this one's is ${listener.compute_type}.`];
	const known = listener.compute_config.k8s_namespaces ?? [];
	if (known.length === 0 || known.includes(namespace)) return [];
	return [`${field} must be one of the listener's namespaces: ${known.join(", ")}.`];
}
/** The sentence against a deployment's name, where there is one: `[a-z0-9-]`, as on the hosted service. */
function nameProblem(name) {
	if (name.length > 63) return `name may have at most 63 characters; this one has ${name.length}.`;
	if (!/^[a-z0-9-]+$/.test(name)) return "name may hold lower-case letters, digits and hyphens only.";
	return /^-|-$/.test(name) ? "name may not begin or end with a hyphen." : void 0;
}
/** The sentence against `graph_config_path`, where there is one: a path inside the repository. */
function graphConfigPathProblem(path) {
	const field = "source_revision_config.graph_config_path";
	if (/[\\\u0000-\u001f\u007f]/.test(path)) return `${field} may not hold backslashes or control characters.`;
	if (path.startsWith("/") || /^[A-Za-z]:/.test(path)) return `${field} is relative to the repository's root.`;
	if (path.split("/").includes("..")) return `${field} may not lead out of the repository.`;
	return /(^|\/)\.?$/.test(path) ? `${field} must name a file.` : void 0;
}
const image = /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::\d{1,5})?\/)?[a-z0-9]+(?:[._/-]+[a-z0-9]+)*(?::\w[\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$/i;
/** The sentence against `image_uri`, where there is one. */
function imageProblem(uri) {
	if (uri.length <= 512 && image.test(uri)) return void 0;
	return "source_revision_config.image_uri must be the address of an image, as in registry.example.com/team/agent:1.2.";
}
/** The sentence against `custom_url`, where there is one. */
function customUrlProblem(address) {
	const { protocol, username, password } = URL.canParse(address) ? new URL(address) : {
		protocol: "",
		username: "",
		password: ""
	};
	if (/^https?:$/.test(protocol) && !username && !password) return void 0;
	return "source_config.custom_url must be an http or https address without a user or a password.";
}
// src/control-service/rules/refusal.ts
const accepted = (value) => ({
	ok: true,
	value
});
/** A 400 that tells every broken rule, one sentence each. */
const againstRules = (sentences) => ({
	ok: false,
	refusal: {
		status: 400,
		detail: sentences.join(" ")
	}
});
const wrongShape = (problems) => ({
	ok: false,
	refusal: {
		status: 422,
		problems
	}
});
// src/control-service/rules/repo-ref-problem.ts
/** The sentence against a `repo_ref` that cannot be taken, with the spelling that can. */
const repoRefProblem = ({ problem, suggestion }) => `source_revision_config.repo_ref: ${problem}.${suggestion === void 0 ? "" : ` Did you mean ${suggestion}?`}`;
// src/control-service/rules/text.ts
/** How deep a request may be nested. */
const deepest = 64;
/**
* Every text of a request, keys included, that could not be kept: with a NUL character, or half of a character
* outside the basic plane. Postgres takes neither.
*/
function textProblems(value, at) {
	if (at.length > deepest) return [{
		loc: at.slice(0, 8),
		msg: `Nested deeper than ${deepest} levels`,
		type: "too_deep"
	}];
	if (typeof value === "string") return isKeepable(value) ? [] : [unkeepable(at)];
	if (Array.isArray(value)) return value.flatMap((item, index) => textProblems(item, [...at, index]));
	if (typeof value !== "object" || value === null) return [];
	return Object.entries(value).flatMap(([key, item]) => isKeepable(key) ? textProblems(item, [...at, key]) : [unkeepable(at)]);
}
const isKeepable = (text) => !text.includes("\0") && text.isWellFormed();
const unkeepable = (loc) => ({
	loc,
	msg: "Holds a NUL character or half of a surrogate pair",
	type: "unicode"
});
// src/control-service/rules/shape.ts
/** Reads a body in whichever spelling of its fields (see `fieldAliases`). */
function readBody(schema, body) {
	const badText = textProblems(body, ["body"]);
	return badText.length > 0 ? wrongShape(badText) : readShape(schema, spellFields(body, "contract"), "body");
}
/**
* Reads a part of a request by the contract's schema, every problem at once (control-service.md, Errors). Fields that
* the contract does not know are passed over, so that newer clients get on; known ones are held to it strictly.
*
* @param within where the part came from, the begin of every `loc`: `body`, `query` or `path`.
*/
function readShape(schema, input, within) {
	const badText = textProblems(input, [within]);
	if (badText.length > 0) return wrongShape(badText);
	if (input === void 0) return wrongShape([missing([within])]);
	const known = structuredClone(input);
	for (;;) {
		const read = schema.safeParse(known);
		if (read.success) return accepted(read.data);
		const unknown = read.error.issues.filter((issue) => issue.code === "unrecognized_keys");
		if (unknown.length === 0) return wrongShape(read.error.issues.map((issue) => problemOf(issue, known, within)));
		for (const { path, keys } of unknown) drop(valueAt(known, path), keys);
	}
}
function problemOf(issue, input, within) {
	const path = issue.path.filter((key) => typeof key !== "symbol");
	const loc = [within, ...path];
	if (issue.code === "invalid_type" && valueAt(input, path) === void 0) return missing(loc);
	return {
		loc,
		msg: issue.message,
		type: issue.code
	};
}
const missing = (loc) => ({
	loc,
	msg: "Field required",
	type: "missing"
});
function valueAt(value, path) {
	return path.reduce((inner, key) => {
		return typeof inner === "object" && inner !== null && Object.hasOwn(inner, key) ? Reflect.get(inner, key) : void 0;
	}, value);
}
function drop(from, keys) {
	if (typeof from !== "object" || from === null) throw new Error("unrecognized keys were found in no object");
	for (const key of keys) Reflect.deleteProperty(from, key);
}
// src/control-service/rules/environment-names.ts
/** What the platform sets for an agent itself, or what would change how it is started: no secret may take these. */
const reserved = /* @__PURE__ */ new Set([
	"PORT",
	"HOST",
	"PATH",
	"HOME",
	"NODE_OPTIONS",
	"NODE_PATH",
	"LD_PRELOAD",
	"LD_LIBRARY_PATH",
	"DATABASE_URI",
	"POSTGRES_URI",
	"POSTGRES_PASSWORD",
	"REDIS_URI",
	"LANGSMITH_API_KEY",
	"LANGCHAIN_API_KEY",
	"LANGSMITH_CONTROL_PLANE_API_KEY",
	"LANGSMITH_TRACING",
	"LANGCHAIN_TRACING_V2",
	"LANGSMITH_PROJECT",
	"LANGCHAIN_PROJECT",
	"LANGSMITH_HOST_PROJECT_ID",
	"LANGSMITH_HOST_PROJECT_NAME",
	"LANGSMITH_HOST_REVISION_ID",
	"LANGSERVE_GRAPHS"
]);
const reservedPrefix = "LANDFALL_";
/** The longest value of a variable, in bytes: what Linux takes of one string, with room for its name. */
const longestValue = 12e4;
/** True for the names of variables that a deployment cannot set. */
const isReserved = (name) => reserved.has(name) || name.startsWith(reservedPrefix);
/** Every sentence against the variables that a deployment is given. No value is ever told. */
function environmentProblems(secrets, references) {
	const told = [];
	const seen = /* @__PURE__ */ new Set();
	for (const [field, name] of [...secrets.map(({ name }) => ["secrets", name]), ...(references ?? []).map(({ name }) => ["secret_references", name])]) {
		const quoted = JSON.stringify(name.slice(0, 80));
		if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) told.push(`${field}: ${quoted} is no name of an environment variable; use letters, digits and underscores.`);
		else if (isReserved(name)) told.push(`${field}: ${quoted} is set by the platform itself; choose another name.`);
		if (seen.has(name)) told.push(`${field}: ${quoted} is given more than once.`);
		seen.add(name);
	}
	for (const { name, value } of secrets) if (Buffer.byteLength(value) > 12e4) told.push(`secrets: the value of ${JSON.stringify(name.slice(0, 80))} is longer than ${longestValue} bytes.`);
	return told;
}
// src/control-service/rules/wanted.ts
/** A sentence for every rule that what was asked breaks, whether by a creation or after a change. */
function askedProblems({ source_config, source_revision_config, secrets, secret_references }) {
	const { build_on_push, install_command, build_command, custom_url, resource_spec } = source_config;
	const { repo_ref, graph_config_path, image_uri } = source_revision_config;
	return [
		build_on_push && repo_ref && isTagRef(repo_ref) ? `source_config.build_on_push cannot be true while source_revision_config.repo_ref is the tag ${repo_ref}: a tag does not move.` : void 0,
		graph_config_path ? graphConfigPathProblem(graph_config_path) : void 0,
		image_uri ? imageProblem(image_uri) : void 0,
		custom_url ? customUrlProblem(custom_url) : void 0,
		install_command ? commandProblem("source_config.install_command", install_command) : void 0,
		build_command ? commandProblem("source_config.build_command", build_command) : void 0,
		...resource_spec ? containerProblems(resource_spec) : [],
		...environmentProblems(secrets, secret_references)
	].filter((told) => told !== void 0);
}
/** control-service.md, Container: `restartPolicy` is for sidecars. */
function containerProblems(spec) {
	return (spec.init_containers ?? []).flatMap(({ name, restartPolicy }) => restartPolicy ? [`resource_spec.init_containers: ${name} has a restartPolicy, which is for sidecars.`] : []);
}
/** A spec with what the document says of a field that was left open inside it: the value of a variable is then empty. */
function withEmptyValues(spec) {
	const filled = (containers) => containers?.map((container) => ({
		...container,
		...container.env ? { env: container.env.map((variable) => ({
			...variable,
			value: variable.value ?? ""
		})) } : {}
	}));
	return {
		...spec,
		...spec.init_containers ? { init_containers: filled(spec.init_containers) } : {},
		...spec.sidecars ? { sidecars: filled(spec.sidecars) } : {}
	};
}
// src/control-service/rules/create.ts
/** Reads the body of a creation by its shape and bounds, in either spelling (control-service.md, DeploymentCreateRequest). */
const readCreate = (body) => readBody(deploymentCreateRequest, body);
/** What a creation asks for, complete, or every rule that it breaks. */
function judgeCreate(request, facts) {
	const { name, source, source_config, source_revision_config } = request;
	const ref = source_revision_config.repo_ref == null ? void 0 : readRepoRef(source_revision_config.repo_ref);
	const url = source_config.repo_url == null ? void 0 : readRepoUrl(source_config.repo_url, facts.allowGit);
	const spec = source_config.resource_spec;
	const asked = {
		source_config: {
			...source_config,
			...spec ? { resource_spec: withEmptyValues(spec) } : {}
		},
		source_revision_config: {
			...source_revision_config,
			...ref?.ok ? { repo_ref: ref.ref } : {}
		},
		secrets: request.secrets,
		secret_references: request.secret_references ?? null
	};
	const problems = [
		nameProblem(name),
		...fieldRules.filter(({ path, requiredFor }) => requiredFor.includes(source) && fieldAt(request, path) == null).map(({ path }) => `${path} is required with the source ${source}.`),
		...surplusFields(source, request),
		ref && !ref.ok ? repoRefProblem(ref) : void 0,
		url && !url.ok ? url.problem : void 0,
		source_config.integration_id && !facts.integrationKnown ? "source_config.integration_id is none of those that GET /v1/integrations/github/install lists." : void 0,
		source === "internal_source" && source_revision_config.source_tarball_path ? tarballProblem : void 0,
		...source === "external_docker" ? listenerProblems(source_config, facts.listener) : [],
		...askedProblems(asked)
	].filter((told) => told !== void 0);
	return problems.length > 0 ? againstRules(problems) : accepted({
		name,
		source,
		...asked
	});
}
/** No path is handed out before the deployment exists (control-service.md, source_revision_config). */
const tarballProblem = "source_revision_config.source_tarball_path was not handed out by POST /deployments/{deployment_id}/upload-url for this deployment.";
// src/control-service/rules/patch.ts
/** Reads the body of a PATCH by its shape and bounds, in either spelling. */
function readPatch(body) {
	const read = readBody(deploymentPatchRequest, body);
	if (!read.ok) return read;
	return accepted({
		request: read.value,
		restated: {
			name: fieldAt(body, "name"),
			source: fieldAt(body, "source")
		}
	});
}
/**
* What a deployment becomes by a PATCH, or every rule that the PATCH breaks (control-service.md, source_config,
* source_revision_config, States). Null and absent leave a field as it is; a fixed field may be restated, not changed.
*/
function judgePatch(current, { request, restated }) {
	const { source } = current;
	const given = rulesGiven(request);
	const ref = request.source_revision_config?.repo_ref == null ? void 0 : readRepoRef(request.source_revision_config.repo_ref);
	const asked = merged(current, request, ref?.ok ? ref.ref : void 0);
	const problems = [
		...fixedProblems(current, {
			...request,
			...restated
		}),
		...surplusFields(source, withoutShownUrl(current, request)),
		request.revision_source && request.revision_source !== source ? `revision_source: this service makes every revision from the deployment's own source, ${source}.` : void 0,
		ref && !ref.ok ? repoRefProblem(ref) : void 0,
		source === "internal_source" && isGiven(request, "source_revision_config.source_tarball_path") ? "source_revision_config.source_tarball_path was not handed out by POST /deployments/{deployment_id}/upload-url for this deployment." : void 0,
		...askedProblems(asked)
	].filter((told) => told !== void 0);
	if (problems.length > 0) return againstRules(problems);
	return accepted({
		asked,
		revisionFor: given.filter(({ patch }) => patch === "revision").map(({ path }) => path)
	});
}
/** A sentence for every field that was set on create and that the request would change. */
function fixedProblems(current, request) {
	return rulesGiven(request).filter(({ patch, appliesTo }) => patch === "fixed" && appliesTo.includes(current.source)).filter(({ path }) => !isDeepStrictEqual(fieldAt(request, path), fieldAt(current, path))).map(({ path }) => {
		const was = fieldAt(current, path);
		return `${path} was set on create and cannot be changed: it is ${was == null ? "null" : JSON.stringify(was)}.`;
	});
}
/** A client may send back the address that it was told. */
function withoutShownUrl(current, request) {
	if (request.source_config?.custom_url !== current.shownUrl) return request;
	return {
		...request,
		source_config: {
			...request.source_config,
			custom_url: null
		}
	};
}
function merged(current, request, ref) {
	const { custom_url, resource_spec, listener_config, ...settings } = given(request.source_config ?? {});
	const isOwnUrl = current.source === "external_docker";
	return {
		source_config: {
			...current.source_config,
			...settings,
			...custom_url && isOwnUrl ? { custom_url } : {},
			...resource_spec ? { resource_spec: withEmptyValues(resource_spec) } : {},
			...listener_config ? { listener_config: {
				...current.source_config.listener_config,
				...given(listener_config)
			} } : {}
		},
		source_revision_config: {
			...current.source_revision_config,
			...given(request.source_revision_config ?? {}),
			...ref === void 0 ? {} : { repo_ref: ref }
		},
		secrets: request.secrets ?? current.secrets,
		secret_references: request.secret_references ?? current.secret_references
	};
}
/** The fields of an object that are neither null nor absent. */
function given(fields) {
	const left = { ...fields };
	for (const key of Object.keys(left)) if (Reflect.get(left, key) == null) Reflect.deleteProperty(left, key);
	return left;
}
const isDeploymentStatus = (word) => deploymentStatuses.some((status) => status === word);
const isRevisionStatus = (word) => Object.hasOwn(revisionStatusClasses, word);
/** The status words of a list with commas between them; one that does not exist is told. */
function statusesOf(list, isStatus, context) {
	const words = list?.split(",").map((word) => word.trim()).filter((word) => word !== "");
	const wrong = words?.filter((word) => !isStatus(word)) ?? [];
	if (wrong.length > 0) context.addIssue({
		code: "custom",
		path: ["status"],
		message: `There is no status ${wrong.join(", ")}`
	});
	return words?.filter(isStatus);
}
/** Listing deployments: `deployment_ids` are uuids, `status` holds words with commas between them. */
const deploymentsPage = deploymentsQuery.extend({ deployment_ids: z.array(z.uuid()).max(1e3).optional() }).transform(({ status, ...query }, context) => ({
	...query,
	statuses: statusesOf(status, isDeploymentStatus, context)
}));
/** Listing revisions: `status` holds words with commas between them. */
const revisionsPage = revisionsQuery.transform(({ status, ...query }, context) => ({
	...query,
	statuses: statusesOf(status, isRevisionStatus, context)
}));
/** Listing what has pages and no filters. */
const plainPage = revisionsQuery.omit({ status: true });
const isoTime = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/i;
const moment = z.string().refine((written) => isoTime.test(written) && !Number.isNaN(Date.parse(written)), "must be a date with a time, as in ISO 8601").transform((written) => new Date(written)).optional();
/** Asking for a log: everything may be left out or null. */
const logPageQuery = z.preprocess(withoutNulls, logQuery.extend({
	offset: z.string().regex(/^\d{1,18}$/, "must be the next_offset of a page before").optional(),
	start_time: moment,
	end_time: moment
}).transform(({ order = "asc", limit = 50, offset, level, query, start_time, end_time }) => ({
	order,
	limit,
	after: offset || void 0,
	level: level || void 0,
	containing: query || void 0,
	from: start_time,
	until: end_time
})));
function withoutNulls(body) {
	if (typeof body !== "object" || body === null || Array.isArray(body)) return body;
	return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null && value !== ""));
}
// src/control-service/rules/redeploy.ts
const built = ["github", "internal_source"];
/**
* What a deployment becomes when an earlier revision is deployed again, or why that cannot be (our choice): its build
* is taken over, and so is everything that made it what it was, so that what is told of the deployment is what runs.
* The fields that change in place and those of a build stay as they are.
*/
function judgeRedeploy(current, earlier) {
	if (built.includes(earlier.source) && earlier.build_folder === null) return againstRules([hasEnded(earlier.status) ? `The revision ${earlier.id} has no build that could be deployed again (it ended ${earlier.status}). Choose one that was live.` : `The revision ${earlier.id} has no build yet: it is ${earlier.status}. Wait for its end.`]);
	const { resource_spec } = earlier.source_config;
	const asked = {
		source_config: {
			...current.source_config,
			resource_spec: resource_spec ?? null
		},
		source_revision_config: earlier.source_revision_config,
		secrets: earlier.secrets,
		secret_references: earlier.secret_references
	};
	const problems = askedProblems(asked);
	return problems.length > 0 ? againstRules(problems) : accepted(asked);
}
// src/control-service/tell.ts
/** Where a deployment's agent answers, whichever of its revisions is live. */
const stableAddress = (baseUrl, deploymentId) => `${baseUrl}/agents/${deploymentId}`;
/** The `custom_url` that is told: the caller's own for `external_docker`, filled in for every other source. */
const shownUrl = ({ id, source, source_config }, baseUrl) => source === "external_docker" ? source_config.custom_url ?? null : stableAddress(baseUrl, id);
/** A deployment in the document's fields (control-service.md, Deployment), every nullable one of them present. */
function tellDeployment({ deployment, latest }, baseUrl) {
	const { source_config } = deployment;
	const custom_url = shownUrl(deployment, baseUrl);
	return {
		id: deployment.id,
		tenant_id: deployment.tenant_id,
		name: deployment.name,
		source: deployment.source,
		source_config: {
			integration_id: source_config.integration_id ?? null,
			repo_url: source_config.repo_url ?? null,
			deployment_type: source_config.deployment_type ?? null,
			build_on_push: source_config.build_on_push ?? null,
			custom_url,
			resource_spec: source_config.resource_spec ?? null,
			listener_id: source_config.listener_id ?? null,
			listener_config: source_config.listener_config ?? null,
			install_command: source_config.install_command ?? null,
			build_command: source_config.build_command ?? null
		},
		source_revision_config: revisionConfig(latest),
		secrets: deployment.secrets,
		secret_references: deployment.secret_references,
		created_at: deployment.created_at.toISOString(),
		updated_at: deployment.updated_at.toISOString(),
		status: deployment.status,
		latest_revision_id: deployment.latest_revision_id,
		active_revision_id: deployment.active_revision_id,
		image_version: deployment.image_version,
		url: custom_url ?? stableAddress(baseUrl, deployment.id)
	};
}
/** A revision as it is told. */
function tellRevision(revision) {
	return {
		id: revision.id,
		created_at: revision.created_at.toISOString(),
		updated_at: revision.updated_at.toISOString(),
		status: revision.status,
		status_message: revision.status_message,
		source: revision.source,
		source_revision_config: revisionConfig(revision)
	};
}
function revisionConfig({ source_revision_config, repo_commit_sha }) {
	return {
		repo_ref: source_revision_config.repo_ref ?? null,
		graph_config_path: source_revision_config.graph_config_path ?? null,
		image_uri: source_revision_config.image_uri ?? null,
		source_tarball_path: source_revision_config.source_tarball_path ?? null,
		repo_commit_sha
	};
}
/** A listener as it is told. */
function tellListener(listener) {
	const { id, version, compute_type, compute_id, compute_config, created_at, updated_at } = listener;
	return {
		id,
		version,
		compute_type,
		compute_id,
		compute_config,
		created_at: created_at.toISOString(),
		updated_at: updated_at.toISOString()
	};
}
/** An integration as it is told. */
const tellIntegration = ({ id, installation_id, name }) => ({
	id,
	installation_id: Number(installation_id),
	name
});
/** A repository as it is told. */
const tellRepository = (repository) => ({
	host_integration_id: repository.integration_id,
	id: Number(repository.id),
	name: repository.name,
	owner: repository.owner,
	url: repository.url,
	default_branch: repository.default_branch
});
/** A page of log lines; a full page says where the next one begins. */
const tellLog = (lines, limit) => ({
	logs: lines.map(({ id, at, level, message }) => ({
		id,
		timestamp: at.toISOString(),
		level,
		message
	})),
	next_offset: lines.length < limit ? null : lines.at(-1)?.id ?? null
});
// src/control-service/service/refuse.ts
const kinds = {
	400: "rejected",
	404: "missing",
	409: "conflict",
	412: "conflict",
	422: "rejected",
	501: "missing"
};
/** A refusal as the error that a caller gets, in process and over HTTP alike. Nothing has taken effect. */
function refusedCall(call, refusal) {
	return new ServiceError({
		kind: kinds[refusal.status],
		operation: call.operation,
		method: call.method,
		address: call.path,
		status: refusal.status,
		effect: "none",
		...refusal.status === 422 ? { problems: refusal.problems } : { detail: refusal.detail }
	});
}
/** The value, or the refusal thrown. */
function take(call, judged) {
	if (judged.ok) return judged.value;
	throw refusedCall(call, judged.refusal);
}
/** An id of a path, which has to be a uuid; in lower case. */
function takeId(call, name, id) {
	const read = z.uuid().safeParse(id);
	if (read.success) return read.data.toLowerCase();
	return take(call, wrongShape([{
		loc: ["path", name],
		msg: "Invalid UUID",
		type: "invalid_format"
	}]));
}
/** What was looked for, or a 404. */
function found(call, what, id, value) {
	if (value !== void 0) return value;
	throw refusedCall(call, {
		status: 404,
		detail: `${what} ID ${id} not found.`
	});
}
// src/control-service/service/deployments.ts
/** Making, reading and changing deployments. Bodies are judged here, so that every door is as strict. */
function deploymentOperations({ store, rollouts, tenantId, baseUrl, allowGit }) {
	const tell = (view) => tellDeployment(view, baseUrl());
	async function change(call, id, decide) {
		let makesRevision = false;
		const { kind, ...rest } = found(call, "Deployment", id, await store.changeDeployment(tenantId, id, (current) => {
			const decision = decide(current);
			makesRevision = !("refused" in decision) && decision.revision !== "none";
			return decision;
		}));
		if ("refusal" in rest) throw refusedCall(call, rest.refusal);
		if (kind === "changed" && makesRevision) rollouts.wake(id);
		return rest;
	}
	const patch = (call, id, body, { always = false, ifLatest } = {}) => {
		const read = take(call, readPatch(body));
		return change(call, id, (current) => {
			if (ifLatest !== void 0 && ifLatest !== current.latest_revision_id) return { refused: {
				status: 412,
				detail: tooLate(current.latest_revision_id)
			} };
			const judged = judgePatch({
				...current,
				shownUrl: shownUrl(current, baseUrl()) ?? ""
			}, read);
			if (!judged.ok) return { refused: judged.refusal };
			const { asked, revisionFor } = judged.value;
			return {
				wanted: asked,
				revision: always || revisionFor.length > 0 ? "new" : "none"
			};
		});
	};
	return {
		async createDeployment(body) {
			const call = {
				operation: "create deployment",
				method: "POST",
				path: "/v2/deployments"
			};
			const request = take(call, readCreate(body));
			const { integration_id, listener_id } = request.source_config;
			const integration = integration_id ? await store.findIntegration(tenantId, integration_id) : void 0;
			const listener = listener_id ? await store.findListener(tenantId, listener_id) : void 0;
			const asked = take(call, judgeCreate(request, {
				integrationKnown: integration !== void 0,
				listener,
				allowGit
			}));
			const end = await store.createDeployment(tenantId, asked);
			if (end.kind !== "created") throw refusedCall(call, {
				status: 409,
				detail: inTheWay(end.kind, asked.name)
			});
			rollouts.wake(end.deployment.id);
			return tell(end);
		},
		async getDeployment(id) {
			const call = {
				operation: "get deployment",
				method: "GET",
				path: `/v2/deployments/${id}`
			};
			const deploymentId = takeId(call, "deployment_id", id);
			return tell(found(call, "Deployment", id, await store.findDeployment(tenantId, deploymentId)));
		},
		async listDeployments(query) {
			const page = take({
				operation: "list deployments",
				method: "GET",
				path: "/v2/deployments"
			}, readShape(deploymentsPage, query, "query"));
			const views = await store.listDeployments(tenantId, page);
			return {
				resources: views.map(tell),
				offset: (page.offset ?? 0) + views.length
			};
		},
		/** With `ifLatest` nothing is changed where another revision than that one is the latest by now: a 412. */
		async patchDeployment(id, body, { ifLatest } = {}) {
			const call = {
				operation: "patch deployment",
				method: "PATCH",
				path: `/v2/deployments/${id}`
			};
			return tell(await patch(call, takeId(call, "deployment_id", id), body, { ifLatest }));
		},
		/** POST /v2/deployments/{id}/revisions: a change that makes a revision whatever it says, also when it is empty. */
		async createRevision(id, body) {
			const call = {
				operation: "create revision",
				method: "POST",
				path: `/v2/deployments/${id}/revisions`
			};
			return tellRevision((await patch(call, takeId(call, "deployment_id", id), body, { always: true })).latest);
		},
		async redeployRevision(id, revisionId) {
			const call = {
				operation: "redeploy revision",
				method: "POST",
				path: `/v2/deployments/${id}/revisions/${revisionId}/redeploy`
			};
			const deploymentId = takeId(call, "deployment_id", id);
			const earlierId = takeId(call, "revision_id", revisionId);
			found(call, "Deployment", id, await store.findDeployment(tenantId, deploymentId));
			const earlier = found(call, "Revision", revisionId, await store.findRevision(deploymentId, earlierId));
			const view = await change(call, deploymentId, (current) => {
				const judged = judgeRedeploy(current, earlier);
				if (!judged.ok) return { refused: judged.refusal };
				const { build_folder, repo_commit_sha } = earlier;
				return {
					wanted: judged.value,
					revision: {
						redeploy_of: earlier.id,
						build_folder,
						repo_commit_sha
					}
				};
			});
			return tell(view);
		}
	};
}
const tooLate = (latest) => `The latest revision is ${latest ?? "none"} by now, and not the one that If-Match names. Look at the deployment again before you change it.`;
function inTheWay(kind, name) {
	return kind === "name-taken" ? `A deployment named ${name} exists already. Choose another name, or change the one that is there.` : `A tracing project named ${name} exists already, perhaps of a deployment that was deleted. Choose another name, or delete the project.`;
}
// src/control-service/service/revisions.ts
/** Reading and interrupting revisions, and their logs. */
function revisionOperations({ store, rollouts, tenantId }) {
	async function ownDeployment(call, id) {
		const deploymentId = takeId(call, "deployment_id", id);
		found(call, "Deployment", id, await store.findDeployment(tenantId, deploymentId));
		return deploymentId;
	}
	async function ownRevision(call, id, revisionId) {
		const wanted = takeId(call, "revision_id", revisionId);
		const deploymentId = await ownDeployment(call, id);
		return found(call, "Revision", revisionId, await store.findRevision(deploymentId, wanted));
	}
	async function log(kind, id, revisionId, body) {
		const path = `/v1/projects/${id}/revisions/${revisionId}/${kind}_logs`;
		const call = {
			operation: `read ${kind} log`,
			method: "POST",
			path
		};
		const query = take(call, readShape(logPageQuery, body ?? {}, "body"));
		const revision = await ownRevision(call, id, revisionId);
		return tellLog(await store.readLog([revision.id], kind, query), query.limit);
	}
	return {
		async getRevision(id, revisionId) {
			return tellRevision(await ownRevision({
				operation: "get revision",
				method: "GET",
				path: `/v2/deployments/${id}/revisions/${revisionId}`
			}, id, revisionId));
		},
		async listRevisions(id, query) {
			const call = {
				operation: "list revisions",
				method: "GET",
				path: `/v2/deployments/${id}/revisions`
			};
			const page = take(call, readShape(revisionsPage, query, "query"));
			const revisions = await store.listRevisions(await ownDeployment(call, id), page);
			return {
				resources: revisions.map(tellRevision),
				offset: (page.offset ?? 0) + revisions.length
			};
		},
		/** POST .../interruption: ends a revision that is on its way; the live one goes on serving. */
		async interruptRevision(id, revisionId) {
			const call = {
				operation: "interrupt revision",
				method: "POST",
				path: `/v2/deployments/${id}/revisions/${revisionId}/interruption`
			};
			const revision = await ownRevision(call, id, revisionId);
			const interrupted = await store.setStatus(revision.id, unfinishedStatuses, "INTERRUPTED", { message: "It was interrupted on request." });
			if (!interrupted) throw refusedCall(call, {
				status: 400,
				detail: `The revision ${revision.id} has ended already.`
			});
			rollouts.interrupted(revision.deployment_id, revision.id);
			rollouts.wake(revision.deployment_id);
			return tellRevision(interrupted);
		},
		buildLogs: (id, revisionId, body) => log("build", id, revisionId, body),
		deployLogs: (id, revisionId, body) => log("deploy", id, revisionId, body)
	};
}
// src/control-service/service/surroundings.ts
/** Reading what deployments can be made with: integrations, their repositories, listeners. */
function surroundingsOperations({ store, tenantId }) {
	return {
		async listIntegrations() {
			return (await store.listIntegrations(tenantId)).map(tellIntegration);
		},
		async listRepositories(integrationId) {
			const call = {
				operation: "list repositories",
				method: "GET",
				path: `/v1/integrations/github/${integrationId}/repos`
			};
			const id = takeId(call, "integration_id", integrationId);
			const integration = found(call, "Integration", integrationId, await store.findIntegration(tenantId, id));
			return (await store.listRepositories(integration.id)).map(tellRepository);
		},
		async listListeners(query) {
			const page = take({
				operation: "list listeners",
				method: "GET",
				path: "/v2/listeners"
			}, readShape(plainPage, query, "query"));
			const listeners = await store.listListeners(tenantId, page);
			return {
				resources: listeners.map(tellListener),
				offset: (page.offset ?? 0) + listeners.length
			};
		},
		async getListener(id) {
			const call = {
				operation: "get listener",
				method: "GET",
				path: `/v2/listeners/${id}`
			};
			const listenerId = takeId(call, "listener_id", id);
			return tellListener(found(call, "Listener", id, await store.findListener(tenantId, listenerId)));
		}
	};
}
// src/control-service/service.ts
/**
* The control service for one tenant, in this process (control-service.md). It does what the contract's interface
* says, and takes anything as a body: what does not hold is refused with the same `ServiceError`s that a client makes
* of the answers over HTTP. The operations beyond the interface are described where they are defined.
*/
function createControlService(settings) {
	return {
		...deploymentOperations(settings),
		...revisionOperations(settings),
		...surroundingsOperations(settings)
	};
}
// src/control-service/sole.ts
/** How long a former service may take to leave, and how often it is looked whether it has, in milliseconds. */
const patienceMs = 5e3;
const lookEveryMs = 250;
/**
* Makes sure that no other control service works on this database: two would build the same revisions and serve the
* same agents. The claim ends with the process, however it ends. Where the database restarts, the claim is made again;
* that another service was faster then is told to `log`.
*
* @throws Error when another service has the database.
*/
async function claimDatabase(url, clock, log) {
	const released = new AbortController();
	let client = await firstClaim();
	async function attempt() {
		const next = new Client({
			connectionString: url,
			application_name: "landfall-claim",
			connectionTimeoutMillis: 1e4,
			keepAlive: true
		});
		let isHeld = false;
		next.on("error", () => void 0);
		next.on("end", () => {
			if (isHeld && !released.signal.aborted) claimAgain();
		});
		await next.connect();
		const { rows } = await next.query("select pg_try_advisory_lock(hashtext('landfall control service')) as held");
		isHeld = rows[0]?.held === true;
		if (isHeld) return next;
		await next.end();
	}
	async function firstClaim() {
		const until = clock.now() + patienceMs;
		for (;;) {
			const held = await attempt();
			if (held) return held;
			if (clock.now() >= until) throw new Error("Another control service works on this database. Stop it, or give this one another database: set DATABASE_URL, or leave it out and choose another --data folder.");
			await clock.sleep(lookEveryMs);
		}
	}
	async function claimAgain() {
		while (!released.signal.aborted) {
			await clock.sleep(lookEveryMs);
			try {
				const held = await attempt();
				if (held && !released.signal.aborted) client = held;
				else if (held) await held.end();
				else log("Another control service works on this database now. Stop one of the two.");
				if (held) return;
			} catch (error) {
				if (!(error instanceof Error)) throw error;
			}
		}
	}
	return { async release() {
		released.abort();
		await client.end();
	} };
}
// src/control-service/store/migrations.ts
/** The Postgres schema that holds the control service's tables. */
const controlSchema = "control";
const tables = `
  create table control.tenants (
    id uuid primary key,
    name text not null,
    created_at timestamptz not null
  );

  create table control.api_keys (
    id text primary key,
    tenant_id uuid not null references control.tenants on delete cascade,
    hash bytea not null,
    created_at timestamptz not null,
    revoked_at timestamptz
  );

  create table control.deployments (
    id uuid primary key,
    tenant_id uuid not null references control.tenants on delete cascade,
    name text not null,
    source text not null,
    source_config jsonb not null,
    source_revision_config jsonb not null,
    secrets jsonb not null,
    secret_references jsonb,
    database_state text not null,
    database_password text not null,
    status text not null,
    latest_revision_id uuid,
    active_revision_id uuid,
    image_version text,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    constraint deployments_name unique (tenant_id, name)
  );
  create index deployments_in_order on control.deployments (tenant_id, created_at desc, id);

  create table control.revisions (
    id uuid primary key,
    sequence bigint generated always as identity unique,
    deployment_id uuid not null references control.deployments on delete cascade,
    status text not null,
    status_message text,
    source text not null,
    source_config jsonb not null,
    source_revision_config jsonb not null,
    secrets jsonb not null,
    secret_references jsonb,
    repo_commit_sha text,
    build_folder text,
    redeploy_of uuid,
    created_at timestamptz not null,
    updated_at timestamptz not null
  );
  create index revisions_in_order on control.revisions (deployment_id, sequence desc);
  create index revisions_unfinished on control.revisions (deployment_id) where status in
    ('CREATING', 'QUEUED', 'AWAITING_BUILD', 'BUILDING', 'AWAITING_DEPLOY', 'DEPLOYING');
  create unique index revisions_one_running on control.revisions (deployment_id) where status in
    ('AWAITING_BUILD', 'BUILDING', 'AWAITING_DEPLOY', 'DEPLOYING');

  alter table control.deployments
    add foreign key (latest_revision_id) references control.revisions deferrable initially deferred,
    add foreign key (active_revision_id) references control.revisions deferrable initially deferred;

  create table control.revision_events (
    id bigint generated always as identity primary key,
    revision_id uuid not null references control.revisions on delete cascade,
    status text not null,
    message text,
    at timestamptz not null
  );
  create index revision_events_of_revision on control.revision_events (revision_id, id);

  create table control.log_lines (
    id bigint generated always as identity primary key,
    revision_id uuid not null references control.revisions on delete cascade,
    kind text not null,
    level text not null,
    message text not null,
    at timestamptz not null
  );
  create index log_lines_in_order on control.log_lines (revision_id, kind, id);

  create table control.listeners (
    id uuid primary key,
    tenant_id uuid not null references control.tenants on delete cascade,
    version text,
    compute_type text not null,
    compute_id text not null,
    compute_config jsonb not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    constraint listeners_compute unique (tenant_id, compute_id)
  );

  create table control.integrations (
    id uuid primary key,
    tenant_id uuid not null references control.tenants on delete cascade,
    installation_id bigint not null,
    name text not null,
    created_at timestamptz not null,
    constraint integrations_installation unique (tenant_id, installation_id)
  );

  create table control.repositories (
    integration_id uuid not null references control.integrations on delete cascade,
    id bigint not null,
    name text not null,
    owner text not null,
    url text not null,
    default_branch text,
    primary key (integration_id, id)
  );

  create table control.tracing_projects (
    id uuid primary key,
    tenant_id uuid not null references control.tenants on delete cascade,
    name text not null,
    deployment_id uuid references control.deployments on delete set null,
    created_at timestamptz not null,
    constraint tracing_projects_name unique (tenant_id, name)
  );
`;
/** The steps that bring the schema `control` to the tables of `tables.ts`. */
const controlMigrations = [{
	name: "001-tables",
	up: async (db) => {
		await sql.raw(tables).execute(db);
	}
}];
// src/control-service/rules/deployment-status.ts
/**
* The status of a deployment, from its causes (control-service.md, States, names the words only; our choice):
* READY once its agents' database stands, UNKNOWN while that database does not answer, and before it stands
* AWAITING_DATABASE while a revision is on its way, UNUSED when none is.
*/
function deploymentStatus(database, revisionOnItsWay) {
	if (database === "ready") return "READY";
	if (database === "unreachable") return "UNKNOWN";
	return revisionOnItsWay ? "AWAITING_DATABASE" : "UNUSED";
}
// src/control-service/store/records.ts
/** The columns of `Wanted` as they are written. */
const wantedColumns = (wanted) => ({
	source_config: JSON.stringify(wanted.source_config),
	source_revision_config: JSON.stringify(wanted.source_revision_config),
	secrets: JSON.stringify(wanted.secrets),
	secret_references: wanted.secret_references && JSON.stringify(wanted.secret_references)
});
// src/control-service/store/events.ts
/** Writes down that a revision came to a status. */
async function recordEvent(trx, at, revisionId, status, message = null) {
	await trx.insertInto("revision_events").values({
		revision_id: revisionId,
		status,
		message,
		at
	}).execute();
}
/** Every status a revision had, oldest first. */
async function eventsOf(db, revisionId) {
	return db.selectFrom("revision_events").selectAll().where("revision_id", "=", revisionId).orderBy("id").execute();
}
// src/control-service/store/new-revision.ts
/** Inserts a revision with a copy of all that the deployment is asked to be at this moment. */
async function insertRevision(trx, now, wanted, taken) {
	const revision = await trx.insertInto("revisions").values({
		id: randomUUID(),
		deployment_id: wanted.id,
		status: "CREATING",
		status_message: null,
		source: wanted.source,
		...wantedColumns(wanted),
		repo_commit_sha: taken?.repo_commit_sha ?? null,
		build_folder: taken?.build_folder ?? null,
		redeploy_of: taken?.redeploy_of ?? null,
		created_at: now,
		updated_at: now
	}).returningAll().executeTakeFirstOrThrow();
	await recordEvent(trx, now, revision.id, "CREATING");
	return revision;
}
// src/control-service/store/violations.ts
/** The name of the unique constraint that an error of the database is about, if it is about one. */
function brokenConstraint(error) {
	if (!(error instanceof Error && "code" in error && error.code === "23505") || !("constraint" in error)) return void 0;
	return typeof error.constraint === "string" ? error.constraint : void 0;
}
// src/control-service/store/deployments.ts
/**
* Makes a deployment, its first revision and its tracing project in one transaction. Of several creations of one name
* at the same moment one wins; the database's own constraints decide.
*/
async function createDeployment(db, clock, tenantId, asked) {
	const now = new Date(clock.now());
	const id = randomUUID();
	try {
		return await db.transaction().execute(async (trx) => {
			await trx.insertInto("deployments").values({
				id,
				tenant_id: tenantId,
				name: asked.name,
				source: asked.source,
				...wantedColumns(asked),
				database_state: "absent",
				database_password: randomBytes(24).toString("base64url"),
				status: deploymentStatus("absent", true),
				latest_revision_id: null,
				active_revision_id: null,
				image_version: null,
				created_at: now,
				updated_at: now
			}).execute();
			await trx.insertInto("tracing_projects").values({
				id: randomUUID(),
				tenant_id: tenantId,
				name: asked.name,
				deployment_id: id,
				created_at: now
			}).execute();
			return {
				kind: "created",
				...await addRevision(trx, now, id, "new")
			};
		});
	} catch (error) {
		const broken = brokenConstraint(error);
		if (broken === "deployments_name") return { kind: "name-taken" };
		if (broken === "tracing_projects_name") return { kind: "tracing-project-exists" };
		throw error;
	}
}
/**
* Changes a deployment under a lock on its row: `decide` sees it as it is, and what it returns is written, with a new
* revision where it asks for one. A refusal changes nothing and is handed back; undefined when there is no such
* deployment.
*/
async function changeDeployment(db, clock, tenantId, id, decide) {
	return db.transaction().execute(async (trx) => {
		const current = await trx.selectFrom("deployments").selectAll().where("id", "=", id).where("tenant_id", "=", tenantId).forUpdate().executeTakeFirst();
		if (!current) return void 0;
		const decision = decide(current);
		if ("refused" in decision) return {
			kind: "refused",
			refusal: decision.refused
		};
		const now = new Date(clock.now());
		await trx.updateTable("deployments").set({
			...wantedColumns(decision.wanted),
			updated_at: now
		}).where("id", "=", id).execute();
		if (decision.revision !== "none") return {
			kind: "changed",
			...await addRevision(trx, now, id, decision.revision)
		};
		return {
			kind: "changed",
			...await viewOf(trx, id)
		};
	});
}
/** A tenant's deployment with its latest revision. */
async function findDeployment(db, tenantId, id) {
	const deployment = await db.selectFrom("deployments").selectAll().where("id", "=", id).where("tenant_id", "=", tenantId).executeTakeFirst();
	if (!deployment) return void 0;
	const [view] = await withLatest(db, [deployment]);
	return view;
}
/** Puts its latest revision beside every deployment. */
async function withLatest(db, deployments) {
	const ids = deployments.flatMap(({ latest_revision_id }) => latest_revision_id ?? []);
	if (ids.length === 0) return [];
	const revisions = await db.selectFrom("revisions").selectAll().where("id", "in", ids).execute();
	const byId = new Map(revisions.map((revision) => [revision.id, revision]));
	return deployments.flatMap((deployment) => {
		const latest = deployment.latest_revision_id && byId.get(deployment.latest_revision_id);
		return latest ? [{
			deployment,
			latest
		}] : [];
	});
}
/** Adds a revision of what the deployment is asked to be now, and makes it the latest. */
async function addRevision(trx, now, deploymentId, build) {
	const wanted = await trx.selectFrom("deployments").selectAll().where("id", "=", deploymentId).executeTakeFirstOrThrow();
	const latest = await insertRevision(trx, now, wanted, build === "new" ? void 0 : build);
	return {
		deployment: await trx.updateTable("deployments").set({
			latest_revision_id: latest.id,
			status: deploymentStatus(wanted.database_state, true),
			updated_at: now
		}).where("id", "=", deploymentId).returningAll().executeTakeFirstOrThrow(),
		latest
	};
}
async function viewOf(trx, id) {
	const [view] = await withLatest(trx, [await trx.selectFrom("deployments").selectAll().where("id", "=", id).executeTakeFirstOrThrow()]);
	if (!view) throw new Error(`the deployment ${id} has no latest revision`);
	return view;
}
/** A page of a tenant's deployments, newest first. */
async function listDeployments(db, tenantId, query) {
	let select = db.selectFrom("deployments").selectAll().where("tenant_id", "=", tenantId);
	if (query.name !== void 0) select = select.where("name", "=", query.name);
	if (query.name_contains !== void 0) select = select.where(sql`strpos(name, ${query.name_contains})`, ">", 0);
	if (query.statuses?.length === 0 || query.deployment_ids?.length === 0) return [];
	if (query.statuses !== void 0) select = select.where("status", "in", query.statuses);
	if (query.deployment_ids !== void 0) select = select.where("id", "in", query.deployment_ids);
	if (query.image_version !== void 0) select = select.where("image_version", "=", query.image_version);
	if (query.deployment_type !== void 0) select = select.where(sql`source_config ->> 'deployment_type'`, "=", query.deployment_type);
	return withLatest(db, await select.orderBy("created_at", "desc").orderBy("id").limit(query.limit ?? 20).offset(query.offset ?? 0).execute());
}
// src/control-service/store/integrations.ts
/** Makes an integration, or puts the name and the repositories of the one with this installation up to date. */
async function putIntegration(db, clock, tenantId, { installation_id, name, repositories }) {
	return db.transaction().execute(async (trx) => {
		const integration = await trx.insertInto("integrations").values({
			id: randomUUID(),
			tenant_id: tenantId,
			installation_id: String(installation_id),
			name,
			created_at: new Date(clock.now())
		}).onConflict((conflict) => conflict.constraint("integrations_installation").doUpdateSet({ name })).returningAll().executeTakeFirstOrThrow();
		await trx.deleteFrom("repositories").where("integration_id", "=", integration.id).execute();
		const rows = repositories.map(({ id, default_branch = null, ...repository }) => ({
			...repository,
			integration_id: integration.id,
			id: String(id),
			default_branch
		}));
		if (rows.length > 0) await trx.insertInto("repositories").values(rows).execute();
		return integration;
	});
}
/** A tenant's integrations, oldest first. */
async function listIntegrations(db, tenantId) {
	return db.selectFrom("integrations").selectAll().where("tenant_id", "=", tenantId).orderBy("created_at").orderBy("id").execute();
}
/** A tenant's integration. */
async function findIntegration(db, tenantId, id) {
	return db.selectFrom("integrations").selectAll().where("tenant_id", "=", tenantId).where("id", "=", id).executeTakeFirst();
}
/** The repositories that an integration reaches. */
async function listRepositories(db, integrationId) {
	return db.selectFrom("repositories").selectAll().where("integration_id", "=", integrationId).orderBy("id").execute();
}
// src/control-service/store/listeners.ts
/** Makes a listener; undefined when the tenant has one of this `compute_id`. */
async function addListener(db, clock, tenantId, listener) {
	const now = new Date(clock.now());
	const { compute_type, compute_id, k8s_namespaces = [], version = null } = listener;
	try {
		return await db.insertInto("listeners").values({
			id: randomUUID(),
			tenant_id: tenantId,
			version,
			compute_type,
			compute_id,
			compute_config: JSON.stringify({ k8s_namespaces }),
			created_at: now,
			updated_at: now
		}).returningAll().executeTakeFirstOrThrow();
	} catch (error) {
		if (brokenConstraint(error) === "listeners_compute") return void 0;
		throw error;
	}
}
/** A tenant's listeners, oldest first. */
async function listListeners(db, tenantId, { limit = 20, offset = 0 }) {
	return db.selectFrom("listeners").selectAll().where("tenant_id", "=", tenantId).orderBy("created_at").orderBy("id").limit(limit).offset(offset).execute();
}
/** A tenant's listener. */
async function findListener(db, tenantId, id) {
	return db.selectFrom("listeners").selectAll().where("tenant_id", "=", tenantId).where("id", "=", id).executeTakeFirst();
}
// src/control-service/store/log-lines.ts
/** The longest message that is kept, in characters; what is beyond is cut off and said. */
const longestMessage = 8192;
/** How many lines of a kind a revision keeps: the newest. */
const mostLines = 2e4;
/** Appends lines in their order. A line break at the end is dropped, and so are NUL characters, which Postgres refuses. */
async function appendLog(db, clock, revisionId, kind, lines) {
	if (lines.length === 0) return;
	const rows = lines.map(({ level, message, at = clock.now() }) => ({
		revision_id: revisionId,
		kind,
		level,
		message: keepable(message),
		at: new Date(at)
	}));
	await db.insertInto("log_lines").values(rows).execute();
}
/** Drops all but the newest `keep` lines of a revision's log. */
async function trimLog(db, revisionId, kind, keep = mostLines) {
	await db.deleteFrom("log_lines").where("revision_id", "=", revisionId).where("kind", "=", kind).where("id", "<=", (query) => query.selectFrom("log_lines").select("id").where("revision_id", "=", revisionId).where("kind", "=", kind).orderBy("id", "desc").limit(1).offset(keep)).execute();
}
/** A page of the lines of some revisions. */
async function readLog(db, revisionIds, kind, query) {
	if (revisionIds.length === 0) return [];
	let select = db.selectFrom("log_lines").selectAll().where("revision_id", "in", revisionIds).where("kind", "=", kind);
	if (query.after !== void 0) select = select.where("id", query.order === "asc" ? ">" : "<", query.after);
	if (query.level !== void 0) select = select.where(sql`lower(level)`, "=", query.level.toLowerCase());
	if (query.containing !== void 0) select = select.where(sql`strpos(lower(message), lower(${query.containing}))`, ">", 0);
	if (query.from) select = select.where("at", ">=", query.from);
	if (query.until) select = select.where("at", "<", query.until);
	return select.orderBy("id", query.order).limit(query.limit).execute();
}
function keepable(message) {
	const text = message.replaceAll("\0", "").replace(/\r?\n$/, "").toWellFormed();
	return text.length > 8192 ? `${text.slice(0, longestMessage)} … (${text.length} characters, cut)` : text;
}
// src/control-service/store/revision-work.ts
/**
* Takes the next revision of a deployment: the newest that waits, if none is running. Older ones that wait end
* SKIPPED; while one is running, those that wait become QUEUED. A revision that has a build already begins at
* AWAITING_DEPLOY, every other at AWAITING_BUILD. Safe under several processes: each revision is handed out once.
*/
async function claimNextRevision(db, clock, deploymentId) {
	return db.transaction().execute(async (trx) => {
		if (!await lockDeployment(trx, deploymentId)) return void 0;
		const unfinished = await trx.selectFrom("revisions").selectAll().where("deployment_id", "=", deploymentId).where("status", "in", unfinishedStatuses).orderBy("sequence", "desc").execute();
		const waiting = unfinished.filter(({ status }) => isOneOf(waitingStatuses, status));
		const now = new Date(clock.now());
		if (waiting.length < unfinished.length) {
			for (const { id, status } of waiting) if (status === "CREATING") await step(trx, now, id, "QUEUED");
			return;
		}
		const [next, ...older] = waiting;
		if (!next) return void 0;
		for (const { id } of older) await step(trx, now, id, "SKIPPED", { message: skipped(next.id) });
		return step(trx, now, next.id, firstStep(next.build_folder !== null));
	});
}
/**
* Moves a revision from one of `from` to `to` and writes the event; undefined when it is in none of them (it was
* interrupted, or somebody else was faster): then nothing is changed. To DEPLOYED leads only `activate`.
*
* @throws Error for a step that `revisionSteps` does not have: a mistake of ours.
*/
async function setStatus(db, clock, revisionId, from, to, details = {}) {
	const wrong = from.find((status) => !mayStep(status, to));
	if (wrong !== void 0 || to === "DEPLOYED") throw new Error(`no revision steps from ${wrong ?? from.join()} to ${to}`);
	return db.transaction().execute(async (trx) => {
		const owner = await trx.selectFrom("revisions").select("deployment_id").where("id", "=", revisionId).executeTakeFirst();
		const deployment = owner && await lockDeployment(trx, owner.deployment_id);
		if (!deployment) return void 0;
		const { status } = await trx.selectFrom("revisions").select("status").where("id", "=", revisionId).executeTakeFirstOrThrow();
		if (!from.includes(status)) return void 0;
		const now = new Date(clock.now());
		const moved = await step(trx, now, revisionId, to, details);
		await refreshStatus(trx, now, deployment);
		return moved;
	});
}
/**
* Makes a revision the live one, in one transaction: DEPLOYING becomes DEPLOYED and the deployment's
* `active_revision_id` names it. False when it is not DEPLOYING any more: then nothing is changed.
*/
async function activate(db, clock, deploymentId, revisionId) {
	return db.transaction().execute(async (trx) => {
		const deployment = await lockDeployment(trx, deploymentId);
		const revision = await trx.selectFrom("revisions").select("status").where("id", "=", revisionId).where("deployment_id", "=", deploymentId).executeTakeFirst();
		if (!deployment || revision?.status !== "DEPLOYING") return false;
		const now = new Date(clock.now());
		await step(trx, now, revisionId, "DEPLOYED", { message: null });
		await trx.updateTable("deployments").set({
			active_revision_id: revisionId,
			updated_at: now
		}).where("id", "=", deploymentId).execute();
		await refreshStatus(trx, now, deployment);
		return true;
	});
}
/** Writes down what became of the database that the deployment's agents keep their state in. */
async function setDatabaseState(db, clock, deploymentId, state) {
	await db.transaction().execute(async (trx) => {
		const deployment = await lockDeployment(trx, deploymentId);
		if (!deployment || deployment.database_state === state) return;
		await trx.updateTable("deployments").set({ database_state: state }).where("id", "=", deploymentId).execute();
		await refreshStatus(trx, new Date(clock.now()), {
			...deployment,
			database_state: state
		});
	});
}
/** Every change of a deployment's revisions begins here, so that two never meet in another order. */
async function lockDeployment(trx, id) {
	return trx.selectFrom("deployments").selectAll().where("id", "=", id).forUpdate().executeTakeFirst();
}
async function step(trx, now, revisionId, to, details = {}) {
	const { message, commit, buildFolder } = details;
	const moved = await trx.updateTable("revisions").set({
		status: to,
		updated_at: now,
		...message === void 0 ? {} : { status_message: message },
		...commit === void 0 ? {} : { repo_commit_sha: commit },
		...buildFolder === void 0 ? {} : { build_folder: buildFolder }
	}).where("id", "=", revisionId).returningAll().executeTakeFirstOrThrow();
	await recordEvent(trx, now, revisionId, to, message ?? null);
	return moved;
}
async function refreshStatus(trx, now, deployment) {
	const onItsWay = await trx.selectFrom("revisions").select("id").where("deployment_id", "=", deployment.id).where("status", "in", unfinishedStatuses).limit(1).executeTakeFirst();
	const status = deploymentStatus(deployment.database_state, onItsWay !== void 0);
	if (status === deployment.status) return;
	await trx.updateTable("deployments").set({
		status,
		updated_at: now
	}).where("id", "=", deployment.id).execute();
}
const skipped = (by) => `The newer revision ${by} was asked for before this one was begun.`;
const isOneOf = (list, status) => list.includes(status);
// src/control-service/store/revisions.ts
/** A revision of this deployment. */
async function findRevision(db, deploymentId, revisionId) {
	return db.selectFrom("revisions").selectAll().where("id", "=", revisionId).where("deployment_id", "=", deploymentId).executeTakeFirst();
}
/** A page of a deployment's revisions, newest first. */
async function listRevisions(db, deploymentId, { limit = 20, offset = 0, statuses }) {
	if (statuses?.length === 0) return [];
	let select = db.selectFrom("revisions").selectAll().where("deployment_id", "=", deploymentId);
	if (statuses) select = select.where("status", "in", statuses);
	return select.orderBy("sequence", "desc").limit(limit).offset(offset).execute();
}
/** The ids of the deployments that have a waiting or a running revision. */
async function deploymentsWithWork(db) {
	return (await db.selectFrom("revisions").select("deployment_id").distinct().where("status", "in", unfinishedStatuses).execute()).map(({ deployment_id }) => deployment_id);
}
/** Every deployment that has a live revision, with that revision: what a start has to serve again. */
async function activeRevisions(db) {
	const deployments = await db.selectFrom("deployments").selectAll().where("active_revision_id", "is not", null).orderBy("created_at").execute();
	const ids = deployments.flatMap(({ active_revision_id }) => active_revision_id ?? []);
	if (ids.length === 0) return [];
	const revisions = await db.selectFrom("revisions").selectAll().where("id", "in", ids).execute();
	const byId = new Map(revisions.map((revision) => [revision.id, revision]));
	return deployments.flatMap((deployment) => {
		const revision = deployment.active_revision_id && byId.get(deployment.active_revision_id);
		return revision ? [{
			deployment,
			revision
		}] : [];
	});
}
/** The deployment's revisions whose builds lie on this machine, newest first. */
async function revisionsWithBuild(db, deploymentId) {
	return db.selectFrom("revisions").selectAll().where("deployment_id", "=", deploymentId).where("build_folder", "is not", null).orderBy("sequence", "desc").execute();
}
/** Every build that some revision names, of any deployment. */
async function namedBuilds(db) {
	return (await db.selectFrom("revisions").select("build_folder").distinct().where("build_folder", "is not", null).execute()).flatMap(({ build_folder }) => build_folder ?? []);
}
/** Writes down the commit that a revision is built from, as soon as it is known. */
async function noteCommit(db, clock, revisionId, commit) {
	await db.updateTable("revisions").set({
		repo_commit_sha: commit,
		updated_at: new Date(clock.now())
	}).where("id", "=", revisionId).execute();
}
// src/control-service/store/tenants.ts
/** Makes a tenant and answers its id. */
async function addTenant(db, clock, name) {
	const id = randomUUID();
	await db.insertInto("tenants").values({
		id,
		name,
		created_at: new Date(clock.now())
	}).execute();
	return id;
}
/** The tenant that was made first, if there is one. */
async function firstTenant(db) {
	return (await db.selectFrom("tenants").select("id").orderBy("created_at").limit(1).executeTakeFirst())?.id;
}
/** Keeps a key's hash; false where its id is taken, by a key that was revoked too. */
async function addKey(db, clock, key) {
	return await db.insertInto("api_keys").values({
		...key,
		created_at: new Date(clock.now()),
		revoked_at: null
	}).onConflict((conflict) => conflict.column("id").doNothing()).returning("id").executeTakeFirst() !== void 0;
}
/** The key of this id, unless it was revoked. */
async function findKey(db, id) {
	return db.selectFrom("api_keys").select([
		"id",
		"tenant_id",
		"hash"
	]).where("id", "=", id).where("revoked_at", "is", null).executeTakeFirst();
}
/** Ends a key: from now on it opens nothing. */
async function revokeKey(db, clock, id) {
	await db.updateTable("api_keys").set({ revoked_at: new Date(clock.now()) }).where("id", "=", id).execute();
}
// src/control-service/store/tracing-projects.ts
/** The tracing project of this name. */
async function findTracingProject(db, tenantId, name) {
	return db.selectFrom("tracing_projects").select([
		"id",
		"name",
		"deployment_id"
	]).where("tenant_id", "=", tenantId).where("name", "=", name).executeTakeFirst();
}
/** Makes a tracing project that no deployment belongs to. */
async function addTracingProject(db, clock, tenantId, name) {
	const id = randomUUID();
	await db.insertInto("tracing_projects").values({
		id,
		tenant_id: tenantId,
		name,
		deployment_id: null,
		created_at: new Date(clock.now())
	}).execute();
	return id;
}
// src/control-service/store/store.ts
/**
* All that the control service remembers, over a database that is migrated by `controlMigrations`. Each operation is
* one statement or one transaction and safe under several processes; each is described where it is defined.
*/
function createStore(database, clock) {
	const db = database.withSchema(controlSchema);
	return {
		createDeployment: (tenantId, asked) => createDeployment(db, clock, tenantId, asked),
		changeDeployment: (tenantId, id, decide) => changeDeployment(db, clock, tenantId, id, decide),
		findDeployment: (tenantId, id) => findDeployment(db, tenantId, id),
		listDeployments: (tenantId, query) => listDeployments(db, tenantId, query),
		/** A deployment of whichever tenant: for the work, not for a caller. */
		deployment: (id) => db.selectFrom("deployments").selectAll().where("id", "=", id).executeTakeFirst(),
		findRevision: (deploymentId, revisionId) => findRevision(db, deploymentId, revisionId),
		listRevisions: (deploymentId, page) => listRevisions(db, deploymentId, page),
		eventsOf: (revisionId) => eventsOf(db, revisionId),
		claimNextRevision: (deploymentId) => claimNextRevision(db, clock, deploymentId),
		setStatus: (revisionId, from, to, details) => setStatus(db, clock, revisionId, from, to, details),
		activate: (deploymentId, revisionId) => activate(db, clock, deploymentId, revisionId),
		setDatabaseState: (deploymentId, state) => setDatabaseState(db, clock, deploymentId, state),
		deploymentsWithWork: () => deploymentsWithWork(db),
		activeRevisions: () => activeRevisions(db),
		revisionsWithBuild: (deploymentId) => revisionsWithBuild(db, deploymentId),
		namedBuilds: () => namedBuilds(db),
		noteCommit: (revisionId, commit) => noteCommit(db, clock, revisionId, commit),
		appendLog: (revisionId, kind, lines) => appendLog(db, clock, revisionId, kind, lines),
		trimLog: (revisionId, kind, keep) => trimLog(db, revisionId, kind, keep),
		readLog: (revisionIds, kind, query) => readLog(db, revisionIds, kind, query),
		addListener: (tenantId, listener) => addListener(db, clock, tenantId, listener),
		listListeners: (tenantId, page) => listListeners(db, tenantId, page),
		findListener: (tenantId, id) => findListener(db, tenantId, id),
		putIntegration: (tenantId, integration) => putIntegration(db, clock, tenantId, integration),
		listIntegrations: (tenantId) => listIntegrations(db, tenantId),
		findIntegration: (tenantId, id) => findIntegration(db, tenantId, id),
		listRepositories: (integrationId) => listRepositories(db, integrationId),
		addTenant: (name) => addTenant(db, clock, name),
		firstTenant: () => firstTenant(db),
		addKey: (key) => addKey(db, clock, key),
		findKey: (id) => findKey(db, id),
		revokeKey: (id) => revokeKey(db, clock, id),
		addTracingProject: (tenantId, name) => addTracingProject(db, clock, tenantId, name),
		findTracingProject: (tenantId, name) => findTracingProject(db, tenantId, name)
	};
}
// src/control-service/local.ts
/** How long agents may take to finish when everything ends, in milliseconds: the rest of 10 s is for the database. */
const agentsEndWithin = 6e3;
/**
* Starts the control service with everything below it: database, gateway, and what carries revisions out. What was
* under way when it last ended goes on, and what was live serves again.
*
* @throws Error with advice when the port is taken, the folder is in use, or another service has the database.
*/
async function startLocal(settings) {
	const { port, databaseUrl, basePath = "", fieldNames = "contract", clock, log } = settings;
	const dataDir = resolve(settings.dataDir);
	mkdirSync(dataDir, {
		recursive: true,
		mode: 457
	});
	const allowGit = settings.allowGit.flatMap((folder) => [resolve(folder), realpathSync(folder)]);
	const opened = [];
	const end = async () => {
		for (const close of opened.splice(0).reverse()) await close();
	};
	try {
		const database = await resolveDatabase({
			databaseUrl,
			dataDir: join(dataDir, "postgres"),
			log
		});
		opened.push(() => database.close());
		const claim = await claimDatabase(database.url, clock, log);
		opened.push(() => claim.release());
		const tables = openDatabase({
			url: database.url,
			max: 10,
			applicationName: "landfall-control-service",
			log
		});
		opened.push(() => tables.close());
		await migrate(tables.db, controlMigrations, { schema: controlSchema });
		const store = createStore(tables.db, clock);
		const { apiKey, tenantId } = await keepKey(store, dataDir);
		const compute = settings.compute ?? processCompute({ clock });
		const gateway = createGateway({
			authorize: admitToAgent(store),
			clock,
			log
		});
		const rollouts = startRollouts({
			store,
			dataDir,
			adminDatabaseUrl: database.url,
			allowGit,
			gateway,
			compute,
			clock,
			log
		});
		let url = "";
		const serviceFor = (tenant) => createControlService({
			store,
			rollouts,
			tenantId: tenant,
			baseUrl: () => url,
			allowGit
		});
		const server = createHttpServer({
			fetch: createApp({
				serviceFor,
				findKey: store.findKey,
				fieldNames,
				log
			}).fetch,
			agents: (request, response) => gateway.handle(request, response),
			basePath
		});
		url = `http://127.0.0.1:${await listen(server, port)}${basePath}`;
		opened.push(() => endServer(server, () => rollouts.stop(agentsEndWithin)));
		await rollouts.recover();
		return {
			url,
			apiKey,
			tenantId,
			control: serviceFor(tenantId),
			close: end
		};
	} catch (error) {
		await end();
		throw error;
	}
}
async function listen(server, port) {
	server.listen(port, "127.0.0.1");
	await once(server, "listening").catch((error) => {
		throw portProblem(error, port);
	});
	const address = server.address();
	if (address === null || typeof address === "string") throw new Error("The server listens at no port.");
	return address.port;
}
function portProblem(error, port) {
	const code = error instanceof Error && "code" in error ? error.code : void 0;
	if (code === "EADDRINUSE") return /* @__PURE__ */ new Error(`Port ${port} is taken. Choose another one with --port, or 0 for a free one.`);
	if (code === "EACCES") return /* @__PURE__ */ new Error(`Port ${port} may not be used by this user. Choose one above 1023 with --port.`);
	return error;
}
/** Takes no more requests; those in flight go on while what answers them ends by itself. */
async function endServer(server, endAgents) {
	const closed = new Promise((done) => server.close(() => done()));
	server.closeIdleConnections();
	await endAgents();
	server.closeAllConnections();
	await closed;
}
// src/control-service/local-command.ts
/** The port where none is asked for: the same at every start, so that agents keep their addresses. */
const usualPort = 8420;
const localUsage = `Runs the control service and its agents on this machine.

  --port P           the port on 127.0.0.1, 0 for a free one (${usualPort})
  --data DIR         where database, builds and the API key are kept (.landfall)
  --allow-git DIR    lets repo_url name repositories below this folder; may be repeated
  --base-path PATH   a path that everything hangs below, as in /api-host
  --field-names WORD the spelling of answers: contract or public (contract)
  --json             one line of JSON when ready: {"url", "api_key", "tenant_id"}
  --help

DATABASE_URL names a Postgres of yours; without it one is started here.`;
/** Reads the command line, or tells what is wrong with it. */
function readLocalCommand(args) {
	let values;
	try {
		({values} = parseArgs({
			args,
			options: {
				port: { type: "string" },
				data: { type: "string" },
				"allow-git": {
					type: "string",
					multiple: true
				},
				"base-path": { type: "string" },
				"field-names": { type: "string" },
				json: { type: "boolean" },
				help: { type: "boolean" }
			}
		}));
	} catch (error) {
		return {
			ok: false,
			problem: error instanceof Error ? error.message : String(error)
		};
	}
	const { port = String(usualPort), "base-path": basePath = "", "field-names": names = "contract" } = values;
	const fieldNames = fieldSpellings.find((word) => word === names);
	if (!/^\d{1,5}$/.test(port) || Number(port) > 65535) return {
		ok: false,
		problem: `--port ${port} is no port.`
	};
	if (!/^(\/[\w.-]+)*$/.test(basePath)) return {
		ok: false,
		problem: "--base-path begins with a slash and ends with none, as in /api-host."
	};
	if (!fieldNames) return {
		ok: false,
		problem: `--field-names is ${fieldSpellings.join(" or ")}.`
	};
	return {
		ok: true,
		command: {
			port: Number(port),
			data: values.data ?? ".landfall",
			allowGit: values["allow-git"] ?? [],
			basePath,
			fieldNames,
			json: values.json ?? false,
			help: values.help ?? false
		}
	};
}
/** Runs the services until they are asked to leave; the exit code. */
async function runLocal(args, { env, say, tell, leave }) {
	const read = readLocalCommand(args);
	if (!read.ok) {
		tell(`${read.problem}\n\n${localUsage}`);
		return 2;
	}
	const { port, data, allowGit, basePath, fieldNames, json, help } = read.command;
	if (help) {
		say(localUsage);
		return 0;
	}
	let services;
	try {
		const databaseUrl = env["DATABASE_URL"];
		services = await startLocal({
			port,
			dataDir: data,
			databaseUrl,
			allowGit,
			basePath,
			fieldNames,
			clock: systemClock,
			log: tell
		});
	} catch (error) {
		tell(`The services did not start: ${error instanceof Error ? error.message : String(error)}`);
		return 1;
	}
	const { url, apiKey, tenantId } = services;
	say(json ? JSON.stringify({
		url,
		api_key: apiKey,
		tenant_id: tenantId
	}) : banner(services, data));
	await leave;
	tell("Leaving: agents finish what they are at.");
	await services.close();
	return 0;
}
const banner = ({ url, apiKey, tenantId }, data) => [
	`The control service answers at ${url}`,
	`  X-Api-Key:   ${apiKey}`,
	`  X-Tenant-Id: ${tenantId}`,
	`  Everything is kept in ${data}. End it with Ctrl-C.`,
	"",
	`  curl -H "X-Api-Key: ${apiKey}" ${url}/v2/deployments`
].join("\n");
// src/control-service/local-program.ts
/** How long leaving may take (ms); what hangs then is left behind, and the next start finds it. */
const leaveWithin = 9500;
/** Within this (ms) a second signal is the echo of the first: a terminal sends it to us and to who started us. */
const echoWithin = 1e3;
/** Runs the services as this process until it is told to leave, and ends the process. `args` as `npm run local --` has them. */
async function beLocal(args) {
	const { promise: leave, resolve } = Promise.withResolvers();
	let asked;
	for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => {
		const now = performance.now();
		if (asked !== void 0 && now - asked > echoWithin) process.exit(1);
		if (asked !== void 0) return;
		asked = now;
		setTimeout(() => process.exit(1), leaveWithin).unref();
		resolve();
	});
	const code = await runLocal([...args], {
		env: process.env,
		say: (text) => process.stdout.write(`${text}\n`),
		tell: (text) => process.stderr.write(`${text}\n`),
		leave
	});
	process.exit(code);
}
export { beLocal };
