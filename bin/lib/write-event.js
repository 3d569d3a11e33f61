import { n as openWord, t as freeObject } from "./open-word.js";
import { a as STREAM_MODES } from "./stream-event.js";
import { t as MAX_WEBHOOK_URL_LENGTH } from "./webhook.js";
import * as z from "zod";
// src/contract/agent/config.ts
/**
* The run configuration of the graph engine, as the public description of the server lists it.
* `recursion_limit` counts the steps a run may take. Section "Run" leaves these fields open.
*/
const RunConfigRequest = z.looseObject({
	tags: z.array(z.string()).optional(),
	recursion_limit: z.int().min(1).optional(),
	configurable: freeObject.optional()
});
/** The `config` of a reply: an empty or a null one marks an assistant that nobody configured (section "Assistant", rule 4). */
const ConfigReply = freeObject.nullish();
// src/contract/agent/assistant.ts
/**
* The namespace in which a graph id becomes the uuid (version 5) of the graph's default assistant.
* Section "Assistant", rule 1 promises the default assistant; the public servers share this way to name it.
*/
const DEFAULT_ASSISTANT_NAMESPACE = "6ba7b821-9dad-11d1-80b4-00c04fd430c8";
/** Page bounds of every search of the server; section "Limits" leaves the default page size open. */
const PAGE = {
	defaultLimit: 10,
	minLimit: 1,
	maxLimit: 1e3
};
/** What to do when the id of something to be made is taken: answer 409, or answer with what is there. */
const IF_EXISTS = ["raise", "do_nothing"];
/**
* An assistant as a server answers it (section "Assistant"). Read leniently: the document lists the id, the graph, the
* name, the context, the metadata and both times; `config` comes with search (rule 4), `version` and `description` are
* other fields that exist.
*/
const Assistant = z.looseObject({
	assistant_id: z.string(),
	graph_id: z.string(),
	name: z.string().nullish(),
	context: freeObject.nullish(),
	metadata: freeObject.nullish(),
	created_at: z.string(),
	updated_at: z.string(),
	config: ConfigReply,
	version: z.int().nullish(),
	description: z.string().nullish()
});
/** Body of `POST /assistants` (section "Endpoints"): only the graph is required. */
const AssistantCreate = z.strictObject({
	graph_id: z.string().min(1),
	assistant_id: z.uuid().optional(),
	name: z.string().optional(),
	description: z.string().nullable().optional(),
	context: freeObject.optional(),
	config: RunConfigRequest.optional(),
	metadata: freeObject.optional(),
	if_exists: z.enum(IF_EXISTS).optional()
});
z.strictObject({
	graph_id: z.string().min(1).optional(),
	name: z.string().optional(),
	description: z.string().optional(),
	context: freeObject.optional(),
	config: RunConfigRequest.optional(),
	metadata: freeObject.optional()
});
z.strictObject({ version: z.int().min(1) });
/** The fields a search may sort by. */
const ASSISTANT_SORT_FIELDS = [
	"assistant_id",
	"created_at",
	"updated_at",
	"name",
	"graph_id"
];
/** The fields a search may select. */
const ASSISTANT_FIELDS = [
	"assistant_id",
	"graph_id",
	"name",
	"description",
	"config",
	"context",
	"created_at",
	"updated_at",
	"metadata",
	"version"
];
const SORT_ORDERS = ["asc", "desc"];
/**
* Body of `POST /assistants/search` (section "Endpoints"): `metadata` matches key by key, `name` is a part of the name
* whatever its letters' case. Paged with `limit` and `offset`; the header `x-pagination-total` carries the count.
*/
const AssistantSearch = z.strictObject({
	metadata: freeObject.optional(),
	graph_id: z.string().optional(),
	name: z.string().optional(),
	limit: z.int().min(PAGE.minLimit).max(PAGE.maxLimit).optional(),
	offset: z.int().min(0).optional(),
	sort_by: z.enum(ASSISTANT_SORT_FIELDS).optional(),
	sort_order: z.enum(SORT_ORDERS).optional(),
	select: z.array(z.enum(ASSISTANT_FIELDS)).optional()
});
/** Body of `POST /assistants/count`: the filters of a search. The answer is a bare integer. */
const AssistantCount = z.strictObject({
	metadata: freeObject.optional(),
	graph_id: z.string().optional(),
	name: z.string().optional()
});
z.strictObject({
	metadata: freeObject.optional(),
	limit: z.int().min(PAGE.minLimit).max(PAGE.maxLimit).optional(),
	offset: z.int().min(0).optional()
});
z.looseObject({
	graph_id: z.string(),
	input_schema: freeObject.nullish(),
	output_schema: freeObject.nullish(),
	state_schema: freeObject.nullish(),
	config_schema: freeObject.nullish(),
	context_schema: freeObject.nullish()
});
// src/contract/agent/thread.ts
/** Thread statuses: a new thread is `idle` (section "Thread"); the others are those of the public servers. */
const THREAD_STATUSES = [
	"idle",
	"busy",
	"interrupted",
	"error"
];
/**
* A thread as a server answers it (section "Thread"). `values` is null on a new thread; a public server leaves it out.
* `interrupts` maps a task to what it waits for.
*/
const Thread = z.looseObject({
	thread_id: z.string(),
	created_at: z.string(),
	updated_at: z.string(),
	metadata: freeObject.nullish(),
	status: openWord(THREAD_STATUSES),
	config: ConfigReply,
	values: z.union([freeObject, z.array(z.unknown())]).nullish(),
	interrupts: freeObject.nullish()
});
/** Where in a thread's history a state lies. */
const Checkpoint = z.looseObject({
	thread_id: z.string().nullish(),
	checkpoint_ns: z.string().nullish(),
	checkpoint_id: z.string().nullish(),
	checkpoint_map: freeObject.nullish()
});
/** A node that a state is about to run, or that it stopped in. */
const ThreadTask = z.looseObject({
	id: z.string(),
	name: z.string(),
	error: z.unknown().optional(),
	interrupts: z.array(z.unknown()).nullish(),
	checkpoint: Checkpoint.nullish(),
	state: z.unknown().optional()
});
/** The state of a thread at one checkpoint (`GET /threads/{thread_id}/state`). */
const ThreadState = z.looseObject({
	values: z.unknown(),
	next: z.array(z.string()),
	tasks: z.array(ThreadTask).nullish(),
	checkpoint: Checkpoint.nullish(),
	parent_checkpoint: Checkpoint.nullish(),
	metadata: freeObject.nullish(),
	created_at: z.string().nullish(),
	interrupts: z.array(z.unknown()).nullish()
});
/** How long a thread is kept: `ttl` is in minutes. */
const ThreadTtl = z.strictObject({
	strategy: z.enum(["delete"]).optional(),
	ttl: z.number().positive()
});
/** Body of `POST /threads` (section "Endpoints"): an object that may be empty. */
const ThreadCreate = z.strictObject({
	thread_id: z.uuid().optional(),
	metadata: freeObject.optional(),
	if_exists: z.enum(IF_EXISTS).optional(),
	ttl: ThreadTtl.optional()
});
/** Body of `PATCH /threads/{thread_id}`: `metadata` is merged. */
const ThreadPatch = z.strictObject({
	metadata: freeObject.optional(),
	ttl: ThreadTtl.optional()
});
/** Body of `POST /threads/search`: `metadata` and `values` match key by key. */
const ThreadSearch = z.strictObject({
	ids: z.array(z.uuid()).optional(),
	metadata: freeObject.optional(),
	values: freeObject.optional(),
	status: z.enum(THREAD_STATUSES).optional(),
	limit: z.int().min(PAGE.minLimit).max(PAGE.maxLimit).optional(),
	offset: z.int().min(0).optional(),
	sort_by: z.enum([
		"thread_id",
		"status",
		"created_at",
		"updated_at"
	]).optional(),
	sort_order: z.enum(SORT_ORDERS).optional(),
	select: z.array(z.enum([
		"thread_id",
		"created_at",
		"updated_at",
		"metadata",
		"config",
		"status",
		"values",
		"interrupts"
	])).optional()
});
/** Body of `POST /threads/count`: the filters of a search. The answer is a bare integer. */
const ThreadCount = z.strictObject({
	metadata: freeObject.optional(),
	values: freeObject.optional(),
	status: z.enum(THREAD_STATUSES).optional()
});
z.strictObject({
	values: z.union([freeObject, z.array(z.unknown())]).nullable().optional(),
	checkpoint: Checkpoint.optional(),
	as_node: z.string().optional()
});
z.strictObject({
	limit: z.int().min(PAGE.minLimit).max(PAGE.maxLimit).optional(),
	before: Checkpoint.optional(),
	metadata: freeObject.optional(),
	checkpoint: Checkpoint.optional()
});
// src/contract/agent/run.ts
/**
* Run statuses: `success` and `error` are the document's examples of a final one (section "States and transitions");
* the others are those of the public servers.
*/
const RUN_STATUSES = [
	"pending",
	"running",
	"success",
	"error",
	"timeout",
	"interrupted"
];
/** What to do with a run on a thread that is busy: refuse it, wait, or end the other one and keep or undo its work. */
const MULTITASK_STRATEGIES = [
	"reject",
	"enqueue",
	"interrupt",
	"rollback"
];
const ON_DISCONNECT = ["cancel", "continue"];
const ON_COMPLETION = ["delete", "keep"];
const IF_NOT_EXISTS = ["create", "reject"];
const DURABILITIES = [
	"sync",
	"async",
	"exit"
];
/** A run as a server answers it; section "Webhook notification" lists the fields, and leaves the rest open. */
const Run = z.looseObject({
	run_id: z.string(),
	thread_id: z.string(),
	assistant_id: z.string(),
	created_at: z.string(),
	updated_at: z.string(),
	status: openWord(RUN_STATUSES),
	metadata: freeObject.nullish(),
	kwargs: freeObject.nullish(),
	multitask_strategy: openWord(MULTITASK_STRATEGIES).nullish()
});
/** A message to one node: what a command may go to. */
const Send = z.strictObject({
	node: z.string(),
	input: z.unknown()
});
/** What a run does instead of taking an input: change the state, resume an interrupted node, go to a node. */
const Command = z.strictObject({
	update: z.union([freeObject, z.array(z.unknown())]).nullable().optional(),
	resume: z.unknown().optional(),
	goto: z.union([
		Send,
		z.array(Send),
		z.string(),
		z.array(z.string())
	]).nullable().optional()
});
const interruptNodes = z.union([z.literal("*"), z.array(z.string())]);
/**
* Body of every endpoint that starts a run, on a thread or stateless (section "Endpoints"): `assistant_id` is a graph id
* or an assistant's uuid, `input` is the graph's, `stream_mode` one or more modes, `webhook` a URL told when the run
* completes. `after_seconds` puts the start off. Beyond these the document is silent; the rest is the public servers'.
*/
const RunCreate = z.strictObject({
	assistant_id: z.string().min(1),
	input: z.unknown().optional(),
	command: Command.nullable().optional(),
	config: RunConfigRequest.optional(),
	context: freeObject.optional(),
	metadata: freeObject.optional(),
	webhook: z.string().min(1).max(MAX_WEBHOOK_URL_LENGTH).optional(),
	checkpoint: Checkpoint.optional(),
	interrupt_before: interruptNodes.optional(),
	interrupt_after: interruptNodes.optional(),
	stream_mode: z.union([z.enum(STREAM_MODES), z.array(z.enum(STREAM_MODES))]).optional(),
	stream_subgraphs: z.boolean().optional(),
	stream_resumable: z.boolean().optional(),
	on_disconnect: z.enum(ON_DISCONNECT).optional(),
	on_completion: z.enum(ON_COMPLETION).optional(),
	if_not_exists: z.enum(IF_NOT_EXISTS).optional(),
	multitask_strategy: z.enum(MULTITASK_STRATEGIES).optional(),
	after_seconds: z.number().min(0).optional(),
	durability: z.enum(DURABILITIES).optional(),
	checkpoint_during: z.boolean().optional(),
	feedback_keys: z.array(z.string()).optional()
});
/** How a run failed: the type of the error and its message. */
const RunError = z.looseObject({
	error: z.string(),
	message: z.string()
});
/** The key under which `/wait` and `/join` tell of a failed run, at status 200. */
const ERROR_KEY = "__error__";
z.looseObject({ [ERROR_KEY]: RunError });
/** What to do with a run that is cancelled: keep what it did, or undo it and forget the run. */
const CANCEL_ACTIONS = ["interrupt", "rollback"];
z.strictObject({
	status: z.enum([
		"pending",
		"running",
		"all"
	]).optional(),
	thread_id: z.uuid().optional(),
	run_ids: z.array(z.uuid()).optional()
});
/** Body of `POST /runs/batch`: one stateless run an item. */
const RunBatch = z.array(RunCreate).min(1);
// src/sse/write-event.ts
/** The `Content-Type` of a stream of events. */
const EVENT_STREAM_TYPE = "text/event-stream";
/** One event as the bytes of a stream spell it, the blank line at its end included. A name of two lines is our mistake. */
function writeEvent({ id, event, data }) {
	return `${[
		...event === void 0 ? [] : [`event: ${oneLine("event", event)}`],
		...data.split(/\r\n|\r|\n/).map((line) => `data: ${line}`),
		...id === void 0 ? [] : [`id: ${oneLine("id", id)}`]
	].join("\n")}\n\n`;
}
/** A comment: life on the line that is no event. */
function writeComment(text) {
	return `: ${oneLine("comment", text)}\n\n`;
}
function oneLine(what, text) {
	if (/[\r\n\0]/.test(text)) throw new Error(`the ${what} of a server-sent event holds a line break or a NUL`);
	return text;
}
export { DEFAULT_ASSISTANT_NAMESPACE as C, AssistantSearch as S, ThreadSearch as _, Command as a, AssistantCount as b, RUN_STATUSES as c, RunCreate as d, Checkpoint as f, ThreadPatch as g, ThreadCreate as h, CANCEL_ACTIONS as i, Run as l, ThreadCount as m, writeComment as n, DURABILITIES as o, Thread as p, writeEvent as r, ERROR_KEY as s, EVENT_STREAM_TYPE as t, RunBatch as u, ThreadState as v, PAGE as w, AssistantCreate as x, Assistant as y };
