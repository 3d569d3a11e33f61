import { t as systemClock } from "./clock.js";
import { i as graphPlaces, n as openDatabase, r as runnableHere, s as isDatabaseUnavailable, t as migrate } from "./migrate.js";
import { C as DEFAULT_ASSISTANT_NAMESPACE, S as AssistantSearch, _ as ThreadSearch, a as Command, b as AssistantCount, c as RUN_STATUSES, d as RunCreate, f as Checkpoint, g as ThreadPatch, h as ThreadCreate, i as CANCEL_ACTIONS, m as ThreadCount, n as writeComment, o as DURABILITIES, r as writeEvent, s as ERROR_KEY, t as EVENT_STREAM_TYPE, u as RunBatch, w as PAGE, x as AssistantCreate } from "./write-event.js";
import { a as STREAM_MODES, r as METADATA_EVENT, t as ERROR_EVENT } from "./stream-event.js";
import { t as readGraphConfig } from "./read.js";
import { a as formatProblem } from "./parse.js";
import { t as didYouMean } from "./did-you-mean.js";
import { t as freeObject } from "./open-word.js";
import { findPackageJSON } from "node:module";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { existsSync, fstatSync, readFileSync } from "node:fs";
import * as z from "zod";
import { createHash, randomUUID, timingSafeEqual } from "node:crypto";
import { sql } from "kysely";
import { Hono } from "hono";
import { parseEnv } from "node:util";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { WRITES_IDX_MAP } from "@langchain/langgraph-checkpoint";
import { fileURLToPath, pathToFileURL } from "node:url";
import { register } from "tsx/esm/api";
import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
// src/agent-server/startup-error.ts
/**
* A start that failed for a reason a person can mend. `lines` are whole sentences, each with `file:line` where there
* is one; nothing in them was an environment variable's value.
*/
var StartupError = class extends Error {
	code;
	lines;
	constructor(code, lines, options) {
		super(lines.join("\n"), options);
		this.name = "StartupError";
		this.code = code;
		this.lines = lines;
	}
};
/** What the log of a failed start shows: the code in front of the first line, the other lines below it. */
function startupLines({ code, lines }) {
	const [first = "The server could not start.", ...rest] = lines;
	return [`error[${code}]: ${first}`, ...rest.map((line) => `  ${line}`)];
}
// src/agent-server/environment.ts
/** The variables that tell the process what to serve, and where. */
const Environment = z.object({
	LANDFALL_GRAPH_CONFIG: z.string({ error: "is missing" }).refine(isAbsolute, { error: "must be an absolute path" }),
	DATABASE_URI: z.string({ error: "is missing" }).regex(/^postgres(ql)?:\/\//, { error: "must begin with postgres://" }),
	HOST: z.string().min(1).default("127.0.0.1"),
	PORT: z.coerce.number({ error: "must be a port" }).int().min(0).max(65535).default(0),
	LANDFALL_AGENT_TOKEN: z.string().min(1).optional(),
	LANDFALL_REVISION_ID: z.string().optional(),
	LANDFALL_DEPLOYMENT_ID: z.string().optional(),
	LANDFALL_DRAIN_MS: z.coerce.number({ error: "must be a number of milliseconds" }).int().min(0).default(3e4),
	LANDFALL_MAX_RUNS: z.coerce.number({ error: "must be a whole number" }).int().min(1).default(100)
});
/** Variables that the agent's code has no business with: they open doors. */
const SECRET = ["LANDFALL_AGENT_TOKEN", "DATABASE_URI"];
/**
* Reads the process's environment, and takes the secrets of the server out of it before the agent's code is loaded.
*
* @throws StartupError that names every variable that is wrong, and never a value.
*/
function takeEnvironment(env) {
	const parsed = Environment.safeParse(env);
	if (!parsed.success) throw new StartupError("environment", parsed.error.issues.map((issue) => `The variable ${issue.path.join(".")} ${issue.message}.`));
	for (const name of SECRET) delete env[name];
	return parsed.data;
}
// src/agent-server/refusal.ts
/**
* A request that the server will not carry out: the caller's mistake, or a bad moment. Thrown where it is noticed and
* turned into an answer at the door, always in the one shape `{"detail": ...}`.
*/
var Refusal = class extends Error {
	status;
	detail;
	constructor(status, detail) {
		super(typeof detail === "string" ? detail : detail.map(({ loc, msg }) => `${loc.join(".")}: ${msg}`).join("; "));
		this.name = "Refusal";
		this.status = status;
		this.detail = detail;
	}
};
const missing = (what) => new Refusal(404, what);
/** One field of the body that can't be taken. */
const unacceptable = (field, msg) => new Refusal(422, [{
	loc: ["body", field],
	msg,
	type: "value_error"
}]);
// src/agent-server/assistants/assistant.ts
/** The id of a graph's default assistant: a uuid (version 5) of the graph's id. */
function defaultAssistantId(graphId) {
	const namespace = Buffer.from(DEFAULT_ASSISTANT_NAMESPACE.replaceAll("-", ""), "hex");
	const hash = createHash("sha1").update(namespace).update(graphId).digest().subarray(0, 16);
	hash[6] = (hash[6] ?? 0) & 15 | 80;
	hash[8] = (hash[8] ?? 0) & 63 | 128;
	const hex = hash.toString("hex");
	return [
		hex.slice(0, 8),
		hex.slice(8, 12),
		hex.slice(12, 16),
		hex.slice(16, 20),
		hex.slice(20)
	].join("-");
}
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const isUuid = (text) => UUID.test(text);
// src/agent-server/assistants/show.ts
/** An assistant as the API shows it (section "Assistant"); an empty `config` marks one that nobody configured. */
function showAssistant(assistant) {
	return {
		assistant_id: assistant.assistant_id,
		graph_id: assistant.graph_id,
		name: assistant.name,
		description: assistant.description,
		version: assistant.version,
		context: assistant.context,
		config: assistant.config,
		metadata: assistant.metadata,
		created_at: assistant.created_at.toISOString(),
		updated_at: assistant.updated_at.toISOString()
	};
}
// src/agent-server/graphs/context.ts
/**
* Holds a context to the graph's context schema.
*
* @param mayLack true where values may come later: an assistant's context is completed by each run's.
* @returns every value that breaks the schema, none where there is no schema.
*/
async function contextProblems(graph, context, { mayLack }) {
	if (graph["_validateContext"] === void 0) return [];
	try {
		await graph["_validateContext"](context);
		return [];
	} catch (error) {
		const issues = issuesOf(error);
		if (issues === void 0) throw error;
		return issues.flatMap((issue) => {
			if (mayLack && valueAt(context, issue.path) === void 0) return [];
			return [{
				loc: [
					"body",
					"context",
					...issue.path
				],
				msg: issue.message,
				type: issue.code
			}];
		});
	}
}
/** The issues of a schema library's error, of whichever version of it the agent has. */
function issuesOf(error) {
	const issues = typeof error === "object" && error !== null ? Reflect.get(error, "issues") : void 0;
	if (!Array.isArray(issues)) return void 0;
	return issues.map((issue) => {
		const path = Reflect.get(issue, "path");
		return {
			path: Array.isArray(path) ? path.map((part) => typeof part === "number" ? part : String(part)) : [],
			message: String(Reflect.get(issue, "message")),
			code: String(Reflect.get(issue, "code"))
		};
	});
}
function valueAt(value, path) {
	return path.reduce((inner, part) => typeof inner === "object" && inner !== null ? Reflect.get(inner, part) : void 0, value);
}
// src/agent-server/routes/body.ts
/**
* The body of a request, held to a schema of the contract. No body counts as `{}`, a null as if the field were
* absent.
*
* @param schema one that strips unknown fields: callers of public servers send some.
* @throws Refusal 400 for what is no JSON, 422 with every field that is wrong.
*/
async function readBody(c, schema) {
	const parsed = schema.safeParse(withoutNulls(await readJson$1(c)));
	if (!parsed.success) throw new Refusal(422, problemsOf(parsed.error, "body"));
	return parsed.data;
}
/** The largest body (bytes) that is read. */
const MOST_BYTES = 16777216;
async function readJson$1(c) {
	const text = await readText(c);
	if (text.trim() === "") return {};
	try {
		return JSON.parse(text);
	} catch (error) {
		if (error instanceof SyntaxError) throw new Refusal(400, "The body is not JSON.");
		throw error;
	}
}
/** A body that says its length is held to it by the server; one that does not is counted as it comes. */
async function readText(c) {
	const said = c.req.header("content-length");
	if (said !== void 0) {
		if (Number(said) > 16777216) throw tooLarge();
		return c.req.text();
	}
	const chunks = [];
	let bytes = 0;
	for await (const chunk of c.req.raw.body ?? []) {
		bytes += chunk.byteLength;
		if (bytes > 16777216) throw tooLarge();
		chunks.push(chunk);
	}
	return Buffer.concat(chunks).toString("utf8");
}
const tooLarge = () => new Refusal(413, `The body is larger than ${MOST_BYTES} bytes.`);
/** The query of a request, held to a schema. */
function readQuery(c, schema) {
	const parsed = schema.safeParse(c.req.query());
	if (!parsed.success) throw new Refusal(422, problemsOf(parsed.error, "query"));
	return parsed.data;
}
/** A uuid of the path, in small letters. */
function pathId(c, name) {
	const id = c.req.param(name) ?? "";
	if (!isUuid(id)) throw new Refusal(422, [{
		loc: ["path", name],
		msg: "must be a uuid",
		type: "uuid"
	}]);
	return id.toLowerCase();
}
/** `1`, `true`, and their opposites, as queries spell them. */
const flag = z.enum([
	"1",
	"0",
	"true",
	"false",
	""
]).optional().transform((word) => word === "1" || word === "true");
function withoutNulls(body) {
	if (typeof body !== "object" || body === null || Array.isArray(body)) return body;
	return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
}
const problemsOf = (error, where) => error.issues.flatMap(told$1).map((issue) => ({
	loc: [where, ...issue.path.map((part) => typeof part === "number" ? part : String(part))],
	msg: issue.message,
	type: issue.code
}));
/** Of a field that may have several forms: what is wrong within the form that was meant, where one was. */
function told$1(issue) {
	const within = issue.code === "invalid_union" && issue.errors.find((form) => form.every(({ path }) => path.length > 0));
	return within ? within.flatMap((inner) => told$1({
		...inner,
		path: [...issue.path, ...inner.path]
	})) : [issue];
}
// src/agent-server/routes/select.ts
/** Only the fields that a search asked for; all of them where it asked for none. */
function selected(item, fields) {
	if (fields === void 0 || fields.length === 0) return item;
	return Object.fromEntries(Object.entries(item).filter(([field]) => fields.includes(field)));
}
// src/agent-server/routes/assistants.ts
const assistantCreateBody = AssistantCreate.strip();
const assistantSearchBody = AssistantSearch.strip();
const assistantCountBody = AssistantCount.strip();
/** The group of assistants (section "Endpoints"). */
function assistantRoutes(assistants, graphs) {
	const routes = new Hono();
	routes.post("/", async (c) => {
		const request = await readBody(c, assistantCreateBody);
		if (!graphs.has(request.graph_id)) {
			const known = graphs.list().map(({ graphId }) => `"${graphId}"`);
			throw missing(`There is no graph "${request.graph_id}". This deployment has ${known.join(", ")}.`);
		}
		const problems = await contextProblems(await graphs.make(request.graph_id, { configurable: {} }, "thread"), request.context ?? {}, { mayLack: true });
		if (problems.length > 0) throw new Refusal(422, problems);
		const { kind, assistant } = await assistants.create(request, request.assistant_id?.toLowerCase() ?? randomUUID());
		if (kind === "there" && request.if_exists !== "do_nothing") throw new Refusal(409, `Assistant ${assistant.assistant_id} exists already.`);
		return c.json(showAssistant(assistant));
	});
	routes.post("/search", async (c) => {
		const request = await readBody(c, assistantSearchBody);
		const found = await assistants.search(request);
		c.header("x-pagination-total", String(found.total));
		return c.json(found.assistants.map((assistant) => selected(showAssistant(assistant), request.select)));
	});
	routes.post("/count", async (c) => c.json(await assistants.count(await readBody(c, assistantCountBody))));
	routes.get("/:assistant_id", async (c) => {
		const id = c.req.param("assistant_id");
		const assistant = await assistants.get(id);
		if (!assistant) throw missing(`Assistant "${id}" does not exist.`);
		return c.json(showAssistant(assistant));
	});
	routes.delete("/:assistant_id", async (c) => {
		const id = c.req.param("assistant_id");
		const assistant = await assistants.get(id);
		if (!assistant) throw missing(`Assistant "${id}" does not exist.`);
		if (!isUuid(id) || assistant.metadata["created_by"] === "system") throw new Refusal(409, `Assistant "${id}" is the default one of graph "${assistant.graph_id}" and stays as long as the graph.`);
		await assistants.delete(assistant.assistant_id);
		return c.body(null, 204);
	});
	return routes;
}
const digest = (text) => createHash("sha256").update(text).digest();
/** Lets a request pass that shows the token; all of them where the server has none. How long it takes tells nothing. */
function guard(token) {
	if (token === void 0) return (_, next) => next();
	const expected = digest(token);
	return async (c, next) => {
		if (!timingSafeEqual(digest(c.req.header("x-landfall-agent-token") ?? ""), expected)) throw new Refusal(403, "This agent answers through its deployment only.");
		await next();
	};
}
// src/agent-server/runs/run-row.ts
/** A run as the API shows it (section "Run", `run_started_at` and the like from the webhook's table). */
function showRun(run) {
	return {
		run_id: run.run_id,
		thread_id: run.thread_id,
		assistant_id: run.assistant_id,
		created_at: run.created_at.toISOString(),
		updated_at: run.updated_at.toISOString(),
		...run.started_at === null ? {} : { run_started_at: run.started_at.toISOString() },
		...run.ended_at === null ? {} : { run_ended_at: run.ended_at.toISOString() },
		status: run.status,
		metadata: run.metadata,
		kwargs: run.kwargs,
		multitask_strategy: run.multitask_strategy
	};
}
/** A run that was just accepted and has not begun, as the API shows it. */
function showAccepted(plan) {
	const accepted = new Date(plan.acceptedAt).toISOString();
	return {
		run_id: plan.runId,
		thread_id: plan.threadId,
		assistant_id: plan.assistantId,
		created_at: accepted,
		updated_at: accepted,
		status: "pending",
		metadata: plan.metadata,
		kwargs: plan.kwargs,
		multitask_strategy: plan.multitaskStrategy
	};
}
// src/agent-server/routes/event-stream.ts
/** How long (ms) a stream may say nothing before it shows that it lives. */
const HEARTBEAT_MS = 5e3;
const encoder$1 = new TextEncoder();
/** The events of a run as a response. It ends with the run's last event, at once. */
function eventStream(events, { clock, onGone, afterId, modes, headers }) {
	const done = new AbortController();
	let unfollow = () => void 0;
	const body = new ReadableStream({
		start: (controller) => {
			let quiet = true;
			const say = (text) => {
				quiet = false;
				controller.enqueue(encoder$1.encode(text));
				if ((controller.desiredSize ?? 0) >= -16777216) return;
				unfollow();
				done.abort();
				controller.error(/* @__PURE__ */ new Error("The caller reads too slowly."));
				onGone();
			};
			unfollow = events.follow((logged) => {
				if (done.signal.aborted) return;
				if (logged === void 0) {
					done.abort();
					controller.close();
				} else if (isAsked(logged.event, modes)) {
					const id = logged.id === void 0 ? {} : { id: String(logged.id) };
					say(writeEvent({
						...id,
						event: logged.event,
						data: logged.json
					}));
				}
			}, afterId);
			beat(clock, done.signal, () => {
				if (quiet) say(writeComment("heartbeat"));
				quiet = true;
			});
		},
		cancel: () => {
			unfollow();
			done.abort();
			onGone();
		}
	}, new ByteLengthQueuingStrategy({ highWaterMark: 65536 }));
	return new Response(body, { headers: {
		...headers,
		"content-type": EVENT_STREAM_TYPE,
		"cache-control": "no-cache",
		"x-accel-buffering": "no"
	} });
}
/** Calls back again and again until the signal aborts. */
async function beat(clock, signal, onBeat, everyMs = HEARTBEAT_MS) {
	for (;;) {
		if (!await clock.sleep(everyMs, signal).then(() => true, () => false) || signal.aborted) return;
		onBeat();
	}
}
/** The events that are of no mode, the first and an error, always go out. */
function isAsked(event, modes) {
	if (modes === void 0 || event === "metadata" || event === "error") return true;
	const mode = event.split("|")[0]?.split("/")[0] ?? "";
	return modes.includes(mode) || mode === "messages" && modes.includes("messages-tuple");
}
// src/agent-server/routes/late-answer.ts
/** How long (ms) an answer may take before the connection is kept alive by newlines. */
const PATIENCE_MS = 1e3;
const encoder = new TextEncoder();
/**
* JSON that may take long. What comes soon is a plain answer; else the answer begins at once, and newlines keep the
* connection alive until the JSON is there. A reader trims them: JSON may begin with white space.
*/
async function lateAnswer(json, { clock, onGone, headers }) {
	const all = {
		...headers,
		"content-type": "application/json"
	};
	const waited = new AbortController();
	const soon = await Promise.race([json, clock.sleep(PATIENCE_MS, waited.signal)]);
	waited.abort();
	if (typeof soon === "string") return new Response(soon, { headers: all });
	const done = new AbortController();
	const body = new ReadableStream({
		start: (controller) => {
			const newline = () => controller.enqueue(encoder.encode("\n"));
			newline();
			beat(clock, done.signal, newline);
			const finish = (text) => {
				if (done.signal.aborted) return;
				done.abort();
				controller.enqueue(encoder.encode(text));
				controller.close();
			};
			json.then(finish, (error) => {
				done.abort();
				controller.error(error);
			});
		},
		cancel: () => {
			done.abort();
			onGone();
		}
	});
	return new Response(body, { headers: all });
}
// src/agent-server/routes/runs.ts
const runBody = RunCreate.strip();
const batchBody = RunBatch.element.strip().array().min(1);
/** The ways to start a run, on a thread or stateless (section "Endpoints"). */
function startRoutes(runs, clock, threadOf) {
	const routes = new Hono();
	const start = async (c, carried) => {
		const request = await readBody(c, runBody);
		mustBeOffered(request);
		return runs.start(request, threadOf(c), carried);
	};
	routes.post("/", async (c) => {
		const { plan } = await start(c, "background");
		return c.json(showAccepted(plan), 200, whereIs(plan));
	});
	routes.post("/stream", async (c) => {
		const { plan, events, onGone } = following(await start(c, "stream"));
		return eventStream(events, {
			clock,
			onGone,
			headers: whereIs(plan)
		});
	});
	routes.post("/wait", async (c) => {
		const { plan, ended, onGone } = following(await start(c, "wait"));
		return lateAnswer(ended, {
			clock,
			onGone,
			headers: whereIs(plan)
		});
	});
	return routes;
}
/** `POST /runs/batch`: one stateless background run an item. */
function batchRoutes(runs) {
	const routes = new Hono();
	routes.post("/batch", async (c) => {
		const requests = await readBody(c, batchBody);
		requests.forEach(mustBeOffered);
		const accepted = [];
		for (const request of requests) accepted.push(showAccepted((await runs.start(request, void 0, "background")).plan));
		return c.json(accepted);
	});
	return routes;
}
/** An execution, and what it means for it when the caller who started it goes. */
function following(execution) {
	const { plan, events, ended } = execution;
	const onGone = () => {
		if (!plan.detached) execution.stop("caller-gone");
	};
	return {
		plan,
		events,
		ended,
		onGone
	};
}
/** Where the run is, for a caller who wants to join it later. */
const whereIs = ({ threadId, runId }) => ({ "content-location": `/threads/${threadId}/runs/${runId}` });
/** A field that would be without effect is refused rather than passed over. */
function mustBeOffered(request) {
	if (request.webhook !== void 0) throw unacceptable("webhook", "this server sends no webhooks");
}
// src/agent-server/routes/system.ts
/** `GET /ok` and `GET /info`. */
function systemRoutes(info, checkDatabase) {
	const routes = new Hono();
	routes.get("/ok", async (c) => {
		if (c.req.query("check_db") === "1" || c.req.query("check_db") === "true") await checkDatabase();
		return c.json({ ok: true });
	});
	routes.get("/info", (c) => c.json(info));
	return routes;
}
// src/agent-server/runs/event-log.ts
/** What a log may keep of a run's events, in characters. */
const MOST_KEPT = 16777216;
/**
* What happens in one run, told to whoever follows. Followers hear events as they happen, and before them what is kept
* for them: everything of a resumable run, else what happened before the caller who asked for the stream could listen.
* The first event, which names the run, is told to everyone.
*/
var EventLog = class {
	#followers = /* @__PURE__ */ new Set();
	#keeping;
	#first;
	#kept = [];
	#keptSize = 0;
	#next = 0;
	#closed = false;
	constructor(keeping) {
		this.#keeping = keeping;
	}
	add(event, json) {
		const logged = {
			id: this.#keeping === "all" ? this.#next++ : void 0,
			event,
			json
		};
		if (this.#first === void 0) this.#first = logged;
		else if (this.#keeping === "all" || this.#keeping === "until-followed" && this.#followers.size === 0) this.#keep(logged);
		for (const follower of this.#followers) follower(logged);
	}
	/** No event comes after this. */
	close() {
		this.#closed = true;
		for (const follower of this.#followers) follower(void 0);
		this.#followers.clear();
	}
	/**
	* Follows the events: what is kept, of a resumable run only from the one after `afterId`, then what happens.
	*
	* @returns stops following.
	*/
	follow(follower, afterId = -1) {
		const missed = [...this.#first ? [this.#first] : [], ...this.#kept];
		for (const event of missed) if (event.id === void 0 || event.id > afterId) follower(event);
		if (this.#keeping === "until-followed") this.#kept = [];
		if (this.#closed) follower(void 0);
		else this.#followers.add(follower);
		return () => void this.#followers.delete(follower);
	}
	#keep(event) {
		this.#kept.push(event);
		this.#keptSize += event.json.length;
		while (this.#keptSize > MOST_KEPT) this.#keptSize -= this.#kept.shift()?.json.length ?? 0;
	}
};
// src/agent-server/wire.ts
/**
* A value of the engine as JSON, the way the API shows it: a message is a flat object with its `type`, not the form in
* which the engine stores it. What JSON can't hold becomes null (undefined) or text (bigint).
*/
function toWire(value) {
	const quick = quickly(value);
	if (quick !== void 0 && !quick.includes("\"lc\":")) return quick;
	return JSON.stringify(value, flatten) ?? "null";
}
/** The plain JSON; undefined where a value needs the walk. */
function quickly(value) {
	try {
		return JSON.stringify(value) ?? "null";
	} catch (error) {
		if (error instanceof TypeError) return void 0;
		throw error;
	}
}
function flatten(key, value) {
	const raw = typeof this === "object" && this !== null ? Reflect.get(this, key) : value;
	if (isMessage(raw)) {
		const { type, data } = raw.toDict();
		return {
			...data,
			type
		};
	}
	return typeof value === "bigint" ? String(value) : value;
}
/** A message of the engine, of whichever class. */
const isMessage = (value) => typeof value === "object" && value !== null && typeof Reflect.get(value, "toDict") === "function";
// src/agent-server/routes/thread-runs.ts
/** How often (ms) a run that another process carries out is looked at, for somebody who waits for it. */
const LOOK_MS = 200;
const CancelQuery = z.looseObject({
	wait: flag,
	action: z.enum(CANCEL_ACTIONS).default("interrupt")
});
const FollowQuery = z.looseObject({
	cancel_on_disconnect: flag,
	stream_mode: z.string().optional()
});
const ListQuery = z.looseObject({
	limit: z.coerce.number().int().min(PAGE.minLimit).max(PAGE.maxLimit).optional(),
	offset: z.coerce.number().int().min(0).optional(),
	status: z.enum(RUN_STATUSES).optional()
});
const isUnfinished = ({ status }) => status === "pending" || status === "running";
/** Looking at runs that there are: on a thread, or on the thread made for a stateless one. */
function threadRunRoutes({ runs, store, threads, clock }) {
	const routes = new Hono();
	const theRun = async (c) => {
		const [threadId, runId] = [pathId(c, "thread_id"), pathId(c, "run_id")];
		const run = await store.get(threadId, runId);
		if (!run) throw missing(`Run ${runId} does not exist on thread ${threadId}.`);
		return run;
	};
	/** Waits until a run has ended, wherever it is carried out; resolves with what a caller who waited is answered. */
	const ended = async (run) => {
		const execution = runs.find(run.run_id);
		if (execution) return execution.ended;
		let seen = run;
		while (seen !== void 0 && isUnfinished(seen)) {
			await clock.sleep(LOOK_MS);
			seen = await store.get(run.thread_id, run.run_id);
		}
		if (seen?.error) return JSON.stringify({ [ERROR_KEY]: seen.error });
		return toWire((await threads.get(run.thread_id))?.values ?? null);
	};
	/** What can be told of a run that nobody here carries out: which one it is, and when it has ended. */
	const eventsElsewhere = (run) => {
		const events = new EventLog("none");
		if (isUnfinished(run)) {
			events.add(METADATA_EVENT, JSON.stringify({
				run_id: run.run_id,
				attempt: run.attempt
			}));
			const close = () => events.close();
			ended(run).then(close, close);
		} else events.close();
		return events;
	};
	routes.get("/:thread_id/runs", async (c) => {
		const threadId = pathId(c, "thread_id");
		const query = readQuery(c, ListQuery);
		if (!await threads.get(threadId)) throw missing(`Thread ${threadId} does not exist.`);
		return c.json((await store.list(threadId, query)).map(showRun));
	});
	routes.get("/:thread_id/runs/:run_id", async (c) => c.json(showRun(await theRun(c))));
	routes.delete("/:thread_id/runs/:run_id", async (c) => {
		const run = await theRun(c);
		if (!await store.delete(run.run_id)) throw new Refusal(409, `Run ${run.run_id} has not ended. Cancel it first.`);
		return c.body(null, 204);
	});
	routes.get("/:thread_id/runs/:run_id/join", async (c) => {
		const { cancel_on_disconnect } = readQuery(c, FollowQuery);
		const run = await theRun(c);
		const onGone = () => void (cancel_on_disconnect && runs.find(run.run_id)?.stop("caller-gone"));
		return lateAnswer(ended(run), {
			clock,
			onGone,
			headers: {}
		});
	});
	routes.get("/:thread_id/runs/:run_id/stream", async (c) => {
		const { cancel_on_disconnect, stream_mode } = readQuery(c, FollowQuery);
		const run = await theRun(c);
		const execution = runs.find(run.run_id);
		const last = Number.parseInt(c.req.header("last-event-id") ?? "", 10);
		const onGone = () => void (cancel_on_disconnect && execution?.stop("caller-gone"));
		return eventStream(execution?.events ?? eventsElsewhere(run), {
			clock,
			onGone,
			headers: {},
			afterId: Number.isNaN(last) ? void 0 : last,
			modes: stream_mode?.split(",")
		});
	});
	routes.post("/:thread_id/runs/:run_id/cancel", async (c) => {
		const { wait, action } = readQuery(c, CancelQuery);
		const run = await theRun(c);
		if (!isUnfinished(run)) throw new Refusal(409, `Run ${run.run_id} has ended already, with the status ${run.status}.`);
		const end = ended(run);
		await runs.cancel(run, action);
		if (wait) await end;
		return c.body(null, wait ? 204 : 202);
	});
	return routes;
}
// src/agent-server/runs/debug-payload.ts
/**
* The engine's checkpoints as the API shows them: spelled its way, and without what is the engine's own business
* (callbacks, and keys that begin with two underscores).
*/
function showCheckpoint(payload) {
	if (!isObject$2(payload)) return payload;
	const { config, parentConfig, tasks, ...rest } = payload;
	return {
		...rest,
		config: showConfig(config),
		tasks: Array.isArray(tasks) ? tasks.map(showTask) : tasks,
		checkpoint: checkpointOf(config) ?? null,
		parent_config: showConfig(parentConfig),
		parent_checkpoint: checkpointOf(parentConfig) ?? null
	};
}
/** Data of a `debug` event; only those about checkpoints need another spelling. */
function showDebug(data) {
	return isObject$2(data) && data["type"] === "checkpoint" ? {
		...data,
		payload: showCheckpoint(data["payload"])
	} : data;
}
/** A task of a state; the engine names a subgraph's state by its configuration. */
function showTask(task) {
	if (!isObject$2(task)) return task;
	const { state, error, ...rest } = task;
	const named = isObject$2(state) && "configurable" in state && !("values" in state);
	return {
		...rest,
		error: error instanceof Error ? error.message : error ?? null,
		checkpoint: named ? checkpointOf(state) : null,
		state: named ? null : state ?? null
	};
}
/** Where a configuration points: a thread, a namespace, a checkpoint. */
function checkpointOf(config) {
	const configurable = isObject$2(config) ? config["configurable"] : void 0;
	if (!isObject$2(configurable)) return void 0;
	return {
		thread_id: configurable["thread_id"],
		checkpoint_ns: configurable["checkpoint_ns"] ?? "",
		checkpoint_id: configurable["checkpoint_id"] ?? null,
		checkpoint_map: configurable["checkpoint_map"] ?? null
	};
}
function showConfig(config) {
	if (!isObject$2(config)) return void 0;
	const { callbacks: _, configurable, ...rest } = config;
	return {
		...rest,
		configurable: isObject$2(configurable) ? withoutOwn(configurable) : {}
	};
}
const withoutOwn = (configurable) => Object.fromEntries(Object.entries(configurable).filter(([key]) => !key.startsWith("__")));
const isObject$2 = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
// src/agent-server/threads/state.ts
/** A state as the API shows it (`GET /threads/{thread_id}/state`). */
function showState(snapshot) {
	const tasks = snapshot.tasks.map(showTask);
	return {
		values: snapshot.values,
		next: snapshot.next,
		tasks,
		metadata: snapshot.metadata ?? {},
		created_at: snapshot.createdAt ?? null,
		checkpoint: checkpointOf(snapshot.config) ?? null,
		parent_checkpoint: checkpointOf(snapshot.parentConfig) ?? null,
		interrupts: snapshot.tasks.flatMap(interruptsOf$1)
	};
}
/** The state of a thread on which nothing ran yet. */
function emptyState(threadId) {
	return showState({
		values: {},
		next: [],
		tasks: [],
		config: { configurable: { thread_id: threadId } }
	});
}
function interruptsOf$1(task) {
	const interrupts = typeof task === "object" && task !== null ? Reflect.get(task, "interrupts") : void 0;
	return Array.isArray(interrupts) ? interrupts : [];
}
// src/agent-server/storage/storable.ts
/**
* JSON for a `jsonb` column, which can't hold the character NUL: it is left out. A backslash before the escape makes
* it plain text, so only an odd number of backslashes counts.
*/
function storable(value) {
	const text = JSON.stringify(value);
	return text.includes("\\u0000") ? text.replace(/(?<!\\)((?:\\\\)*)\\u0000/g, "$1") : text;
}
// src/agent-server/threads/store.ts
/** A thread as the API shows it (section "Thread"). */
function showThread(thread) {
	return {
		thread_id: thread.thread_id,
		created_at: thread.created_at.toISOString(),
		updated_at: thread.updated_at.toISOString(),
		metadata: thread.metadata,
		status: thread.status,
		config: thread.config,
		values: isState(thread.values) ? thread.values : null,
		interrupts: thread.interrupts
	};
}
/** The threads of a deployment, in its database. */
var ThreadStore = class {
	#storage;
	#clock;
	constructor(storage, clock) {
		this.#storage = storage;
		this.#clock = clock;
	}
	/** Makes a thread; one that is there already is left as it is. */
	async create(threadId, metadata) {
		const now = new Date(this.#clock.now());
		const made = await this.#storage.db.insertInto("threads").values({
			thread_id: threadId,
			status: "idle",
			metadata: storable(metadata),
			config: "{}",
			interrupts: "{}",
			created_at: now,
			updated_at: now
		}).onConflict((on) => on.column("thread_id").doNothing()).returningAll().executeTakeFirst();
		if (made) return {
			kind: "made",
			thread: made
		};
		const there = await this.get(threadId);
		return there ? {
			kind: "there",
			thread: there
		} : this.create(threadId, metadata);
	}
	async get(threadId) {
		return this.#storage.db.selectFrom("threads").selectAll().where("thread_id", "=", threadId).executeTakeFirst();
	}
	/** Adds to a thread's metadata, key by key. */
	async patch(threadId, metadata) {
		return this.#storage.db.updateTable("threads").set({
			metadata: sql`metadata || ${storable(metadata)}::jsonb`,
			updated_at: new Date(this.#clock.now())
		}).where("thread_id", "=", threadId).returningAll().executeTakeFirst();
	}
	/** One page of those that match, and how many match in all. Newest first where the request says no order. */
	async search(request) {
		const query = matching$1(this.#storage.db.selectFrom("threads").selectAll(), request).orderBy(request.sort_by ?? "created_at", request.sort_order ?? "desc").orderBy("thread_id").limit(request.limit ?? PAGE.defaultLimit).offset(request.offset ?? 0);
		const [threads, total] = await Promise.all([query.execute(), this.count(request)]);
		return {
			threads,
			total
		};
	}
	async count(request) {
		const query = this.#storage.db.selectFrom("threads").select(sql`count(*)`.as("count"));
		return Number((await matching$1(query, request).executeTakeFirstOrThrow()).count);
	}
	/** Deletes a thread with its runs and everything they left; false where there is none. */
	async delete(threadId) {
		return this.#storage.db.transaction().execute(async (tx) => {
			await tx.deleteFrom("runs").where("thread_id", "=", threadId).execute();
			for (const table of [
				"checkpoint_writes",
				"checkpoint_blobs",
				"checkpoints"
			]) await sql`delete from ${sql.table(table)} where thread_id = ${threadId}`.execute(tx);
			return (await tx.deleteFrom("threads").where("thread_id", "=", threadId).executeTakeFirstOrThrow()).numDeletedRows > 0n;
		});
	}
};
function matching$1(query, { ids, metadata, values, status }) {
	let narrowed = query;
	if (ids !== void 0) narrowed = narrowed.where(sql`thread_id = any(${ids}::uuid[])`);
	if (metadata !== void 0) narrowed = narrowed.where(sql`metadata @> ${storable(metadata)}::jsonb`);
	if (status !== void 0) narrowed = narrowed.where("status", "=", status);
	if (values !== void 0) narrowed = narrowed.where(sql`case when strpos("values"::text, '\\u0000') = 0 then "values"::jsonb @> ${storable(values)}::jsonb else false end`);
	return narrowed;
}
const isState = (values) => typeof values === "object" && values !== null;
// src/agent-server/routes/threads.ts
const StateQuery = z.looseObject({ subgraphs: flag });
const threadSearchBody = ThreadSearch.strip();
const threadCountBody = ThreadCount.strip();
const threadPatchBody = ThreadPatch.strip();
const threadCreateBody = ThreadCreate.extend({ supersteps: z.unknown().optional() }).strip();
/** The group of threads (section "Endpoints"). */
function threadRoutes(threads, runs, graphs) {
	const routes = new Hono();
	const theThread = async (c) => {
		const id = pathId(c, "thread_id");
		const thread = await threads.get(id);
		if (!thread) throw missing(`Thread ${id} does not exist.`);
		return thread;
	};
	routes.post("/", async (c) => {
		const request = await readBody(c, threadCreateBody);
		if (request.ttl !== void 0) throw unacceptable("ttl", "this server keeps threads until they are deleted");
		if (request.supersteps !== void 0) throw unacceptable("supersteps", "this server fills threads by runs only");
		const { kind, thread } = await threads.create(request.thread_id?.toLowerCase() ?? randomUUID(), request.metadata ?? {});
		if (kind === "there" && request.if_exists !== "do_nothing") throw new Refusal(409, `Thread ${thread.thread_id} exists already.`);
		return c.json(showThread(thread));
	});
	routes.post("/search", async (c) => {
		const request = await readBody(c, threadSearchBody);
		const found = await threads.search(request);
		c.header("x-pagination-total", String(found.total));
		return c.json(found.threads.map((thread) => selected(showThread(thread), request.select)));
	});
	routes.post("/count", async (c) => c.json(await threads.count(await readBody(c, threadCountBody))));
	routes.get("/:thread_id", async (c) => c.json(showThread(await theThread(c))));
	routes.patch("/:thread_id", async (c) => {
		const request = await readBody(c, threadPatchBody);
		if (request.ttl !== void 0) throw unacceptable("ttl", "this server keeps threads until they are deleted");
		const { thread_id } = await theThread(c);
		const patched = await threads.patch(thread_id, request.metadata ?? {});
		if (!patched) throw missing(`Thread ${thread_id} does not exist.`);
		return c.json(showThread(patched));
	});
	routes.delete("/:thread_id", async (c) => {
		const { thread_id } = await theThread(c);
		await runs.cancelThread(thread_id);
		await threads.delete(thread_id);
		return c.body(null, 204);
	});
	routes.get("/:thread_id/state", async (c) => {
		const { subgraphs } = readQuery(c, StateQuery);
		const thread = await theThread(c);
		const graphId = thread.metadata["graph_id"];
		if (typeof graphId !== "string" || !graphs.has(graphId)) return json(emptyState(thread.thread_id));
		const snapshot = await (await graphs.make(graphId, { configurable: {} }, "thread")).getState({ configurable: { thread_id: thread.thread_id } }, { subgraphs });
		return json(showState(snapshot));
	});
	return routes;
}
const json = (value) => new Response(toWire(value), { headers: { "content-type": "application/json" } });
// src/agent-server/app.ts
/** The endpoints, from a request to a response. */
function createApp(parts) {
	const { assistants, threads, runStore, runs, graphs, clock } = parts;
	const app = new Hono();
	app.use(guard(parts.token));
	app.route("/", systemRoutes(parts.info, parts.checkDatabase));
	app.route("/assistants", assistantRoutes(assistants, graphs));
	app.route("/threads", threadRoutes(threads, runs, graphs));
	app.route("/threads", threadRunRoutes({
		runs,
		store: runStore,
		threads,
		clock
	}));
	app.route("/threads/:thread_id/runs", startRoutes(runs, clock, (c) => pathId(c, "thread_id")));
	app.route("/runs", startRoutes(runs, clock, () => void 0));
	app.route("/runs", batchRoutes(runs));
	app.notFound((c) => c.json({ detail: `There is no ${c.req.method} ${c.req.path} here.` }, 404));
	app.onError((error, c) => answerError(error, c, parts.log));
	return app;
}
/** Every error in the one shape `{"detail": ...}`. What is a mistake of ours is told to the log and not to the caller. */
function answerError(error, c, log) {
	if (error instanceof Refusal) return c.json({ detail: error.detail }, error.status);
	if (isDatabaseUnavailable(error)) return c.json({ detail: "The database can't be reached at the moment. Ask again." }, 503, { "retry-after": "1" });
	log(`${c.req.method} ${c.req.path} failed: ${error.stack ?? String(error)}`);
	return c.json({ detail: "The server failed. Its log says more." }, 500);
}
// src/agent-server/assistants/store.ts
const DEFAULT_NAME = "Untitled";
/** The assistants of a deployment, in its database. */
var AssistantStore = class {
	#storage;
	#clock;
	constructor(storage, clock) {
		this.#storage = storage;
		this.#clock = clock;
	}
	/** Makes sure of the default assistant of every graph of this revision. */
	async ensureDefaults(graphs) {
		for (const { graphId, description } of graphs) await this.create({
			graph_id: graphId,
			name: graphId,
			description: description ?? null,
			metadata: { created_by: "system" }
		}, defaultAssistantId(graphId));
	}
	/** Makes an assistant with its first version; one that is there already is left as it is. */
	async create(request, assistantId) {
		const now = new Date(this.#clock.now());
		const values = {
			assistant_id: assistantId,
			version: 1,
			graph_id: request.graph_id,
			name: request.name ?? DEFAULT_NAME,
			description: request.description ?? null,
			context: JSON.stringify(request.context ?? {}),
			config: JSON.stringify(request.config ?? {}),
			metadata: storable(request.metadata ?? {}),
			created_at: now
		};
		const made = await this.#storage.db.transaction().execute(async (tx) => {
			const row = await tx.insertInto("assistants").values({
				...values,
				updated_at: now
			}).onConflict((on) => on.column("assistant_id").doNothing()).returningAll().executeTakeFirst();
			if (row) await tx.insertInto("assistant_versions").values(values).execute();
			return row;
		});
		if (made) return {
			kind: "made",
			assistant: made
		};
		const there = await this.get(assistantId);
		return there ? {
			kind: "there",
			assistant: there
		} : this.create(request, assistantId);
	}
	/** By uuid, or the default assistant of a graph by the graph's id. */
	async get(idOrGraph) {
		const { rows } = await this.#storage.pool.query({
			name: "get-assistant",
			text: "select * from assistants where assistant_id = $1",
			values: [isUuid(idOrGraph) ? idOrGraph : defaultAssistantId(idOrGraph)]
		});
		return rows[0];
	}
	/** One page of those that match, and how many match in all. Newest first where the request says no order. */
	async search(request) {
		const order = request.sort_by ?? "created_at";
		const query = matching(this.#storage.db.selectFrom("assistants").selectAll(), request).orderBy(order, request.sort_order ?? "desc").orderBy("assistant_id").limit(request.limit ?? PAGE.defaultLimit).offset(request.offset ?? 0);
		const [assistants, total] = await Promise.all([query.execute(), this.count(request)]);
		return {
			assistants,
			total
		};
	}
	async count(request) {
		const query = this.#storage.db.selectFrom("assistants").select(sql`count(*)`.as("count"));
		return Number((await matching(query, request).executeTakeFirstOrThrow()).count);
	}
	/** Deletes an assistant with all its versions; false where there is none. */
	async delete(assistantId) {
		return (await this.#storage.db.deleteFrom("assistants").where("assistant_id", "=", assistantId).executeTakeFirstOrThrow()).numDeletedRows > 0n;
	}
};
function matching(query, { metadata, graph_id, name }) {
	let narrowed = query;
	if (metadata !== void 0) narrowed = narrowed.where(sql`metadata @> ${storable(metadata)}::jsonb`);
	if (graph_id !== void 0) narrowed = narrowed.where("graph_id", "=", graph_id);
	if (name !== void 0) narrowed = narrowed.where(sql`strpos(lower(name), lower(${name})) > 0`);
	return narrowed;
}
// src/agent-server/configuration.ts
/**
* Reads the graph configuration file, and the file of variables that it may name.
*
* @param configPath absolute path.
* @throws StartupError with every problem and its line, or when the file names a graph that this machine can't run.
*/
function readConfiguration(configPath, log) {
	const name = basename(configPath);
	const text = readIfThere(configPath);
	if (text === void 0) throw new StartupError("config-missing", [`There is no graph configuration file ${configPath}. Check graph_config_path: it is relative to the root of the repository.`]);
	const read = readGraphConfig(text, name);
	if (!read.ok) throw new StartupError("config-invalid", read.problems.map(formatProblem));
	for (const warning of read.warnings) log(`warning: ${formatProblem(warning)}`);
	const places = graphPlaces(read.value);
	const runnable = runnableHere(places);
	if (runnable.kind === "refused") {
		const { line, column } = read.placeOf(["graphs", runnable.graphId]);
		throw new StartupError("graph-language", [`${name}:${line}:${column}: ${runnable.reason}`]);
	}
	return {
		places,
		env: variables(read.value.env, dirname(configPath), log)
	};
}
function variables(env, folder, log) {
	if (env === void 0) return {};
	if (typeof env !== "string") return env;
	const text = readIfThere(resolve(folder, env));
	if (text === void 0) {
		log(`warning: the file of variables ${env} is not there; the deployment's secrets are used alone.`);
		return {};
	}
	const found = {};
	for (const [name, value] of Object.entries(parseEnv(text))) if (value !== void 0) found[name] = value;
	return found;
}
function readIfThere(path) {
	try {
		return readFileSync(path, "utf8");
	} catch (error) {
		if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "EISDIR")) return void 0;
		throw error;
	}
}
// src/agent-server/graphs/checkpoints.ts
/** Arrays of bytes travel as text, twice their size: what is larger (bytes) goes the library's way, value by value. */
const MOST_BYTES_AT_ONCE = 262144;
/** What a checkpoint remembers of the run that wrote it, so that the run can be gone on with, or undone. */
const RUN_KEYS = [
	"run_id",
	"graph_id",
	"assistant_id"
];
const PUT = `
  with blobs as (
    insert into checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type, blob)
    select $1, $2, b.channel, b.version, b.type, b.blob
    from unnest($3::text[], $4::text[], $5::text[], $6::bytea[]) as b (channel, version, type, blob)
    on conflict (thread_id, checkpoint_ns, channel, version) do nothing
  )
  insert into checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, checkpoint, metadata)
  values ($1, $2, $7, $8, $9, $10)
  on conflict (thread_id, checkpoint_ns, checkpoint_id)
  do update set checkpoint = excluded.checkpoint, metadata = excluded.metadata`;
const putWrites = (onConflict) => `
  insert into checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob)
  select $1, $2, $3, $4, w.idx, w.channel, w.type, w.blob
  from unnest($5::int[], $6::text[], $7::text[], $8::bytea[]) as w (idx, channel, type, blob)
  on conflict (thread_id, checkpoint_ns, checkpoint_id, task_id, idx) ${onConflict}`;
const INSERT_WRITES = putWrites("do nothing");
const UPSERT_WRITES = putWrites("do update set channel = excluded.channel, type = excluded.type, blob = excluded.blob");
/**
* The library's checkpoints in Postgres, in its own tables, with each write as one prepared statement instead of a
* transaction of many: with two connections an agent, every round trip counts. Every checkpoint names its run.
*/
var Checkpoints = class extends PostgresSaver {
	#pool;
	constructor(pool, serializer) {
		super(pool, serializer);
		this.#pool = pool;
	}
	async put(config, checkpoint, metadata, newVersions) {
		const { thread_id, checkpoint_ns = "", checkpoint_id } = config.configurable ?? {};
		const named = {
			...runOf(config),
			...metadata
		};
		const [blobs, storedMetadata] = await Promise.all([this["_dumpBlobs"](thread_id, checkpoint_ns, checkpoint.channel_values, newVersions), this["_dumpMetadata"](named)]);
		if (bytesOf(blobs.map((blob) => blob[5])) > MOST_BYTES_AT_ONCE) return super.put(config, checkpoint, named, newVersions);
		await this.#pool.query({
			name: "put-checkpoint",
			text: PUT,
			values: [
				thread_id,
				checkpoint_ns,
				blobs.map((blob) => blob[2]),
				blobs.map((blob) => blob[3]),
				blobs.map((blob) => blob[4]),
				blobs.map((blob) => blob[5] === void 0 ? null : Buffer.from(blob[5])),
				checkpoint.id,
				checkpoint_id,
				this["_dumpCheckpoint"](checkpoint),
				storedMetadata
			]
		});
		return { configurable: {
			thread_id,
			checkpoint_ns,
			checkpoint_id: checkpoint.id
		} };
	}
	async putWrites(config, writes, taskId) {
		const { thread_id, checkpoint_ns = "", checkpoint_id } = config.configurable ?? {};
		const dumped = await this["_dumpWrites"](thread_id, checkpoint_ns, checkpoint_id, taskId, writes);
		if (bytesOf(dumped.map((write) => write[7])) > MOST_BYTES_AT_ONCE) return super.putWrites(config, writes, taskId);
		const everyOneHasItsPlace = writes.every(([channel]) => channel in WRITES_IDX_MAP);
		await this.#pool.query({
			name: everyOneHasItsPlace ? "upsert-checkpoint-writes" : "insert-checkpoint-writes",
			text: everyOneHasItsPlace ? UPSERT_WRITES : INSERT_WRITES,
			values: [
				thread_id,
				checkpoint_ns,
				checkpoint_id,
				taskId,
				dumped.map((write) => write[4]),
				dumped.map((write) => write[5]),
				dumped.map((write) => write[6]),
				dumped.map((write) => Buffer.from(write[7]))
			]
		});
	}
};
function runOf(config) {
	const found = {};
	for (const key of RUN_KEYS) {
		const value = config.configurable?.[key];
		if (typeof value === "string") found[key] = value;
	}
	return found;
}
const bytesOf = (parts) => parts.reduce((bytes, part) => bytes + (part?.byteLength ?? 0), 0);
// src/agent-server/graphs/graphs.ts
/** The graphs of this revision, each with our checkpoints in the place of its own. */
var Graphs = class {
	#graphs;
	/** The copies with our checkpoints: a graph that is the same for every run is attached once. */
	#copies = /* @__PURE__ */ new WeakMap();
	constructor(loaded, pool) {
		this.#graphs = new Map(loaded.map((graph) => [graph.graphId, {
			...graph,
			checkpoints: new Checkpoints(pool, graph.engine.serializer),
			memory: graph.engine.memoryCheckpoints()
		}]));
	}
	/** The ids, in the configuration file's order, with what the file says about each graph. */
	list() {
		return [...this.#graphs.values()].map(({ graphId, description }) => ({
			graphId,
			description
		}));
	}
	has(graphId) {
		return this.#graphs.has(graphId);
	}
	/** The graph for one run. The caller has made sure that it exists. */
	async make(graphId, config, keeping) {
		const attached = this.#attached(graphId);
		const graph = await attached.make(config);
		const copies = this.#copies.get(graph) ?? /* @__PURE__ */ new Map();
		this.#copies.set(graph, copies);
		const known = copies.get(keeping);
		if (known) return known;
		const copy = graph.withConfig({});
		copy.checkpointer = keeping === "thread" ? attached.checkpoints : attached.memory;
		copies.set(keeping, copy);
		return copy;
	}
	/** Forgets what a run that keeps nothing left in memory. */
	async forget(graphId, threadId) {
		await this.#attached(graphId).memory.deleteThread(threadId);
	}
	/** The engine's form of a command of the API. */
	command(graphId, command) {
		return this.#attached(graphId).engine.command(command);
	}
	#attached(graphId) {
		const found = this.#graphs.get(graphId);
		if (!found) throw new Error(`There is no graph "${graphId}" in this revision.`);
		return found;
	}
};
// src/agent-server/graphs/import-file.ts
let registered = false;
/**
* Lets the process load TypeScript as people write it, enums included, by the settings of the agent's `tsconfig.json`
* where there is one. Node's own type stripping refuses what is more than types. Once a process: an agent server has
* one agent.
*/
function acceptTypeScript(folder) {
	if (registered) return;
	registered = true;
	const tsconfig = join(folder, "tsconfig.json");
	register({ tsconfig: existsSync(tsconfig) ? tsconfig : false });
}
/** Imports a file of the agent; the promise rejects with whatever loading or running the file threw. */
async function importFile(path) {
	const module = await import(pathToFileURL(path).href);
	return typeof module === "object" && module !== null ? module : {};
}
/** What a module exports under a name; a CommonJS module may hold it in its default export. */
function exportOf(module, name) {
	const own = Reflect.get(module, name);
	const fallback = Reflect.get(module, "default");
	if (name === "default") return isModuleLike(own) ? Reflect.get(own, "default") : own;
	return own ?? (isModuleLike(fallback) ? Reflect.get(fallback, name) : void 0);
}
/** The names a module exports, as a person would use them. */
function exportNames(module) {
	const fallback = Reflect.get(module, "default");
	const names = [...Object.keys(module), ...isModuleLike(fallback) ? Object.keys(fallback) : []];
	return [...new Set(names)].filter((name) => name !== "module.exports" && name !== "__esModule");
}
const isModuleLike = (value) => typeof value === "object" && value !== null && Reflect.get(value, "__esModule") === true;
// src/agent-server/graphs/package-entry.ts
/** Node's rule: the ending decides, else the nearest package.json. */
function moduleKind(file) {
	if (/\.m[jt]s$/i.test(file)) return "module";
	if (/\.c[jt]s$/i.test(file)) return "commonjs";
	const description = findPackageJSON(pathToFileURL(file));
	if (description === void 0 || basename(description) !== "package.json") return "commonjs";
	return Reflect.get(readJson(description), "type") === "module" ? "module" : "commonjs";
}
/**
* The file that `import` or `require` of a package reaches from `from`; undefined where it is not installed there.
* Node resolves only for the module that asks, and the same build matters: two builds are two sets of classes.
*/
function packageEntry(name, from, kind) {
	const description = findFrom(name, from);
	if (description === void 0) return void 0;
	const json = readJson(description);
	const exported = Reflect.get(json, "exports");
	const root = isObject$1(exported) && "." in exported ? exported["."] : exported;
	const conditions = kind === "module" ? [
		"node",
		"import",
		"default"
	] : [
		"node",
		"require",
		"default"
	];
	const main = Reflect.get(json, "main");
	const entry = choose(root, conditions) ?? (typeof main === "string" ? main : "index.js");
	return join(dirname(description), entry);
}
function findFrom(name, from) {
	try {
		return findPackageJSON(name, pathToFileURL(from));
	} catch (error) {
		if (error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND") return void 0;
		throw error;
	}
}
/** The first condition, in the package's own order, that holds. */
function choose(exported, conditions) {
	if (typeof exported === "string") return exported;
	if (!isObject$1(exported)) return void 0;
	for (const [condition, inner] of Object.entries(exported)) {
		const found = conditions.includes(condition) ? choose(inner, conditions) : void 0;
		if (found !== void 0) return found;
	}
}
function readJson(path) {
	const json = JSON.parse(readFileSync(path, "utf8"));
	return isObject$1(json) ? json : {};
}
const isObject$1 = (value) => typeof value === "object" && value !== null;
// src/agent-server/graphs/engine.ts
/** The package that the graph engine comes in. */
const ENGINE = "@langchain/langgraph";
/**
* Loads the engine that `graphFile` gets when it imports it.
*
* @throws StartupError when the agent's folder has no engine, or one that lacks what is needed.
*/
async function loadEngine(graphFile, graphId) {
	const entry = packageEntry(ENGINE, graphFile, moduleKind(graphFile));
	if (entry === void 0) throw new StartupError("engine-missing", [`Graph "${graphId}" (${graphFile}) has no ${ENGINE} in reach. ${`Add ${ENGINE} to the dependencies in package.json and commit the lock file.`}`]);
	const module = await importFile(entry);
	const MemorySaver = classOf(module, "MemorySaver");
	const EngineCommand = classOf(module, "Command");
	const EngineSend = classOf(module, "Send");
	const memoryCheckpoints = () => {
		const saver = new MemorySaver();
		if (!isMemoryCheckpoints(saver)) throw unusable(entry, "MemorySaver");
		return saver;
	};
	const { serde } = memoryCheckpoints();
	return {
		serializer: serde,
		memoryCheckpoints,
		command: ({ update, resume, goto }) => {
			const one = (target) => isSend(target) ? new EngineSend(target.node, target.input) : target;
			return new EngineCommand({
				...update === void 0 || update === null ? {} : { update },
				...resume === void 0 ? {} : { resume },
				...goto === void 0 || goto === null ? {} : { goto: Array.isArray(goto) ? goto.map(one) : one(goto) }
			});
		}
	};
}
function classOf(module, name) {
	const value = exportOf(module, name);
	if (!isClass(value)) throw unusable(ENGINE, name);
	return value;
}
const unusable = (engine, name) => new StartupError("engine-missing", [`${engine} does not export ${name} as expected. Use version 1 of ${ENGINE}.`]);
const isClass = (value) => typeof value === "function";
const isSend = (target) => typeof target === "object" && target !== null && typeof Reflect.get(target, "node") === "string";
function isMemoryCheckpoints(value) {
	if (typeof value !== "object" || value === null) return false;
	const serde = Reflect.get(value, "serde");
	return typeof Reflect.get(value, "deleteThread") === "function" && typeof serde === "object" && serde !== null && typeof Reflect.get(serde, "dumpsTyped") === "function" && typeof Reflect.get(serde, "loadsTyped") === "function";
}
// src/agent-server/graphs/graph.ts
const has = (value, ...methods) => typeof value === "object" && value !== null && methods.every((name) => typeof Reflect.get(value, name) === "function");
const isGraph = (value) => has(value, "withConfig", "stream", "streamEvents", "getState");
const isGraphBuilder = (value) => has(value, "compile", "addNode");
// src/agent-server/graphs/import-error.ts
/** How many lines of a stack a log shows: enough to find the way, few enough to read. */
const STACK_LINES = 8;
/**
* Turns what loading a graph's file threw into sentences with `file:line`.
*
* @param error what was thrown: by the loader, or by the file's own code.
* @param folder the agent's folder; paths are told relative to it.
*/
function explainImport(error, graphId, file, folder) {
	const at = (path) => relative(folder, path) || path;
	if (!(error instanceof Error)) return new StartupError("graph-threw", [`${at(file)}: loading graph "${graphId}" threw ${typeof error}: ${String(error)}`]);
	const missing = missingModule(error);
	if (missing) {
		const where = missing.importer ? `${at(missing.importer)}${lineOf(missing.importer, missing.name)}` : at(file);
		const advice = /^[./]/.test(missing.name) ? "Check the path; a file that a build makes needs its build command." : "Add it to the dependencies in package.json and commit the lock file.";
		return new StartupError("graph-module-missing", [`${where}: cannot find "${missing.name}", which graph "${graphId}" needs. ${advice}`], { cause: error });
	}
	const syntax = /^(?:file:\/\/)?(\/.+?|[A-Za-z]:\\.+?):(\d+):(\d+): (?:ERROR|error): (.*)$/m.exec(error.message);
	if (syntax) {
		const [, path = file, line, column, message] = syntax;
		return new StartupError("graph-syntax", [`${at(path)}:${line}:${column}: ${message}`], { cause: error });
	}
	const code = error instanceof SyntaxError ? "graph-syntax" : "graph-threw";
	const frames = (error.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line));
	const own = frames.map(placeIn).find((place) => place?.path.startsWith(folder) && !place.path.includes("node_modules"));
	const where = own ? `${at(own.path)}:${own.line}:${own.column}` : at(file);
	const shown = frames.slice(0, STACK_LINES).map((line) => line.trim().replaceAll("file://", "").replaceAll(`${folder}/`, ""));
	return new StartupError(code, [`${where}: loading graph "${graphId}" threw ${error.name}: ${error.message}`, ...shown], { cause: error });
}
/** Which module was not found, and which file asked for it. */
function missingModule(error) {
	const code = "code" in error ? error.code : void 0;
	if (code !== "ERR_MODULE_NOT_FOUND" && code !== "MODULE_NOT_FOUND") return void 0;
	const name = /Cannot find (?:package|module) '([^']+)'/.exec(error.message)?.[1];
	const importer = /imported from (\S+)/.exec(error.message)?.[1] ?? firstRequirer(error);
	return name === void 0 ? void 0 : {
		name,
		importer: importer && toPath(importer)
	};
}
function firstRequirer(error) {
	const stack = "requireStack" in error ? error.requireStack : void 0;
	const first = Array.isArray(stack) ? stack[0] : void 0;
	return typeof first === "string" ? first : void 0;
}
/** `:line` of the place where a file names a module; empty where it does not, or can't be read. */
function lineOf(file, name) {
	let text;
	try {
		text = readFileSync(file, "utf8");
	} catch (error) {
		if (error instanceof Error) return "";
		throw error;
	}
	const last = name.split("/").at(-1) ?? name;
	const line = text.split("\n").findIndex((each) => /\b(?:import|from|require)\b/.test(each) && each.includes(last));
	return line < 0 ? "" : `:${line + 1}`;
}
function placeIn(frame) {
	const match = /\(?((?:file:\/\/)?(?:\/|[A-Za-z]:\\)[^()]*?):(\d+):(\d+)\)?$/.exec(frame);
	return match ? {
		path: toPath(match[1] ?? ""),
		line: match[2] ?? "",
		column: match[3] ?? ""
	} : void 0;
}
const toPath = (place) => {
	const bare = place.split("?")[0] ?? place;
	return bare.startsWith("file://") ? fileURLToPath(bare) : bare;
};
// src/agent-server/graphs/load.ts
/**
* Loads every graph of a configuration file from the agent's own folder.
*
* @param configPath absolute path of the configuration file; graphs lie relative to its folder.
* @throws StartupError for the first graph that is missing, throws, or is no graph.
*/
async function loadGraphs(places, configPath) {
	const folder = dirname(configPath);
	acceptTypeScript(folder);
	const loaded = [];
	for (const place of places) loaded.push(await loadGraph(place, folder));
	return loaded;
}
async function loadGraph({ graphId, file, exportName, description }, folder) {
	const path = resolve(folder, file);
	if (!existsSync(path)) throw new StartupError("graph-file-missing", [`${relative(folder, path)}: graph "${graphId}" has no such file. Check its path in the graph configuration file; a file that a build makes needs its build command.`]);
	const module = await importFile(path).catch((error) => {
		throw explainImport(error, graphId, path, folder);
	});
	const exported = exportOf(module, exportName);
	if (exported === void 0) {
		const names = exportNames(module);
		const meant = didYouMean(exportName, names);
		const there = names.length === 0 ? "It exports nothing." : `It exports ${names.map((name) => `"${name}"`).join(", ")}.`;
		throw new StartupError("graph-export-missing", [`${relative(folder, path)}: has no export "${exportName}" for graph "${graphId}". ${there}${meant === void 0 ? "" : ` Did you mean "${meant}"?`}`]);
	}
	const make = maker(await Promise.resolve(exported), () => {
		return new StartupError("graph-not-a-graph", [`${relative(folder, path)}: export "${exportName}" of graph "${graphId}" is no graph. Export a compiled graph, a StateGraph, or a function that makes one.`]);
	});
	await make({ configurable: {} }).catch((error) => {
		throw error instanceof StartupError ? error : explainImport(error, graphId, path, folder);
	});
	return {
		graphId,
		description,
		engine: await loadEngine(path, graphId),
		make
	};
}
/** How an export becomes a compiled graph: it is one, it compiles to one, or it is a function that makes one. */
function maker(exported, noGraph) {
	const compiled = (value) => {
		const graph = isGraphBuilder(value) ? value.compile() : value;
		if (!isGraph(graph)) throw noGraph();
		return graph;
	};
	if (typeof exported === "function") return async (config) => compiled(await exported(config));
	let graph;
	return async () => graph ??= compiled(exported);
}
// src/agent-server/listen.ts
/** How long (ms) a connection may idle. */
const KEEP_ALIVE_MS = 75e3;
/** How long (ms) answers that are nearly done may take once all runs have ended. */
const GOODBYE_MS = 1e3;
/**
* Listens on an address.
*
* @throws StartupError when it is taken or not ours.
*/
async function listen(fetch, { host, port, clock }) {
	const answer = getRequestListener(fetch, { overrideGlobalObjects: false });
	const server = createServer((incoming, outgoing) => void answer(incoming, outgoing));
	server.requestTimeout = 0;
	server.keepAliveTimeout = KEEP_ALIVE_MS;
	await new Promise((resolve, reject) => {
		server.once("error", (error) => {
			reject(new StartupError("address", [`Can't listen on ${host}:${port}: ${error.message}. Set HOST and PORT to an address of this machine that is free; PORT=0 takes any.`], { cause: error }));
		});
		server.listen(port, host, resolve);
	});
	let closed;
	const stopAccepting = () => {
		closed ??= new Promise((resolve) => server.close(() => resolve()));
	};
	return {
		port: portOf(server),
		stopAccepting,
		close: async () => {
			stopAccepting();
			server.closeIdleConnections();
			const enough = new AbortController();
			await Promise.race([closed?.finally(() => enough.abort()), clock.sleep(GOODBYE_MS, enough.signal).catch(() => closed)]);
			server.closeAllConnections();
			await closed;
		}
	};
}
function portOf(server) {
	const address = server.address();
	if (address === null || typeof address === "string") throw new Error("The server listens on no port.");
	return address.port;
}
/**
* The fate of a run whose process is gone, killed or stopped. One that goes on without a caller is carried out again,
* from its last checkpoint; one whose caller held the connection has lost it, and ends as `on_disconnect` says.
*/
function fateOf(run, hasGraph) {
	if (run.cancel_action !== null) return ended("interrupted", "RunCancelled", "The run was cancelled.");
	if (!run.detached) return ended("interrupted", "ServerStopped", "The server stopped before the run had ended.");
	if (!hasGraph(run.graph_id)) return ended("error", "GraphMissing", `The revision that went on with the run has no graph "${run.graph_id}".`);
	if (run.status === "running" && run.attempt >= 3) return ended("error", "ServerStopped", `The server stopped ${run.attempt} times before the run had ended.`);
	return { kind: "go-on" };
}
const ended = (status, error, message) => ({
	kind: "end",
	status,
	error: {
		error,
		message
	}
});
// src/agent-server/runs/run-plan.ts
const interruptNodes = z.union([z.literal("*"), z.array(z.string())]);
/**
* What a run is carried out with, the `kwargs` of a run (section "Webhook notification"): the input, the assistant's
* and the run's own configuration as one, and the other parameters. Another process must be able to go on from this.
*/
const RunKwargs = z.looseObject({
	input: z.unknown().optional(),
	command: Command.nullish(),
	config: z.looseObject({
		tags: z.array(z.string()).optional(),
		recursion_limit: z.int().optional(),
		configurable: freeObject
	}),
	/** Absent where neither the assistant nor the run has one. */
	context: freeObject.optional(),
	checkpoint: Checkpoint.optional(),
	stream_mode: z.array(z.enum(STREAM_MODES)),
	stream_subgraphs: z.boolean(),
	interrupt_before: interruptNodes.optional(),
	interrupt_after: interruptNodes.optional(),
	durability: z.enum(DURABILITIES).optional()
});
const DEFAULT_MODES = ["values"];
/** Names in `configurable` that are the engine's or the server's own: a request can't set them. */
const RESERVED = /^(?:__|thread_id$|run_id$|graph_id$|assistant_id$|checkpoint_(?:id|ns|map)$)/;
/** A request and its assistant as one plan: the run's values win over the assistant's, key by key. */
function planRun(request, { runId, threadId, stateless, carried, now, assistant }) {
	const { config } = assistant;
	const tags = [...strings(config["tags"]), ...request.config?.tags ?? []];
	const recursionLimit = request.config?.recursion_limit ?? config["recursion_limit"];
	const nobodyHasContext = request.context === void 0 && Object.keys(assistant.context).length === 0;
	const ids = {
		assistant_id: assistant.assistant_id,
		graph_id: assistant.graph_id
	};
	return {
		runId,
		threadId,
		assistantId: assistant.assistant_id,
		graphId: assistant.graph_id,
		metadata: {
			...assistant.metadata,
			...request.metadata,
			...ids
		},
		kwargs: {
			input: request.input,
			command: request.command,
			config: {
				tags: tags.length > 0 ? tags : void 0,
				recursion_limit: typeof recursionLimit === "number" ? recursionLimit : void 0,
				configurable: {
					...allowed(config["configurable"]),
					...allowed(request.config?.configurable),
					...ids,
					thread_id: threadId,
					run_id: runId
				}
			},
			context: nobodyHasContext ? void 0 : {
				...assistant.context,
				...request.context
			},
			checkpoint: request.checkpoint,
			stream_mode: modesOf(request.stream_mode),
			stream_subgraphs: request.stream_subgraphs ?? false,
			interrupt_before: request.interrupt_before,
			interrupt_after: request.interrupt_after,
			durability: request.durability ?? (request.checkpoint_during === false ? "exit" : void 0)
		},
		multitaskStrategy: request.multitask_strategy ?? "enqueue",
		temporary: stateless && request.on_completion !== "keep",
		detached: carried === "background" || request.on_disconnect === "continue",
		resumable: request.stream_resumable ?? false,
		delayMs: (request.after_seconds ?? 0) * 1e3,
		acceptedAt: now
	};
}
function modesOf(asked) {
	const modes = typeof asked === "string" ? [asked] : asked ?? DEFAULT_MODES;
	return [...new Set(modes.length > 0 ? modes : DEFAULT_MODES)];
}
function allowed(configurable) {
	const given = freeObject.safeParse(configurable);
	return given.success ? Object.fromEntries(Object.entries(given.data).filter(([key]) => !RESERVED.test(key))) : {};
}
const strings = (value) => Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
// src/agent-server/runs/state-after.ts
/** What the thread of a run that stopped in the middle waits for: the interrupts of each task, and whether any node is next. */
async function stateAfter(graph, threadId, log) {
	try {
		const { tasks, next } = await graph.getState({ configurable: { thread_id: threadId } });
		return {
			interrupts: toWire(interruptsOf(tasks)),
			unfinishedState: next.length > 0
		};
	} catch (error) {
		log(`The state of thread ${threadId} could not be read: ${String(error)}`);
		return {
			interrupts: "{}",
			unfinishedState: true
		};
	}
}
/** A task's id to what it waits for. */
function interruptsOf(tasks) {
	const waiting = {};
	for (const task of tasks) {
		if (typeof task !== "object" || task === null) continue;
		const interrupts = Reflect.get(task, "interrupts");
		const id = Reflect.get(task, "id");
		if (typeof id === "string" && Array.isArray(interrupts) && interrupts.length > 0) waiting[id] = interrupts;
	}
	return waiting;
}
// src/agent-server/runs/recovery.ts
/** How often (ms) a process looks for runs that were left, and for runs of its own that others were asked to end. */
const SWEEP_MS = 1e3;
/** How many are looked at in one go. */
const AT_ONCE = 100;
/**
* Takes care of runs whose process is gone. A process counts as gone when the database has no connection of it in two
* looks one after the other: a broken connection is replaced long before the second.
*/
var Recovery = class {
	#parts;
	#stop = new AbortController();
	#seenOnce = /* @__PURE__ */ new Set();
	constructor(parts) {
		this.#parts = parts;
	}
	/** Looks again and again until it is stopped. */
	async keepLooking() {
		const { clock, log } = this.#parts;
		const { signal } = this.#stop;
		while (!signal.aborted) {
			await this.look().catch((error) => {
				if (!isDatabaseUnavailable(error)) log(`Looking for runs that were left failed: ${String(error)}`);
			});
			await clock.sleep(SWEEP_MS, signal).catch(() => void 0);
		}
	}
	stop() {
		this.#stop.abort();
	}
	/** One look. */
	async look() {
		const { store, runs } = this.#parts;
		for (const request of await store.cancelRequests()) runs.find(request.run_id)?.stop(request.cancel_action === "rollback" ? "rolled-back" : "cancelled");
		const orphans = await store.orphans(AT_ONCE);
		const handedOver = (run) => run.process_id === null;
		for (const run of orphans) if (handedOver(run) || this.#seenOnce.has(key(run))) await this.#takeCareOf(run);
		this.#seenOnce = new Set(orphans.map(key));
	}
	async #takeCareOf(run) {
		const { store, runs, graphs, log } = this.#parts;
		const fate = fateOf(run, (graphId) => graphs.has(graphId));
		if (!await store.takeUp(run, fate.kind === "go-on")) return;
		const plan = planOf(run, this.#parts.clock.now());
		const next = run.attempt + (run.status === "running" ? 1 : 0);
		if (fate.kind === "go-on") {
			log(`Run ${run.run_id} was left by a process that is gone; going on with attempt ${next}.`);
			runs.adopt(plan, next);
			return;
		}
		log(`Run ${run.run_id} was left by a process that is gone; it ends as ${fate.status}.`);
		const after = await this.#threadAfter(run);
		await store.end(plan, {
			status: fate.status,
			error: fate.error,
			values: void 0,
			...after
		});
	}
	async #threadAfter(run) {
		const { graphs, log } = this.#parts;
		if (run.temporary || !graphs.has(run.graph_id)) return {
			interrupts: "{}",
			unfinishedState: false
		};
		return stateAfter(await graphs.make(run.graph_id, { configurable: {} }, "thread"), run.thread_id, log);
	}
};
const key = (run) => `${run.run_id} ${run.process_id}`;
/** A stored run as a plan, to go on with it at `now` (ms since the epoch). */
function planOf(run, now) {
	return {
		runId: run.run_id,
		threadId: run.thread_id,
		assistantId: run.assistant_id,
		graphId: run.graph_id,
		metadata: run.metadata,
		kwargs: RunKwargs.parse(run.kwargs),
		multitaskStrategy: run.multitask_strategy,
		temporary: run.temporary,
		detached: run.detached,
		resumable: false,
		delayMs: Math.max(0, (run.start_after?.getTime() ?? now) - now),
		acceptedAt: run.created_at.getTime()
	};
}
// src/agent-server/runs/aborted.ts
/** What a promise comes to, unless the signal aborts first: then its reason. */
async function unlessAborted(promise, signal) {
	signal.throwIfAborted();
	const { promise: aborted, reject } = Promise.withResolvers();
	const stop = () => reject(signal.reason);
	signal.addEventListener("abort", stop, { once: true });
	try {
		return await Promise.race([promise, aborted]);
	} finally {
		signal.removeEventListener("abort", stop);
	}
}
// src/agent-server/runs/message-stream.ts
const isPiece = (value) => isMessage(value) && typeof Reflect.get(value, "concat") === "function" && value.constructor.name.endsWith("Chunk");
/**
* Stream mode `messages`: for each message its metadata once, then the message as far as it has come with every piece,
* and the whole message once it stands in the state. (The mode `messages-tuple` passes the pieces on as they are.)
*/
var MessageStream = class {
	#growing = /* @__PURE__ */ new Map();
	#told = /* @__PURE__ */ new Set();
	#whole = /* @__PURE__ */ new Set();
	#emit;
	constructor(emit) {
		this.#emit = emit;
	}
	/** A piece of a message, or a whole one, with what the engine knows about where it comes from. */
	take(message, metadata) {
		if (!isMessage(message)) return;
		const id = message.id ?? "";
		if (!this.#told.has(id)) {
			this.#told.add(id);
			this.#emit("messages/metadata", { [id]: { metadata } });
		}
		if (!isPiece(message)) {
			this.#tellWhole(id, message);
			return;
		}
		const before = this.#growing.get(id);
		const grown = isPiece(before) ? before.concat(message) : message;
		this.#growing.set(id, grown);
		this.#emit("messages/partial", [grown]);
	}
	/** The state after a step: messages that came in pieces are whole once they stand there. */
	state(values) {
		const messages = typeof values === "object" && values !== null ? Reflect.get(values, "messages") : void 0;
		if (!Array.isArray(messages)) return;
		for (const message of messages) if (isMessage(message) && message.id !== void 0 && this.#growing.has(message.id)) this.#tellWhole(message.id, message);
	}
	#tellWhole(id, message) {
		this.#growing.delete(id);
		if (id !== "" && this.#whole.has(id)) return;
		this.#whole.add(id);
		this.#emit("messages/complete", [message]);
	}
};
// src/agent-server/runs/engine-run.ts
/** The key under which the engine, and the API, tell of an interrupt among the values. */
const INTERRUPT = "__interrupt__";
/** What a caller who waited is answered: the values, and with them what the graph waits for. */
function answerOf({ values, waitsFor }) {
	if (waitsFor === void 0) return values ?? null;
	return {
		...isObject(values) ? values : {},
		[INTERRUPT]: waitsFor
	};
}
/** The engine's modes that show what a mode of the API asks for. */
const ENGINE_MODE = {
	values: "values",
	updates: "updates",
	messages: "messages",
	"messages-tuple": "messages",
	events: void 0,
	debug: "debug",
	tasks: "tasks",
	checkpoints: "checkpoints",
	custom: "custom"
};
/**
* Runs a graph and tells what happens, in the engine's order. Rejects with what the graph threw, or with the signal's
* reason.
*
* @param reached kept up to date while the run goes on, so that it is right also when the run fails.
*/
async function runEngine(graph, input, plan, { attempt, signal, emit, reached }) {
	const { kwargs } = plan;
	const asked = new Set(kwargs.stream_mode);
	const modes = /* @__PURE__ */ new Set(["values", ...kwargs.stream_mode.flatMap((mode) => ENGINE_MODE[mode] ?? [])]);
	const tell = teller(asked, emit, reached);
	const options = engineOptions(plan, [...modes], attempt, signal);
	if (!asked.has("events")) {
		for await (const chunk of await graph.stream(input, options)) take(chunk, options.subgraphs, tell);
		return;
	}
	for await (const event of graph.streamEvents(input, {
		...options,
		version: "v2"
	})) {
		const chunk = ownChunk(event, plan.runId);
		if (chunk !== void 0) take(chunk, options.subgraphs, tell);
		else if (!isHidden(event)) emit("events", event);
	}
}
function teller(asked, emit, reached) {
	const messages = asked.has("messages") ? new MessageStream(emit) : void 0;
	return (mode, namespace, payload) => {
		const name = (event) => [event, ...namespace].join("|");
		const isRoot = namespace.length === 0;
		if (mode === "values" && isRoot) {
			const interrupts = isObject(payload) ? payload[INTERRUPT] : void 0;
			if (Array.isArray(interrupts)) reached.waitsFor = interrupts;
			else reached.values = payload;
			messages?.state(payload);
		}
		if (mode === "messages") {
			const [message, metadata] = Array.isArray(payload) ? payload : [];
			messages?.take(message, metadata);
			if (asked.has("messages-tuple")) emit(name("messages"), payload);
			return;
		}
		if (![...asked].some((each) => each === mode)) return;
		if (mode === "debug") emit(name(mode), showDebug(payload));
		else if (mode === "checkpoints") emit(name(mode), showCheckpoint(payload));
		else emit(name(mode), payload);
	};
}
/** What the engine streams: a mode and its payload, with subgraphs the namespace before them. */
function take(chunk, subgraphs, tell) {
	if (!Array.isArray(chunk)) return;
	const [namespace, mode, payload] = subgraphs ? chunk : [[], ...chunk];
	tell(String(mode), Array.isArray(namespace) ? namespace.map(String) : [], payload);
}
function engineOptions({ runId, threadId, metadata, kwargs }, streamMode, attempt, signal) {
	const { config, context, checkpoint, interrupt_before, interrupt_after, durability } = kwargs;
	return {
		streamMode,
		subgraphs: kwargs.stream_subgraphs,
		configurable: {
			...config.configurable,
			...checkpoint?.checkpoint_id ? { checkpoint_id: checkpoint.checkpoint_id } : {},
			...checkpoint?.checkpoint_map ? { checkpoint_map: checkpoint.checkpoint_map } : {}
		},
		metadata: {
			...metadata,
			run_id: runId,
			thread_id: threadId,
			run_attempt: attempt
		},
		...context === void 0 ? {} : { context },
		...config.tags === void 0 ? {} : { tags: config.tags },
		...config.recursion_limit === void 0 ? {} : { recursionLimit: config.recursion_limit },
		...interrupt_before === void 0 ? {} : { interruptBefore: interrupt_before },
		...interrupt_after === void 0 ? {} : { interruptAfter: interrupt_after },
		...durability === void 0 ? {} : { durability },
		signal,
		runId
	};
}
/** Among the events of everything inside: what the graph itself streams. */
function ownChunk(event, runId) {
	if (!isObject(event) || event["event"] !== "on_chain_stream" || event["run_id"] !== runId) return void 0;
	return isObject(event["data"]) ? event["data"]["chunk"] : void 0;
}
/** The engine's own machinery marks itself; nobody asked for it. */
function isHidden(event) {
	const tags = isObject(event) ? event["tags"] : void 0;
	return Array.isArray(tags) && tags.includes("langsmith:hidden");
}
const isObject = (value) => typeof value === "object" && value !== null;
// src/agent-server/runs/run-error.ts
/** What a caller is told of a run that was ended from outside. */
const WORDS = {
	cancelled: {
		error: "RunCancelled",
		message: "The run was cancelled."
	},
	"rolled-back": {
		error: "RunCancelled",
		message: "The run was cancelled and what it did was undone."
	},
	"caller-gone": {
		error: "RunCancelled",
		message: "The run was cancelled because its caller went away."
	},
	shutdown: {
		error: "ServerStopped",
		message: "The server stopped before the run had ended."
	},
	handover: {
		error: "ServerStopped",
		message: "The server stopped; another process goes on with the run."
	}
};
/** The reason with which a run's signal aborts. */
var RunStopped = class extends Error {
	reason;
	constructor(reason) {
		super(WORDS[reason].message);
		this.name = WORDS[reason].error;
		this.reason = reason;
	}
};
/** A failure of a graph as the API tells it: the type of the error and its message. */
function describeError(thrown) {
	if (!(thrown instanceof Error)) return {
		error: "Error",
		message: typeof thrown === "string" ? thrown : `Threw ${typeof thrown}`
	};
	return {
		error: (thrown.name !== "" && thrown.name !== "Error" ? thrown.name : thrown.constructor.name) || "Error",
		message: thrown.message
	};
}
// src/agent-server/runs/execution.ts
/** How often (ms) a run looks whether its turn has come, where another process has the thread. */
const TURN_POLL_MS = 200;
/** How long (ms) until the end of a run is written down again, while the database is away. */
const RETRY_MS = 500;
const UNSTORABLE = {
	status: "error",
	error: {
		error: "ResultNotStored",
		message: "The run ended, but its result could not be stored."
	}
};
/** What the agent's owner needs to find a failure: its stack, within bounds. */
const told = (failure) => (failure instanceof Error ? failure.stack ?? failure.message : describeError(failure).message).slice(0, 4e3);
/** One run in the hands of this process, from its acceptance to its end in the database. */
var Execution = class {
	plan;
	attempt;
	events;
	/** The JSON that a caller who waits is answered; there once the end is written down. */
	ended;
	#around;
	#stop = new AbortController();
	#reached = {
		values: void 0,
		waitsFor: void 0
	};
	#lastValues;
	constructor(plan, around, beginning) {
		this.plan = plan;
		this.attempt = beginning.attempt;
		this.events = new EventLog(plan.resumable ? "all" : beginning.followed ? "until-followed" : "none");
		this.#around = around;
		this.ended = this.#carryOut(beginning);
	}
	/** Ends the run where it is. The first reason counts. */
	stop(reason) {
		this.#stop.abort(new RunStopped(reason));
	}
	async #carryOut(beginning) {
		const { runId } = this.plan;
		this.events.add(METADATA_EVENT, JSON.stringify({
			run_id: runId,
			attempt: this.attempt
		}));
		let graph;
		let failure;
		try {
			await this.#turn(beginning);
			try {
				graph = await this.#makeGraph();
				await this.#run(graph);
			} finally {
				this.#around.slots.give();
			}
		} catch (error) {
			failure = error ?? /* @__PURE__ */ new Error("The graph threw nothing.");
		}
		const end = await this.#settle(await this.#endOf(failure, graph), failure, graph);
		if (this.plan.temporary) await this.#around.graphs.forget(this.plan.graphId, this.plan.threadId);
		if (end.error) this.events.add(ERROR_EVENT, JSON.stringify(end.error));
		this.events.close();
		return end.error ? JSON.stringify({ [ERROR_KEY]: end.error }) : this.#answer();
	}
	/** Waits until it is this run's turn: its time has come, its thread is free, and there is a slot. */
	async #turn({ started, after }) {
		if (started) return;
		const { clock, slots, store } = this.#around;
		const { signal } = this.#stop;
		if (this.plan.delayMs > 0) await clock.sleep(this.plan.delayMs, signal);
		if (after) await unlessAborted(Promise.allSettled([after]), signal);
		for (;;) {
			await slots.take(signal);
			if (await store.claim(this.plan.runId).catch((error) => {
				slots.give();
				throw error;
			})) return;
			slots.give();
			await clock.sleep(TURN_POLL_MS, signal);
		}
	}
	#makeGraph() {
		const { graphId, kwargs, temporary } = this.plan;
		return this.#around.graphs.make(graphId, { configurable: kwargs.config.configurable }, temporary ? "nothing" : "thread");
	}
	async #run(graph) {
		const { graphId, kwargs } = this.plan;
		await runEngine(graph, kwargs.command ? this.#around.graphs.command(graphId, kwargs.command) : kwargs.input ?? null, this.plan, {
			attempt: this.attempt,
			signal: this.#stop.signal,
			reached: this.#reached,
			emit: (event, data) => {
				const json = toWire(data);
				if (event === "values") this.#lastValues = {
					values: data,
					json
				};
				this.events.add(event, json);
			}
		});
	}
	async #endOf(failure, graph) {
		const stopped = this.#stop.signal.reason instanceof RunStopped && failure !== void 0;
		const status = stopped ? "interrupted" : failure === void 0 ? "success" : "error";
		if (status === "error") this.#around.log(`Run ${this.plan.runId} of graph "${this.plan.graphId}" failed: ${told(failure)}`);
		const thrown = stopped ? this.#stop.signal.reason : failure;
		const error = thrown === void 0 ? void 0 : describeError(thrown);
		const values = this.#reached.values === void 0 ? void 0 : this.#wire(this.#reached.values);
		if (!(!this.plan.temporary && graph !== void 0 && (stopped || this.#reached.waitsFor !== void 0))) return {
			status,
			error,
			values,
			interrupts: "{}",
			unfinishedState: false
		};
		return {
			status,
			error,
			values,
			...await stateAfter(graph, this.plan.threadId, this.#around.log)
		};
	}
	/**
	* Writes the end down, however long the database is away: nobody hears of an end that is not stored. An end that
	* can't be stored as it is becomes a failure that says so.
	*/
	async #settle(end, failure, graph) {
		const { clock, log } = this.#around;
		let last = end;
		for (;;) try {
			await this.#write(last, failure, graph);
			return last;
		} catch (error) {
			if (isDatabaseUnavailable(error)) {
				await clock.sleep(RETRY_MS);
				continue;
			}
			log(`The end of run ${this.plan.runId} could not be stored: ${String(error)}`);
			if (last !== end) return last;
			last = {
				...UNSTORABLE,
				interrupts: "{}",
				values: void 0,
				unfinishedState: false
			};
		}
	}
	async #write(end, failure, graph) {
		const { store } = this.#around;
		const { runId, threadId, temporary } = this.plan;
		const reason = failure instanceof RunStopped ? failure.reason : void 0;
		if (reason === "handover") return store.release(runId);
		if (reason !== "rolled-back") return store.end(this.plan, end);
		await store.rollBack(runId);
		if (temporary || graph === void 0) return;
		const before = await graph.getState({ configurable: { thread_id: threadId } });
		await store.restoreValues(threadId, before.createdAt === void 0 ? null : toWire(before.values));
	}
	#answer() {
		const { values, waitsFor } = this.#reached;
		return waitsFor === void 0 && values !== void 0 ? this.#wire(values) : toWire(answerOf(this.#reached));
	}
	#wire(values) {
		const last = this.#lastValues;
		return last !== void 0 && last.values === values ? last.json : toWire(values);
	}
};
// src/agent-server/runs/slots.ts
/** So many runs at once and no more; the others wait in the order in which they came. */
var Slots = class {
	#free;
	#waiting = [];
	constructor(count) {
		this.#free = count;
	}
	/** Takes a slot if one is free and nobody waits for it. */
	tryTake() {
		if (this.#free === 0) return false;
		this.#free -= 1;
		return true;
	}
	/** Takes a slot when there is one; rejects with the signal's reason when it aborts first. */
	async take(signal) {
		signal.throwIfAborted();
		if (this.tryTake()) return;
		const { promise, resolve, reject } = Promise.withResolvers();
		const leave = () => {
			this.#waiting.splice(this.#waiting.indexOf(resolve), 1);
			reject(signal.reason);
		};
		this.#waiting.push(resolve);
		signal.addEventListener("abort", leave, { once: true });
		try {
			await promise;
		} finally {
			signal.removeEventListener("abort", leave);
		}
	}
	/** Gives a slot back, to whoever waits longest. */
	give() {
		const next = this.#waiting.shift();
		if (next) next();
		else this.#free += 1;
	}
};
// src/agent-server/runs/runs.ts
/** How long (ms) another process may take to end a run before its thread is deleted all the same. */
const FOREIGN_CANCEL_MS = 5e3;
const FOREIGN_POLL_MS = 200;
/** The runs that this process has in hand, and the way in for new ones. */
var Runs = class {
	#parts;
	#slots;
	#executions = /* @__PURE__ */ new Map();
	/** The last run of each thread: the next one on the thread waits for it. */
	#lastOnThread = /* @__PURE__ */ new Map();
	#closing = false;
	constructor(parts) {
		this.#parts = parts;
		this.#slots = new Slots(parts.atOnce);
	}
	/**
	* Accepts a run and begins to carry it out. It is in the database before this resolves.
	*
	* @param threadId undefined for a stateless run.
	* @throws Refusal when the run can't be accepted.
	*/
	async start(request, threadId, carried) {
		this.#mustBeOpen();
		const assistant = await this.#assistant(request.assistant_id);
		const stateless = threadId === void 0;
		const plan = planRun(request, {
			runId: randomUUID(),
			threadId: threadId ?? randomUUID(),
			stateless,
			carried,
			now: this.#parts.clock.now(),
			assistant
		});
		await this.#checkContext(plan);
		this.#mustBeOpen();
		const mayStart = carried !== "background" && plan.delayMs === 0 && this.#slots.tryTake();
		let started = false;
		try {
			started = await this.#begin(plan, stateless, mayStart, request.if_not_exists === "create");
		} finally {
			if (mayStart && !started) this.#slots.give();
		}
		const execution = this.#carryOut(plan, {
			attempt: 1,
			started,
			followed: carried === "stream"
		});
		if (!started) await this.#makeWay(plan);
		return execution;
	}
	/** The run, if this process has it in hand. */
	find(runId) {
		return this.#executions.get(runId);
	}
	/** Carries out a run that another process left; it has been taken up in the database. */
	adopt(plan, attempt) {
		return this.#carryOut(plan, {
			attempt,
			started: false,
			followed: false
		});
	}
	/** Ends an unfinished run, wherever it is carried out. */
	async cancel(run, action) {
		const execution = this.#executions.get(run.run_id);
		if (execution) execution.stop(action === "rollback" ? "rolled-back" : "cancelled");
		else await this.#parts.store.requestCancel(run.run_id, action);
	}
	/** Ends every unfinished run of a thread, and waits until they have ended; for those of other processes not for ever. */
	async cancelThread(threadId) {
		const { store, clock } = this.#parts;
		const until = clock.now() + FOREIGN_CANCEL_MS;
		for (;;) {
			const unfinished = await store.unfinished(threadId);
			for (const run of unfinished) await this.cancel(run, "interrupt");
			const own = unfinished.flatMap(({ run_id }) => this.find(run_id) ?? []);
			await Promise.all(own.map(({ ended }) => ended));
			const foreign = own.length < unfinished.length;
			if (unfinished.length === 0 || foreign && clock.now() >= until) return;
			if (foreign) await clock.sleep(FOREIGN_POLL_MS);
		}
	}
	/**
	* Takes no more runs, and waits for those in hand. After `withinMs` those that go on without a caller are left to
	* the next process, and the others end as interrupted.
	*/
	async drain(withinMs) {
		this.#closing = true;
		const enough = new AbortController();
		const all = this.#allEnded().then(() => enough.abort());
		await Promise.race([all, this.#parts.clock.sleep(withinMs, enough.signal).catch(() => all)]);
		for (const execution of this.#executions.values()) execution.stop(execution.plan.detached ? "handover" : "shutdown");
		await this.#allEnded();
	}
	#mustBeOpen() {
		if (this.#closing) throw new Refusal(503, "The server is stopping and takes no new runs. Ask again in a moment.");
	}
	async #allEnded() {
		while (this.#executions.size > 0) await Promise.all([...this.#executions.values()].map(({ ended }) => ended));
	}
	async #assistant(idOrGraph) {
		const assistant = await this.#parts.assistants.get(idOrGraph);
		if (!assistant) throw missing(`No assistant or graph "${idOrGraph}". Pass a graph id of this deployment or an assistant's uuid.`);
		if (!this.#parts.graphs.has(assistant.graph_id)) throw missing(`Assistant ${assistant.assistant_id} is of graph "${assistant.graph_id}", which this revision does not have.`);
		return assistant;
	}
	async #checkContext({ graphId, kwargs, temporary }) {
		const config = { configurable: kwargs.config.configurable };
		const keeping = temporary ? "nothing" : "thread";
		const graph = await this.#parts.graphs.make(graphId, config, keeping).catch(() => void 0);
		if (graph === void 0) return;
		const problems = await contextProblems(graph, kwargs.context ?? config.configurable, { mayLack: false });
		if (problems.length > 0) throw new Refusal(422, problems);
	}
	/** Writes the run down; true where it may start at once. */
	async #begin(plan, stateless, mayStart, makeThread) {
		let begun = await this.#parts.store.begin(plan, stateless, mayStart);
		if (begun.kind === "no-thread" && makeThread) {
			await this.#parts.threads.create(plan.threadId, {});
			begun = await this.#parts.store.begin(plan, stateless, mayStart);
		}
		if (begun.kind === "begun") return begun.status === "running";
		if (begun.kind === "no-thread") throw missing(`Thread ${plan.threadId} does not exist.`);
		throw new Refusal(409, `Thread ${plan.threadId} is busy with another run. Wait for it, or choose another multitask_strategy than "reject".`);
	}
	#carryOut(plan, beginning) {
		const { graphs, store, clock, log } = this.#parts;
		const around = {
			graphs,
			store,
			slots: this.#slots,
			clock,
			log
		};
		const after = plan.temporary ? void 0 : this.#lastOnThread.get(plan.threadId)?.ended;
		const execution = new Execution(plan, around, {
			...beginning,
			after
		});
		this.#executions.set(plan.runId, execution);
		if (!plan.temporary) this.#lastOnThread.set(plan.threadId, execution);
		execution.ended.catch((error) => log(`Run ${plan.runId} ended in a mistake of the server: ${String(error)}`)).finally(() => {
			this.#executions.delete(plan.runId);
			if (this.#lastOnThread.get(plan.threadId) === execution) this.#lastOnThread.delete(plan.threadId);
		});
		return execution;
	}
	/** Where a run's strategy says so, ends what is in its way on the thread. */
	async #makeWay({ threadId, runId, multitaskStrategy }) {
		if (multitaskStrategy !== "interrupt" && multitaskStrategy !== "rollback") return;
		const action = multitaskStrategy === "rollback" ? "rollback" : "interrupt";
		for (const run of await this.#parts.store.unfinishedBefore(threadId, runId)) await this.cancel(run, action);
	}
};
// src/agent-server/storage/migrations.ts
/**
* The steps of the database's form. The former revision may still be running when one is applied, so a step only adds:
* no column that it writes goes away or gets a narrower meaning.
*/
const migrations = [{
	name: "001-first",
	up: async (db) => {
		await sql`
        create table assistants (
          assistant_id uuid primary key,
          graph_id text not null,
          version integer not null,
          name text not null,
          description text,
          context json not null,
          config json not null,
          metadata jsonb not null,
          created_at timestamptz not null,
          updated_at timestamptz not null
        )`.execute(db);
		await sql`
        create table assistant_versions (
          assistant_id uuid not null references assistants on delete cascade,
          version integer not null,
          graph_id text not null,
          name text not null,
          description text,
          context json not null,
          config json not null,
          metadata jsonb not null,
          created_at timestamptz not null,
          primary key (assistant_id, version)
        )`.execute(db);
		await sql`
        create table threads (
          thread_id uuid primary key,
          status text not null,
          unfinished integer not null default 0,
          metadata jsonb not null,
          config json not null,
          "values" json,
          interrupts json not null,
          created_at timestamptz not null,
          updated_at timestamptz not null
        )`.execute(db);
		await sql`
        create table runs (
          run_id uuid primary key,
          sequence bigint generated always as identity,
          thread_id uuid not null,
          assistant_id uuid not null,
          graph_id text not null,
          status text not null,
          metadata jsonb not null,
          kwargs json not null,
          multitask_strategy text not null,
          temporary boolean not null,
          detached boolean not null,
          attempt integer not null default 1,
          process_id uuid,
          cancel_action text,
          error json,
          start_after timestamptz,
          started_at timestamptz,
          ended_at timestamptz,
          created_at timestamptz not null,
          updated_at timestamptz not null
        )`.execute(db);
		await sql`create index runs_of_thread on runs (thread_id, sequence)`.execute(db);
		await sql`create index runs_unfinished on runs (sequence) where status in ('pending', 'running')`.execute(db);
	}
}];
// src/agent-server/storage/open.ts
/** Connections an agent may take: its deployment's share of what the server gives out. */
const CONNECTIONS = 2;
/**
* The name under which the server lists the connections of one process. It is how other processes of the deployment
* see whether this one lives: a killed process loses its connections at once.
*/
const applicationName = (processId) => `landfall-agent ${processId}`;
/** Opens a deployment's database and brings its tables to this program's form. */
async function openStorage(url, processId, log) {
	const storage = openDatabase({
		url,
		max: CONNECTIONS,
		applicationName: applicationName(processId),
		log
	});
	try {
		await migrate(storage.db, migrations, { table: "agent_migrations" });
		await setUpCheckpoints(storage);
	} catch (error) {
		await storage.close();
		throw error;
	}
	return storage;
}
/** The checkpointer's own tables. Two processes must not make them at once, which the library does not see to. */
async function setUpCheckpoints({ pool }) {
	const client = await pool.connect();
	try {
		await client.query("select pg_advisory_lock(hashtext('landfall checkpoints'))");
		await new PostgresSaver(pool).setup();
	} finally {
		await client.query("select pg_advisory_unlock(hashtext('landfall checkpoints'))");
		client.release();
	}
}
// src/agent-server/runs/statements.ts
/**
* The statements in the path of every run. Each is one round trip and one commit, and the server prepares it once a
* connection. The thread's row is the arbiter: its lock decides, also between processes, which run goes first.
*/
const RUN_COLUMNS = `run_id, thread_id, assistant_id, graph_id, status, metadata, kwargs, multitask_strategy, temporary,
  detached, process_id, start_after, started_at, created_at, updated_at`;
/** $1 to $12 are the run: ids, metadata, kwargs, strategy, temporary, detached, process, start_after, now. */
const RUN_VALUES = (status) => `
  $1::uuid, $2::uuid, $3::uuid, $4, ${status}, $5::jsonb, $6::json, $7, $8::boolean, $9::boolean, $10::uuid, $11::timestamptz,
  case when ${status} = 'running' then $12::timestamptz end, $12::timestamptz, $12::timestamptz`;
/** $13: whether it may start at once. $14: what the thread learns of the run's graph. No row where the thread is missing or busy. */
const BEGIN_ON_THREAD = {
	name: "begin-on-thread",
	text: `
    with thread as (
      update threads
      set unfinished = unfinished + 1, status = 'busy', metadata = metadata || $14::jsonb, updated_at = $12
      where thread_id = $2 and ($7 <> 'reject' or unfinished = 0)
      returning case when unfinished = 1 and $13 then 'running' else 'pending' end as status
    )
    insert into runs (${RUN_COLUMNS}) select ${RUN_VALUES("thread.status")} from thread
    returning status`
};
/** A stateless run whose thread is kept. */
const BEGIN_WITH_THREAD = {
	name: "begin-with-thread",
	text: `
    with thread as (
      insert into threads (thread_id, status, unfinished, metadata, config, interrupts, created_at, updated_at)
      values ($2, 'busy', 1, $14::jsonb, '{}', '{}', $12, $12)
    )
    insert into runs (${RUN_COLUMNS}) select ${RUN_VALUES("s.status")} from (select case when $13 then 'running' else 'pending' end as status) s
    returning status`
};
/** A stateless run that keeps nothing. */
const BEGIN_ALONE = {
	name: "begin-alone",
	text: `
    insert into runs (${RUN_COLUMNS}) select ${RUN_VALUES("s.status")} from (select case when $13 then 'running' else 'pending' end as status) s
    returning status`
};
/** $1 run, $2 process, $3 now. No row while a run that came before is unfinished, or when the run is not ours to start. */
const CLAIM = {
	name: "claim-run",
	text: `
    update runs set status = 'running', started_at = $3, updated_at = $3
    where run_id = $1 and process_id = $2 and status = 'pending' and cancel_action is null
      and not exists (
        select from runs earlier
        where earlier.thread_id = runs.thread_id and earlier.sequence < runs.sequence and earlier.status in ('pending', 'running')
      )
    returning run_id`
};
/** $1 run, $2 process, $3 now, $4 status, $5 error, $6 the thread's status, $7 its values, $8 its interrupts. */
const END_ON_THREAD = {
	name: "end-on-thread",
	text: `
    with run as (
      update runs set status = $4, error = $5::json, ended_at = $3, updated_at = $3
      where run_id = $1 and process_id = $2 and status in ('pending', 'running')
      returning thread_id
    )
    update threads
    set unfinished = unfinished - 1, status = case when unfinished > 1 then 'busy' else $6 end,
      "values" = coalesce($7::json, "values"), interrupts = $8::json, updated_at = $3
    from run where threads.thread_id = run.thread_id`
};
/** $1 run, $2 process. What a stateless run leaves: nothing. */
const END_ALONE = {
	name: "end-alone",
	text: "delete from runs where run_id = $1 and process_id = $2"
};
/** $1 run, $2 process, $3 now. Forgets a run and what it wrote; the thread is as it was before. */
const ROLL_BACK = {
	name: "roll-back",
	text: `
    with run as (
      delete from runs where run_id = $1 and process_id = $2 returning thread_id, temporary
    ), gone as (
      delete from checkpoints using run
      where checkpoints.thread_id = run.thread_id::text and checkpoints.metadata ->> 'run_id' = $1::text
      returning checkpoints.thread_id, checkpoints.checkpoint_ns, checkpoints.checkpoint_id
    ), writes as (
      delete from checkpoint_writes w using gone
      where w.thread_id = gone.thread_id and w.checkpoint_ns = gone.checkpoint_ns and w.checkpoint_id = gone.checkpoint_id
    )
    update threads
    set unfinished = unfinished - 1, status = case when unfinished > 1 then 'busy' else 'idle' end, interrupts = '{}', updated_at = $3
    from run where threads.thread_id = run.thread_id and not run.temporary`
};
// src/agent-server/runs/store.ts
/** The runs of a deployment, in its database. Every change names the process, so that a process that was taken for dead changes nothing. */
var RunStore = class {
	#storage;
	#processId;
	#clock;
	constructor(storage, processId, clock) {
		this.#storage = storage;
		this.#processId = processId;
		this.#clock = clock;
	}
	/** Writes a run down before anything of it happens. `atOnce` lets it be `running` from the start, where its thread is free. */
	async begin(plan, stateless, atOnce) {
		const statement = plan.temporary ? BEGIN_ALONE : stateless ? BEGIN_WITH_THREAD : BEGIN_ON_THREAD;
		const now = new Date(plan.acceptedAt);
		const known = {
			graph_id: plan.graphId,
			assistant_id: plan.assistantId
		};
		const { rows } = await this.#storage.pool.query({
			...statement,
			values: [
				plan.runId,
				plan.threadId,
				plan.assistantId,
				plan.graphId,
				storable(plan.metadata),
				JSON.stringify(plan.kwargs),
				plan.multitaskStrategy,
				plan.temporary,
				plan.detached,
				this.#processId,
				plan.delayMs > 0 ? new Date(now.getTime() + plan.delayMs) : null,
				now,
				atOnce,
				...plan.temporary ? [] : [JSON.stringify(known)]
			]
		});
		const [row] = rows;
		if (row) return {
			kind: "begun",
			status: row.status
		};
		return await this.#hasThread(plan.threadId) ? { kind: "busy" } : { kind: "no-thread" };
	}
	/** Lets a pending run of this process start, if it is its turn. */
	async claim(runId) {
		const { rowCount } = await this.#storage.pool.query({
			...CLAIM,
			values: [
				runId,
				this.#processId,
				new Date(this.#clock.now())
			]
		});
		return rowCount === 1;
	}
	/** Writes down how a run of this process ended, and what that makes of its thread. */
	async end(plan, end) {
		if (plan.temporary) {
			await this.#storage.pool.query({
				...END_ALONE,
				values: [plan.runId, this.#processId]
			});
			return;
		}
		await this.#storage.pool.query({
			...END_ON_THREAD,
			values: [
				plan.runId,
				this.#processId,
				new Date(this.#clock.now()),
				end.status,
				end.error ? JSON.stringify(end.error) : null,
				threadStatusAfter(end),
				end.values ?? null,
				end.interrupts
			]
		});
	}
	/** Forgets a run of this process and every checkpoint it wrote. */
	async rollBack(runId) {
		const now = new Date(this.#clock.now());
		await this.#storage.pool.query({
			...ROLL_BACK,
			values: [
				runId,
				this.#processId,
				now
			]
		});
	}
	/** Writes down what a thread's newest checkpoint holds, JSON, after runs were forgotten. */
	async restoreValues(threadId, values) {
		await this.#storage.db.updateTable("threads").set({ values }).where("thread_id", "=", threadId).execute();
	}
	async get(threadId, runId) {
		return this.#storage.db.selectFrom("runs").selectAll().where("run_id", "=", runId).where("thread_id", "=", threadId).executeTakeFirst();
	}
	/** The runs of a thread, newest first. */
	async list(threadId, page) {
		let query = this.#storage.db.selectFrom("runs").selectAll().where("thread_id", "=", threadId);
		if (page.status !== void 0) query = query.where("status", "=", page.status);
		return query.orderBy("sequence", "desc").limit(page.limit ?? PAGE.defaultLimit).offset(page.offset ?? 0).execute();
	}
	/** The unfinished runs of a thread. */
	async unfinished(threadId) {
		return this.#storage.db.selectFrom("runs").select("run_id").where("thread_id", "=", threadId).where("status", "in", ["pending", "running"]).execute();
	}
	/** The unfinished runs of a thread that were accepted before this one. */
	async unfinishedBefore(threadId, runId) {
		return this.#storage.db.selectFrom("runs").select("run_id").where("thread_id", "=", threadId).where("status", "in", ["pending", "running"]).where("sequence", "<", (of) => of.selectFrom("runs").select("sequence").where("run_id", "=", runId)).execute();
	}
	/** Deletes a run that has ended; false where it has not. */
	async delete(runId) {
		const { numDeletedRows } = await this.#storage.db.deleteFrom("runs").where("run_id", "=", runId).where("status", "not in", ["pending", "running"]).executeTakeFirstOrThrow();
		return numDeletedRows > 0n;
	}
	/** Asks the process that has a run in hand to end it. */
	async requestCancel(runId, action) {
		await this.#storage.db.updateTable("runs").set({ cancel_action: action }).where("run_id", "=", runId).where("status", "in", ["pending", "running"]).execute();
	}
	/** The runs of this process that another process was asked to end. */
	async cancelRequests() {
		return this.#storage.db.selectFrom("runs").select(["run_id", "cancel_action"]).where("status", "in", ["pending", "running"]).where("process_id", "=", this.#processId).where("cancel_action", "is not", null).execute();
	}
	/** Unfinished runs that no living process has in hand, oldest first. */
	async orphans(limit) {
		const alive = sql`exists (
      select from pg_stat_activity a
      where a.datname = current_database() and a.application_name = ${applicationName("")} || runs.process_id::text
    )`;
		return this.#storage.db.selectFrom("runs").selectAll().where("status", "in", ["pending", "running"]).where((at) => at.or([at("process_id", "is", null), at.not(alive)])).orderBy("sequence").limit(limit).execute();
	}
	/**
	* Takes an orphan in hand; false where another process was faster. One that shall go on is pending again, and makes
	* its next attempt where it had started.
	*/
	async takeUp(run, toGoOn) {
		const again = {
			attempt: sql`attempt + (status = 'running')::integer`,
			status: "pending"
		};
		const { numUpdatedRows } = await this.#storage.db.updateTable("runs").set({
			process_id: this.#processId,
			updated_at: new Date(this.#clock.now()),
			...toGoOn ? again : {}
		}).where("run_id", "=", run.run_id).where(sql`process_id is not distinct from ${run.process_id}::uuid`).where("status", "in", ["pending", "running"]).executeTakeFirstOrThrow();
		return numUpdatedRows > 0n;
	}
	/** Lets go of a run of this process, for the next one to take up. */
	async release(runId) {
		await this.#storage.db.updateTable("runs").set({ process_id: null }).where("run_id", "=", runId).where("process_id", "=", this.#processId).execute();
	}
	async #hasThread(threadId) {
		return await this.#storage.db.selectFrom("threads").select("thread_id").where("thread_id", "=", threadId).executeTakeFirst() !== void 0;
	}
};
/** What a run's end makes of its thread, where no other run is unfinished. */
function threadStatusAfter({ status, unfinishedState }) {
	if (status === "error" || status === "timeout") return "error";
	return unfinishedState ? "interrupted" : "idle";
}
// src/agent-server/version.ts
/**
* The version of the agent server's API that this server keeps to. The document ties features to versions of the public
* server (section "Versioning"), so the number is one of those and not our package's own.
*/
const API_VERSION = "0.5.36";
/** What `GET /info` answers. */
function serverInfo(ids) {
	return {
		version: API_VERSION,
		context: "js",
		flags: {
			assistants: true,
			crons: false,
			store: false,
			webhooks: false,
			langsmith: false
		},
		metadata: {
			server: "landfall",
			...ids.revisionId === void 0 ? {} : { revision_id: ids.revisionId },
			...ids.deploymentId === void 0 ? {} : { deployment_id: ids.deploymentId }
		}
	};
}
// src/agent-server/server.ts
/**
* Loads the graphs of a revision and serves them.
*
* @throws StartupError when the configuration, a graph, the engine, the database or the address is not as it must be.
*/
async function startAgentServer(options) {
	const { configPath, databaseUrl, host, port, log, clock } = options;
	const { places, env } = readConfiguration(configPath, log);
	for (const [name, value] of Object.entries(env)) process.env[name] ??= value;
	const processId = randomUUID();
	const opening = openStorage(databaseUrl, processId, log).catch((error) => {
		throw new StartupError("database", [`The deployment's database can't be used: ${error instanceof Error ? error.message : String(error)}`], { cause: error });
	});
	const loading = loadGraphs(places, configPath).catch(async (error) => {
		await (await opening).close();
		throw error;
	});
	const [storage, loaded] = await Promise.all([opening, loading]);
	try {
		const { app, runs, recovery } = await putTogether(loaded, storage, processId, options);
		const listener = await listen(app.fetch, {
			host,
			port,
			clock
		});
		const looking = recovery.keepLooking();
		const close = async () => {
			listener.stopAccepting();
			await runs.drain(options.drainMs ?? 3e4);
			recovery.stop();
			await looking;
			await listener.close();
			await storage.close();
		};
		let closing;
		return {
			url: `http://${host.includes(":") ? `[${host}]` : host}:${listener.port}`,
			port: listener.port,
			fetch: app.fetch,
			close: () => closing ??= close()
		};
	} catch (error) {
		await storage.close();
		throw error;
	}
}
async function putTogether(loaded, storage, processId, { clock, log, token, atOnce = 100, revisionId, deploymentId }) {
	const graphs = new Graphs(loaded, storage.pool);
	const assistants = new AssistantStore(storage, clock);
	await assistants.ensureDefaults(graphs.list());
	const threads = new ThreadStore(storage, clock);
	const runStore = new RunStore(storage, processId, clock);
	const runs = new Runs({
		assistants,
		threads,
		store: runStore,
		graphs,
		clock,
		log,
		atOnce
	});
	const info = serverInfo({
		revisionId,
		deploymentId
	});
	const checkDatabase = async () => void await sql`select 1`.execute(storage.db);
	return {
		app: createApp({
			assistants,
			threads,
			runStore,
			runs,
			graphs,
			info,
			checkDatabase,
			clock,
			log,
			token
		}),
		runs,
		recovery: new Recovery({
			store: runStore,
			runs,
			graphs,
			clock,
			log
		})
	};
}
// src/agent-server/main.ts
const log = (line) => void process.stdout.write(`${line}\n`);
const complain = (line) => void process.stderr.write(`${line}\n`);
process.stdout.on("error", () => void 0);
process.stderr.on("error", () => void 0);
process.on("unhandledRejection", (reason) => {
	complain(`A promise of the agent was rejected and nobody took it: ${reason instanceof Error ? reason.stack : String(reason)}`);
});
try {
	const environment = takeEnvironment(process.env);
	const server = await startAgentServer({
		configPath: environment.LANDFALL_GRAPH_CONFIG,
		databaseUrl: environment.DATABASE_URI,
		host: environment.HOST,
		port: environment.PORT,
		token: environment.LANDFALL_AGENT_TOKEN,
		atOnce: environment.LANDFALL_MAX_RUNS,
		drainMs: environment.LANDFALL_DRAIN_MS,
		revisionId: environment.LANDFALL_REVISION_ID,
		deploymentId: environment.LANDFALL_DEPLOYMENT_ID,
		log,
		clock: systemClock
	});
	const leave = async () => {
		await server.close();
		process.exit(0);
	};
	process.once("SIGTERM", () => void leave());
	process.once("SIGINT", () => void leave());
	if (isPipe()) process.stdin.resume().once("close", () => void leave());
	process.stdout.write(`${JSON.stringify({
		event: "listening",
		port: server.port
	})}\n`);
} catch (error) {
	for (const line of error instanceof StartupError ? startupLines(error) : [String(error instanceof Error ? error.stack : error)]) complain(line);
	process.exit(1);
}
/** Whether a parent holds the other end of our input: only then does its end mean that the parent is gone. */
function isPipe() {
	const input = fstatSync(0);
	return input.isFIFO() || input.isSocket();
}
export {};
