import { S as AssistantSearch, d as RunCreate, h as ThreadCreate, l as Run, p as Thread, s as ERROR_KEY, t as EVENT_STREAM_TYPE, v as ThreadState, x as AssistantCreate, y as Assistant } from "./write-event.js";
import { t as freeObject } from "./open-word.js";
import { a as connection, c as maskFor, d as notJson, f as unreadable, h as segment, i as readNothing, l as open, m as query, n as parse, o as call, p as header, r as readJson, s as errorOf, t as checked, u as failureOfSend } from "./reading.js";
import * as z from "zod";
import { createParser } from "eventsource-parser";
// src/contract/agent/server-info.ts
/** Answer of `GET /ok`. */
const Health = z.looseObject({ ok: z.boolean() });
/** Answer of `GET /info`: the version decides which webhook features exist (section "Versioning"). */
const ServerInfo = z.looseObject({
	version: z.string(),
	flags: freeObject.nullish(),
	metadata: freeObject.nullish()
});
// src/client/run-result.ts
/**
* The answer of `/wait` and `/join`. The line breaks that keep the connection open stand before it; a run that failed
* is told at status 200 as well, under `__error__`.
*/
const readRunResult = ({ status, headers, body }) => {
	const text = body.toString("utf8").trim();
	const parsed = parse(text);
	if (!parsed.ok) return {
		ok: false,
		failure: unreadable(status, notJson(text, headers), true)
	};
	const { value } = parsed;
	if (!isObject(value) || !("__error__" in value)) return {
		ok: true,
		value: {
			kind: "values",
			values: value
		}
	};
	return {
		ok: true,
		value: {
			kind: "error",
			error: innermost(readFailure(value[ERROR_KEY]))
		}
	};
};
/** A failure in whichever shape: that the run failed is certain, and is never lost over how it is told. */
function readFailure(told) {
	const { error, message } = isObject(told) ? told : {
		error: void 0,
		message: told
	};
	return {
		error: typeof error === "string" ? error : "Error",
		message: typeof message === "string" ? message : JSON.stringify(told)
	};
}
/** A public server wraps the error that it tells in a stream once more: its message is that error as JSON. */
function innermost(outer) {
	const inner = parse(outer.message);
	if (!inner.ok || !isObject(inner.value)) return outer;
	const { error, message, ...rest } = inner.value;
	return typeof error === "string" && typeof message === "string" && Object.keys(rest).length === 0 ? {
		error,
		message
	} : outer;
}
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
// src/sse/parse-events.ts
/**
* Why a stream of events could not be read to its end:
* - `cut`: it ended inside an event
* - `too-large`: an event, or a line of one, is longer than was allowed
*/
var EventStreamError = class extends Error {
	reason;
	constructor(reason, message) {
		super(message);
		this.name = "EventStreamError";
		this.reason = reason;
	}
};
/** `parseEvents` with a meaning: one step from bytes to values, where a second iterator would cost as much again. */
function readEvents(chunks, reading) {
	return { [Symbol.asyncIterator]: () => new EventIterator(chunks[Symbol.asyncIterator](), reading) };
}
/** Written by hand because an async generator costs more for each event than parsing it does. */
var EventIterator = class {
	#source;
	#reading;
	#text;
	#ready = [];
	#next = 0;
	#done = false;
	#left = false;
	constructor(source, reading) {
		this.#source = source;
		this.#reading = reading;
		this.#text = new IncrementalText(reading.maxEventBytes, (event) => this.#ready.push(event));
	}
	next() {
		const event = this.#ready[this.#next];
		return event === void 0 ? this.#refill() : this.#take(event);
	}
	#take(event) {
		this.#next += 1;
		try {
			return Promise.resolve({
				done: false,
				value: this.#reading.read(event)
			});
		} catch (error) {
			return this.#leave(error);
		}
	}
	async #leave(error) {
		await this.return();
		throw error;
	}
	async return() {
		this.#done = true;
		this.#left = true;
		this.#ready = [];
		await this.#source.return?.();
		return {
			done: true,
			value: void 0
		};
	}
	async #refill() {
		this.#ready = [];
		this.#next = 0;
		while (!this.#done && !this.#text.problem) {
			const { done, value } = await this.#source.next();
			if (this.#left) break;
			if (done) {
				this.#done = true;
				this.#text.end();
			} else this.#text.add(value);
			const first = this.#ready[0];
			if (first) return this.#take(first);
		}
		const { problem } = this.#text;
		if (!problem || this.#left) return {
			done: true,
			value: void 0
		};
		if (!this.#done) await this.return();
		throw this.#reading.explain(problem);
	}
};
const LINE_ENDS = /* @__PURE__ */ new Set(["\n", "\r"]);
const PROBE = "end of stream";
/** Feeds the parser, and finds out at the end whether something was left over. */
var IncrementalText = class {
	problem;
	#decoder = new TextDecoder();
	#parser;
	#lastCharacter = "\n";
	#ending = false;
	constructor(maxEventBytes, emit) {
		this.#parser = createParser({
			maxBufferSize: maxEventBytes,
			onEvent: ({ id, event, data }) => {
				if (this.#ending) {
					if (data !== PROBE || event !== void 0 || id !== void 0) this.#cut();
				} else if (id === void 0) emit({
					event: event ?? "message",
					data
				});
				else emit({
					id,
					event: event ?? "message",
					data
				});
			},
			onError: ({ type }) => {
				if (type !== "max-buffer-size-exceeded") return;
				this.problem = new EventStreamError("too-large", `an event is longer than ${maxEventBytes} bytes`);
			}
		});
	}
	add(bytes) {
		const text = this.#decoder.decode(bytes, { stream: true });
		this.#lastCharacter = text.at(-1) ?? this.#lastCharacter;
		this.#parser.feed(text);
	}
	end() {
		if (this.#decoder.decode() !== "" || !LINE_ENDS.has(this.#lastCharacter)) {
			this.#cut();
			return;
		}
		this.#ending = true;
		this.#parser.feed(`data: ${PROBE}\n\n`);
	}
	#cut() {
		this.problem = new EventStreamError("cut", "the stream ended inside an event");
	}
};
// src/client/run-stream.ts
/**
* The events of a run as they come. Nothing is sent before the first one is asked for. The protocol has no last event,
* so the stream ends where the body of the answer does, by the rules of HTTP: after its last chunk. It ended early, and
* is unreadable, where the connection broke before that, where it stops inside an event, and where no event came at all.
* A body whose length nobody told ends with its connection; there a cut between two events cannot be told from an end.
*/
function streamEvents(link, operation, limits, options) {
	return { [Symbol.asyncIterator]: () => new RunEvents(link, operation, limits, options) };
}
var RunEvents = class {
	#link;
	#operation;
	#limits;
	#options;
	#events;
	/** A run is started once, whatever is asked of an iterator that has failed. */
	#begun = false;
	#left = new AbortController();
	constructor(link, operation, limits, options = {}) {
		this.#link = link;
		this.#operation = operation;
		this.#limits = limits;
		const signals = [this.#left.signal, ...options.signal ? [options.signal] : []];
		this.#options = {
			...options,
			signal: AbortSignal.any(signals)
		};
	}
	next() {
		return this.#events ? this.#events.next() : this.#begin();
	}
	async return() {
		this.#begun = true;
		if (this.#events) await this.#events.return?.();
		else this.#left.abort(/* @__PURE__ */ new Error("the stream was left before it began"));
		return {
			done: true,
			value: void 0
		};
	}
	async #begin() {
		if (this.#begun) return {
			done: true,
			value: void 0
		};
		this.#begun = true;
		const stream = await open(this.#link, this.#operation, this.#limits.idleMs, checkType, this.#options).catch((error) => {
			if (this.#left.signal.aborted) return void 0;
			throw error;
		});
		if (!stream) return {
			done: true,
			value: void 0
		};
		const mask = maskFor(this.#link, this.#operation);
		const bytes = stream.body.bytes((failure) => this.#error(failureOfSend(failure, mask)));
		this.#events = readEvents(bytes, {
			maxEventBytes: this.#limits.maxEventBytes,
			read: (event) => this.#read(event, stream),
			explain: ({ message }) => this.#error(unreadable(stream.status, message, false))
		})[Symbol.asyncIterator]();
		const first = await this.#events.next();
		if (first.done && stream.body.whole) throw this.#error(unreadable(stream.status, "the stream ended before its first event", false));
		return first;
	}
	#read({ id, event, data }, { status }) {
		const parsed = data === "" ? {
			ok: true,
			value: null
		} : parse(data);
		if (!parsed.ok) {
			const words = `the data of the event ${JSON.stringify(event.slice(0, 100))} is not JSON (${data.length} characters)`;
			throw this.#error(unreadable(status, words, false));
		}
		return id === void 0 ? {
			event,
			data: parsed.value
		} : {
			id,
			event,
			data: parsed.value
		};
	}
	#error(failure) {
		return errorOf(this.#link, this.#operation, failure);
	}
};
function checkType(stream) {
	const type = header(stream.headers, "content-type") ?? "no content type";
	if (type.toLowerCase().startsWith("text/event-stream")) return {
		ok: true,
		value: stream
	};
	stream.body.close();
	return {
		ok: false,
		failure: unreadable(stream.status, `the answer is no stream of events (${type.slice(0, 100)})`, false)
	};
}
// src/client/agent.ts
const readInfo = readJson(ServerInfo);
const readAssistant = readJson(Assistant);
const readAssistants = readJson(z.array(Assistant));
const readThread = readJson(Thread);
const readThreadState = readJson(ThreadState);
const readRun = readJson(Run);
const readHealth = (reply) => {
	const read = readJson(Health)(reply);
	if (!read.ok) return read;
	if (read.value.ok) return {
		ok: true,
		value: void 0
	};
	return {
		ok: false,
		failure: {
			kind: "busy",
			effect: "none",
			passing: true,
			status: reply.status,
			detail: "the server says that it is not well"
		}
	};
};
/**
* Talks to an agent server (agent-server.md, Endpoints). Requests are held to the contract before they are sent. Reads,
* searches among them, are repeated; a run is started once: where its outcome is unknown, it is not started again.
*/
function connectAgentServer(settings) {
	const link = connection(settings.url, settings);
	const limits = {
		idleMs: settings.idleMs ?? 6e4,
		maxEventBytes: settings.maxEventBytes ?? 16777216
	};
	/** For answers that come when a run has ended. */
	const long = {
		attemptTimeoutMs: Infinity,
		callTimeoutMs: settings.runTimeoutMs ?? 9e5
	};
	const assistantPath = (id) => `/assistants/${segment("the assistant id", id)}`;
	const threadPath = (id) => `/threads/${segment("the thread id", id)}`;
	const runPath = (threadId, id) => `${threadPath(threadId)}/runs/${segment("the run id", id)}`;
	const startRun = (name, tail, request, threadId) => ({
		name,
		method: "POST",
		path: `${threadId === void 0 ? "" : threadPath(threadId)}/runs${tail}`,
		body: checked(RunCreate, name, request),
		secrets: request.webhook === void 0 ? [] : [request.webhook, ...tokensOf(request.webhook)]
	});
	return {
		ok: async (options) => call(link, {
			name: "ask for health",
			method: "GET",
			path: "/ok"
		}, readHealth, options),
		info: async (options) => call(link, {
			name: "get server info",
			method: "GET",
			path: "/info"
		}, readInfo, options),
		createAssistant: async (request, options) => {
			const name = "create assistant";
			const body = checked(AssistantCreate, name, request);
			return call(link, {
				name,
				method: "POST",
				path: "/assistants",
				body
			}, readAssistant, options);
		},
		getAssistant: async (id, options) => call(link, {
			name: "get assistant",
			method: "GET",
			path: assistantPath(id)
		}, readAssistant, options),
		searchAssistants: async (request, options) => {
			const name = "search assistants";
			const body = checked(AssistantSearch, name, request);
			return call(link, {
				name,
				method: "POST",
				path: "/assistants/search",
				body,
				safe: true
			}, readAssistants, options);
		},
		deleteAssistant: async (id, options) => call(link, {
			name: "delete assistant",
			method: "DELETE",
			path: assistantPath(id)
		}, readNothing, options),
		createThread: async (request, options) => {
			const name = "create thread";
			const body = checked(ThreadCreate, name, request);
			return call(link, {
				name,
				method: "POST",
				path: "/threads",
				body
			}, readThread, options);
		},
		getThread: async (id, options) => call(link, {
			name: "get thread",
			method: "GET",
			path: threadPath(id)
		}, readThread, options),
		deleteThread: async (id, options) => call(link, {
			name: "delete thread",
			method: "DELETE",
			path: threadPath(id)
		}, readNothing, options),
		getThreadState: async (id, options) => call(link, {
			name: "get thread state",
			method: "GET",
			path: `${threadPath(id)}/state`
		}, readThreadState, options),
		streamRun: (request, threadId, options) => {
			const operation = {
				...startRun("stream run", "/stream", request, threadId),
				...long,
				accept: EVENT_STREAM_TYPE
			};
			return streamEvents(link, operation, limits, options);
		},
		waitRun: async (request, threadId, options) => {
			const operation = {
				...startRun("wait for run", "/wait", request, threadId),
				...long
			};
			return call(link, operation, readRunResult, options);
		},
		createRun: async (request, threadId, options) => call(link, startRun("create run", "", request, threadId), readRun, options),
		getRun: async (threadId, id, options) => call(link, {
			name: "get run",
			method: "GET",
			path: runPath(threadId, id)
		}, readRun, options),
		cancelRun: async (threadId, id, request = {}, options) => {
			const wanted = query({
				wait: request.wait ? 1 : void 0,
				action: request.action
			});
			const operation = {
				name: "cancel run",
				method: "POST",
				path: `${runPath(threadId, id)}/cancel`,
				query: wanted
			};
			return call(link, request.wait ? {
				...operation,
				...long
			} : operation, readNothing, options);
		},
		joinRun: async (threadId, id, options) => {
			const operation = {
				name: "join run",
				method: "GET",
				path: `${runPath(threadId, id)}/join`
			};
			return call(link, {
				...operation,
				...long
			}, readRunResult, options);
		},
		close: () => link.close()
	};
}
/** What stands in an address for nobody else's eyes: the values of its query, its user and its password. */
function tokensOf(address) {
	if (!URL.canParse(address)) return [];
	const { searchParams, username, password } = new URL(address);
	return [
		...searchParams.values(),
		username,
		password
	];
}
export { connectAgentServer };
