import { t as maskOf } from "./mask.js";
import { t as systemClock } from "./clock.js";
import { t as ServiceError } from "./service-error.js";
import { EnvHttpProxyAgent, Pool } from "undici";
// src/client/address.ts
/**
* Reads a base address, with or without a path prefix (control-service.md, "Base address"). Plain http off loopback is
* refused unless it was allowed: a key would travel in clear. So is an address with a user, a query or a fragment in it.
*/
function readAddress(written, { allowHttp = false } = {}) {
	const trimmed = written.trim();
	if (!URL.canParse(trimmed)) return {
		ok: false,
		problem: "this is not an address: write it like https://host/path",
		told: "(an unreadable address)"
	};
	const url = new URL(trimmed);
	const told = `${url.protocol}//${url.host}${url.pathname}`;
	const refused = (problem) => ({
		ok: false,
		problem,
		told
	});
	if (url.protocol !== "https:" && url.protocol !== "http:") return refused("the address has to begin with https://");
	if (url.username || url.password) return refused("the address holds a user or a password: leave it out and give the key by itself");
	if (url.search || url.hash) return refused("the address holds a ? or a #: end it with its path");
	const loopback = isLoopback(url.hostname);
	if (url.protocol === "http:" && !loopback && !allowHttp) return refused("plain http would show the key to the network: use https, or set allow-http if this network is yours");
	return {
		ok: true,
		address: {
			origin: url.origin,
			prefix: url.pathname.replace(/\/+$/, ""),
			loopback
		}
	};
}
/** True for a host that is this machine itself, as `URL` spells it. */
function isLoopback(hostname) {
	return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname) || /^\[::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4}\]$/.test(hostname);
}
/** One piece of a path from a value. What would leave its place in the path is our mistake, and never sent. */
function segment(what, value) {
	if (value === "" || value === "." || value === "..") throw new Error(`${what} is ${JSON.stringify(value)}, which is no id`);
	return encodeURIComponent(value);
}
/** `?name=value` of what is there; a list is joined by commas. */
function query(values) {
	const pairs = new URLSearchParams();
	for (const [name, value] of Object.entries(values)) if (value !== void 0) pairs.set(name, String(value));
	return pairs.size === 0 ? "" : `?${pairs.toString()}`;
}
const MAX_PROBLEMS = 50;
/**
* Reads the body of an answer that is no success, whichever shape it has: `{detail: string}` and
* `{detail: [{loc, msg, type}]}` (control-service.md, Errors), plain text, the issues of a Zod body, `{error}` and
* `{message}` in their usual forms, or a web page, of which the title is told. Masked and bounded.
*/
function readErrorBody(body, mask) {
	const parsed = parseJson(body);
	const words = parsed === void 0 ? {
		detail: textOf(body),
		problems: []
	} : fromJson(parsed);
	const detail = tidy(words.detail ?? "", mask);
	const problems = words.problems.slice(0, MAX_PROBLEMS).map(({ loc, msg, type }) => ({
		loc: loc.map((place) => typeof place === "string" ? tidy(place, mask) : place),
		msg: tidy(msg, mask),
		type: tidy(type, mask)
	}));
	return detail === "" ? { problems } : {
		detail,
		problems
	};
}
/** Somebody else's words on one line, without control characters and secrets, and not longer than `MAX_DETAIL`. */
function tidy(text, mask) {
	const line = mask(text).replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, " ").trim();
	return line.length > 2e3 ? `${line.slice(0, 1999)}…` : line;
}
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
function parseJson(body) {
	try {
		return JSON.parse(body);
	} catch {
		return;
	}
}
function fromJson(body) {
	if (typeof body === "string") return {
		detail: body,
		problems: []
	};
	if (!isObject(body)) return { problems: [] };
	const { detail, error, message } = body;
	if (Array.isArray(detail)) return { problems: detail.flatMap(problemOf) };
	const issues = isObject(error) ? zodIssues(error) : [];
	if (issues.length > 0) return { problems: issues };
	return {
		detail: [
			detail,
			message,
			error
		].map(wordsIn).find((words) => words !== void 0),
		problems: []
	};
}
function wordsIn(said) {
	if (typeof said === "string") return said;
	if (!isObject(said)) return void 0;
	return [
		said["message"],
		said["msg"],
		said["detail"]
	].find((words) => typeof words === "string");
}
function problemOf(entry) {
	if (typeof entry === "string") return [{
		loc: [],
		msg: entry,
		type: ""
	}];
	if (!isObject(entry) || typeof entry["msg"] !== "string") return [];
	return [{
		loc: placesOf(entry["loc"]),
		msg: entry["msg"],
		type: wordsIn(entry["type"]) ?? ""
	}];
}
/** The issues of a Zod error. Of a union, the first branch says more than the union itself does. */
function zodIssues(error) {
	const { issues } = error;
	if (!Array.isArray(issues)) return [];
	return issues.filter(isObject).flatMap((issue) => {
		const branches = issue["unionErrors"];
		const first = Array.isArray(branches) && isObject(branches[0]) ? zodIssues(branches[0]) : [];
		if (first.length > 0) return first;
		return [{
			loc: placesOf(issue["path"]),
			msg: wordsIn(issue["message"]) ?? "",
			type: wordsIn(issue["code"]) ?? ""
		}];
	});
}
function placesOf(loc) {
	if (!Array.isArray(loc)) return [];
	return loc.filter((place) => typeof place === "string" || typeof place === "number");
}
function textOf(body) {
	if (!looksLikeHtml(body)) return body;
	return /<title[^>]*>([^<]*)<\/title>/i.exec(body)?.[1] ?? "a web page";
}
/** True for the page of a web server, a proxy or a login where JSON was expected. */
const looksLikeHtml = (body) => /^\s*<(?:!doctype|html|head|body|\?xml)/i.test(body);
// src/client/body-stream.ts
/** Above this many bytes waiting to be read the other side is told to pause. */
const HIGH_WATER = 262144;
/**
* The bytes of an answer as they come, with a bounded queue. It is read once. A failure is given after all bytes before
* it, as the error that `explain` makes of it.
*/
var BodyStream = class {
	#controller;
	#options;
	#timer;
	#queue = [];
	#queued = 0;
	#end = "open";
	#wake;
	constructor(controller, options) {
		this.#controller = controller;
		this.#options = options;
		this.#timer = setTimeout(() => this.#idle(), options.idleMs);
	}
	/**
	* The bytes, in the pieces they came in. Leaving early closes the connection at once, also while more is waited for:
	* that is why this is no generator, whose `return` would wait as well.
	*/
	bytes(explain) {
		return {
			next: () => this.#next(explain),
			return: async () => {
				this.close();
				return {
					done: true,
					value: void 0
				};
			},
			[Symbol.asyncIterator]() {
				return this;
			}
		};
	}
	/** True once its last byte has come. */
	get whole() {
		return this.#end === "whole";
	}
	/** Gives up an answer that nobody will read on. */
	close() {
		const open = this.#end === "open";
		this.#queue = [];
		this.#settle("left");
		if (open) this.#options.close();
	}
	push(chunk) {
		this.#queue.push(chunk);
		this.#queued += chunk.length;
		if (this.#queued >= HIGH_WATER) this.#controller.pause();
		this.#timer.refresh();
		this.#wakeUp();
	}
	end() {
		this.#settle("whole");
	}
	fail(failure) {
		this.#settle(failure);
	}
	/** The caller's own end: the bytes that wait are given up, and the reading ends with this reason. */
	abort(reason) {
		this.#queue = [];
		this.#settle({ aborted: reason });
	}
	async #next(explain) {
		for (;;) {
			const chunk = this.#queue.shift();
			if (chunk) {
				this.#queued -= chunk.length;
				if (this.#queued < HIGH_WATER) this.#controller.resume();
				return {
					done: false,
					value: chunk
				};
			}
			if (this.#end === "whole" || this.#end === "left") return {
				done: true,
				value: void 0
			};
			if (this.#end !== "open") throw "aborted" in this.#end ? this.#end.aborted : explain(this.#end);
			await this.#more();
		}
	}
	#settle(end) {
		if (this.#end !== "open") return;
		this.#end = end;
		clearTimeout(this.#timer);
		this.#wakeUp();
	}
	#more() {
		this.#timer.refresh();
		return new Promise((resolve) => this.#wake = resolve);
	}
	#wakeUp() {
		const wake = this.#wake;
		this.#wake = void 0;
		wake?.();
	}
	#idle() {
		if (!this.#wake) {
			this.#timer.refresh();
			return;
		}
		const words = `nothing came for ${this.#options.idleMs / 1e3} s`;
		this.fail({
			reason: "silent",
			sent: true,
			status: 200,
			words
		});
		this.#options.close();
	}
};
// src/client/send-failure.ts
const certificate = /^(?:CERT_|ERR_TLS_CERT|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_(?:GET|VERIFY|DECODE)_|INVALID_CA|INVALID_PURPOSE|HOSTNAME_MISMATCH|UND_ERR_PRX_TLS)/;
/** The failure that an error of the network means. Only its code is looked at, and told: messages may hold addresses. */
function failureOf(error, { sent, status }) {
	const code = codeOf(error);
	const told = code === "" ? "" : ` (${code})`;
	const began = status !== void 0;
	const failure = (reason, words) => ({
		reason,
		sent,
		status,
		words: words + told
	});
	if (certificate.test(code)) return failure("untrusted", "its certificate was not accepted: for an authority of your own set NODE_EXTRA_CA_CERTS to its file");
	if (error.name === "HTTPParserError" && !error.message.includes("EOF")) return failure("garbled", "what answered is not HTTP");
	if (began) return failure("cut", "the answer ended before it was whole");
	const tunnel = /^Proxy response \((\d+)\)/.exec(error.message)?.[1];
	if (tunnel) return failure("unreachable", `the proxy answered ${tunnel} instead of a tunnel`);
	if (error.message.startsWith("Proxy Authentication Required")) return {
		...failure("unreachable", "the proxy wants a user and a password"),
		sent: false
	};
	return failure("unreachable", unreachable[error.name === "HTTPParserError" ? "EPIPE" : code] ?? "the connection failed");
}
const closed = "the connection was closed before an answer came";
const notFound = "the name of the host was not found";
const tooLate = "no connection came about in time";
const unreachable = {
	ECONNREFUSED: "the connection was refused",
	ENOTFOUND: notFound,
	EAI_AGAIN: notFound,
	UND_ERR_CONNECT_TIMEOUT: tooLate,
	ETIMEDOUT: tooLate,
	ECONNRESET: closed,
	EPIPE: closed,
	UND_ERR_SOCKET: closed
};
/** The error's own code, or the first one of the errors that it stands for. */
function codeOf(error) {
	if ("code" in error && typeof error.code === "string") return error.code;
	if (error instanceof AggregateError) return error.errors.map((each) => each instanceof Error ? codeOf(each) : "").find(Boolean) ?? "";
	return error.cause instanceof Error ? codeOf(error.cause) : "";
}
// src/client/http.ts
/**
* Sends once and reads the whole answer. An answer of any status is a reply; that none came is a failure. Redirects are
* not followed. It rejects with the reason of the caller's signal, and with what is our own mistake.
*/
function send(dispatcher, request, limits) {
	return new Promise((resolve, reject) => {
		new Exchange(limits, resolve, reject).start(dispatcher, request);
	});
}
/**
* Sends once; a success comes as a stream as soon as its head is there, any other answer as a whole. `timeoutMs` is the
* time until the last byte of the stream, `idleMs` the longest silence before its head and between its bytes.
*/
function openStream(dispatcher, request, limits) {
	const began = performance.now();
	const untilHead = {
		...limits,
		timeoutMs: Math.min(limits.timeoutMs, limits.idleMs)
	};
	return new Promise((resolve, reject) => {
		const exchange = new Exchange(untilHead, resolve, reject, (status, headers, controller) => {
			if (status < 200 || status > 299) return void 0;
			exchange.extend(limits.timeoutMs, began);
			const body = new BodyStream(controller, {
				idleMs: limits.idleMs,
				close: () => exchange.close()
			});
			resolve({
				kind: "stream",
				status,
				headers,
				body
			});
			return body;
		});
		exchange.start(dispatcher, request);
	});
}
/** The first value of a header. */
function header(headers, name) {
	const value = headers[name];
	return Array.isArray(value) ? value[0] : value;
}
/** The longest that a timer of Node runs; a later deadline is as good as none for one request. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
const timerMs = (ms) => Math.min(LONGEST_TIMER_MS, Math.max(0, ms));
/** What undici says where the client was closed by its owner. */
const CLOSED = /* @__PURE__ */ new Set(["UND_ERR_DESTROYED", "UND_ERR_CLOSED"]);
/** What it says, before anything is sent, of a request that was built wrongly. */
const INVALID = "UND_ERR_INVALID_ARG";
/** One request and its answer. The deadline is a real timer: the network does not run on a clock that tests turn. */
var Exchange = class {
	#limits;
	#resolve;
	#reject;
	#divert;
	#timeoutMs;
	#timer;
	#controller;
	#over = false;
	#status;
	#headers = {};
	#stream;
	#chunks = [];
	#length = 0;
	constructor(limits, resolve, reject, divert) {
		this.#limits = limits;
		this.#resolve = resolve;
		this.#reject = reject;
		this.#divert = divert;
		this.#timeoutMs = limits.timeoutMs;
		this.#timer = setTimeout(this.#expire, timerMs(limits.timeoutMs));
	}
	start(dispatcher, { origin, method, path, headers, body = "" }) {
		this.#limits.signal?.addEventListener("abort", this.#abort, { once: true });
		dispatcher.dispatch({
			origin,
			method,
			path,
			headers,
			body: body === "" ? null : body,
			headersTimeout: 0,
			bodyTimeout: 0
		}, this);
	}
	/** Moves the deadline to `timeoutMs` after the moment `began` (by `performance.now`). */
	extend(timeoutMs, began) {
		clearTimeout(this.#timer);
		this.#timeoutMs = timeoutMs;
		this.#timer = setTimeout(this.#expire, timerMs(began + timeoutMs - performance.now()));
	}
	/** Ends it from our side: nobody wants the rest. */
	close() {
		this.#finish();
		this.#controller?.abort(/* @__PURE__ */ new Error("closed by the reader"));
	}
	onRequestStart(controller) {
		this.#controller = controller;
		if (this.#over) controller.abort(/* @__PURE__ */ new Error("the deadline has passed"));
	}
	onResponseStart(controller, status, headers) {
		if (this.#over || status < 200) return;
		this.#status = status;
		this.#headers = headers;
		this.#stream = this.#divert?.(status, headers, controller);
		if (!this.#stream && Number(header(headers, "content-length") ?? 0) > this.#limits.maxBodyBytes) this.#tooLarge();
	}
	onResponseData(_, chunk) {
		if (this.#over) return;
		if (this.#stream) {
			this.#stream.push(chunk);
			return;
		}
		this.#chunks.push(chunk);
		this.#length += chunk.length;
		if (this.#length > this.#limits.maxBodyBytes) this.#tooLarge();
	}
	onResponseEnd() {
		if (this.#over) return;
		this.#finish();
		if (this.#stream) {
			this.#stream.end();
			return;
		}
		const [first = Buffer.alloc(0), ...more] = this.#chunks;
		const body = more.length === 0 ? first : Buffer.concat(this.#chunks, this.#length);
		this.#resolve({
			kind: "reply",
			status: this.#status ?? 0,
			headers: this.#headers,
			body
		});
	}
	onResponseError(controller, error) {
		if (this.#over) return;
		const code = "code" in error ? String(error.code) : "";
		if (CLOSED.has(code)) {
			this.#leave(/* @__PURE__ */ new Error("the client was closed before the answer was there"));
			return;
		}
		if (code === INVALID && !this.#controller) {
			this.#leave(error);
			return;
		}
		this.#fail(failureOf(error, this.#progress()));
		controller?.abort(error);
	}
	#progress() {
		return {
			sent: this.#controller !== void 0,
			status: this.#status
		};
	}
	#tooLarge() {
		const words = `the answer is longer than ${this.#limits.maxBodyBytes} bytes`;
		this.#fail({
			reason: "too-large",
			...this.#progress(),
			words
		});
		this.#controller?.abort(new Error(words));
	}
	#expire = () => {
		const { sent, status } = this.#progress();
		const words = `${status === void 0 ? sent ? "no answer came" : "no connection came about" : "the answer was not whole"} within ${this.#timeoutMs / 1e3} s`;
		this.#fail({
			reason: "timeout",
			sent,
			status,
			words
		});
		this.#controller?.abort(new Error(words));
	};
	#abort = () => {
		this.#leave(this.#limits.signal?.reason);
		this.#controller?.abort(/* @__PURE__ */ new Error("aborted by the caller"));
	};
	/** Ends with what is no failure of the other party. */
	#leave(reason) {
		this.#finish();
		if (this.#stream) this.#stream.abort(reason);
		else this.#reject(reason);
	}
	#fail(failure) {
		this.#finish();
		if (this.#stream) this.#stream.fail(failure);
		else this.#resolve({
			kind: "failed",
			failure
		});
	}
	#finish() {
		this.#over = true;
		clearTimeout(this.#timer);
		this.#limits.signal?.removeEventListener("abort", this.#abort);
	}
};
// src/client/retry-after.ts
/**
* How long an answer asks to wait (ms), from its `Retry-After` in seconds or as a date; undefined where it does not
* ask. A date is measured by the `Date` of the same answer where it has one: the other clock may be wrong.
*/
function readRetryAfter(retryAfter, date, now) {
	const written = retryAfter?.trim();
	if (!written) return void 0;
	if (/^\d+(?:\.\d+)?$/.test(written)) return Math.min(Math.ceil(Number(written) * 1e3), Number.MAX_SAFE_INTEGER);
	const until = Date.parse(written);
	if (Number.isNaN(until) || !/[a-z]/i.test(written)) return void 0;
	const theirNow = Date.parse(date ?? "");
	return Math.max(0, until - (Number.isNaN(theirNow) ? now : theirNow));
}
// src/client/attempt-failure.ts
const kinds = {
	401: "unauthorized",
	403: "unauthorized",
	404: "missing",
	405: "missing",
	409: "conflict",
	412: "conflict",
	429: "busy",
	501: "missing"
};
/** The kind of an answer that is no success (`ServiceErrorKind`). A redirect is nothing that the documents describe. */
function kindOfStatus(status) {
	if (status < 400) return "unreadable";
	return kinds[status] ?? (status >= 500 ? "busy" : "rejected");
}
/**
* Whether a write that was answered so may have taken effect. The service says of a 4xx that it refused, 408 excepted:
* there somebody lost patience half-way. Every 5xx is unknown, a 503 with `Retry-After` too: gateways answer it when
* the service behind them went away in the middle. 501, 307 and 308 are given before anything is done.
*/
function effectOfStatus(status) {
	if (status === 501 || status === 307 || status === 308) return "none";
	return status >= 400 && status < 500 && status !== 408 ? "none" : "unknown";
}
const isPassing = (status) => status === 408 || status === 425 || status === 429 || status >= 500 && status !== 501;
/** An answer that is no success, in words. */
function failureOfReply({ status, headers, body }, mask, now) {
	const told = {
		kind: kindOfStatus(status),
		effect: effectOfStatus(status),
		passing: isPassing(status),
		status
	};
	if (status < 400) return {
		...told,
		detail: tidy(redirectWords(headers), mask)
	};
	const retryAfterMs = readRetryAfter(header(headers, "retry-after"), header(headers, "date"), now);
	return {
		...told,
		...readErrorBody(body.toString("utf8"), mask),
		retryAfterMs
	};
}
function redirectWords(headers) {
	const location = header(headers, "location");
	if (!location) return "this is no answer that the documents describe";
	const target = URL.canParse(location) ? new URL(location) : void 0;
	return `it points to ${target ? `${target.protocol}//${target.host}${target.pathname}` : location.replace(/[?#].*$/s, "")}, and no redirect is followed with a key: if that is the service, give its address`;
}
const kindOfReason = {
	timeout: "unreachable",
	silent: "unreachable",
	unreachable: "unreachable",
	untrusted: "unreachable",
	cut: "unreadable",
	garbled: "unreadable",
	"too-large": "unreadable"
};
/** A send that got no whole answer, in words. */
function failureOfSend({ reason, sent, status, words }, mask) {
	return {
		kind: kindOfReason[reason],
		effect: sent ? "unknown" : "none",
		passing: reason !== "untrusted" && reason !== "too-large",
		status,
		detail: tidy(words, mask)
	};
}
/**
* A success that cannot be read. Its body is never told: it may hold secrets. What is not JSON may be the page of
* something in between and pass; JSON of a wrong shape stays as it is.
*/
function unreadable(status, problem, passing) {
	return {
		kind: "unreadable",
		effect: "unknown",
		passing,
		status,
		detail: problem
	};
}
/** What a body that should have been JSON is, without showing it. */
function notJson(text, headers) {
	const type = header(headers, "content-type") ?? "no content type";
	if (text.trim() === "") return "the answer is empty where JSON was expected";
	return `the answer is ${looksLikeHtml(text) ? "a web page" : "not JSON"} (${tidy(type, (words) => words)}, ${text.length} characters)`;
}
// src/client/retry.ts
const defaultRetryPolicy = {
	attempts: 5,
	baseMs: 250,
	capMs: 8e3
};
/**
* Whether a request is sent again. What reads is repeated when its failure may pass: with full jitter, and not before
* the moment that `Retry-After` names. What writes is repeated only where it surely did not take effect; a write whose
* outcome is unknown is never sent again: whoever asked for it has to look.
*/
function decideRetry(situation) {
	const { attempt, failure, safe, now, deadline, random, policy } = situation;
	if (!failure.passing) return { kind: "give-up" };
	if (!safe && failure.effect === "unknown") return { kind: "give-up" };
	if (attempt >= policy.attempts) return attempt === 1 ? { kind: "give-up" } : {
		kind: "give-up",
		why: `after ${attempt} attempts`
	};
	const jitter = random * Math.min(policy.capMs, policy.baseMs * 2 ** (attempt - 1));
	const asked = failure.retryAfterMs ?? 0;
	const ms = Math.max(asked, jitter);
	if (now + ms < deadline) return {
		kind: "wait",
		ms
	};
	const left = Math.max(0, deadline - now);
	return asked > left ? {
		kind: "give-up",
		why: `it asks to wait ${seconds(asked)}, and there are ${seconds(left)} left`
	} : {
		kind: "give-up",
		why: "no time is left for another attempt"
	};
}
const seconds = (ms) => `${Math.round(ms / 100) / 10} s`;
// src/client/call.ts
/** Sends an operation, again where that is safe, and reads its answer. Every failure of the other party is a `ServiceError`. */
function call(link, operation, read, options = {}) {
	return repeat(link, operation, options, async (timeoutMs) => {
		const limits = {
			timeoutMs,
			maxBodyBytes: link.maxBodyBytes,
			signal: options.signal
		};
		const sent = await send(dispatcherOf(link), requestOf(link, operation), limits);
		return sent.kind === "reply" && isSuccess(sent.status) ? read(sent) : refused(link, operation, sent);
	});
}
/** The same for an operation that is answered by a stream: it is there once its head is. */
function open(link, operation, idleMs, check, options = {}) {
	return repeat(link, operation, options, async (timeoutMs) => {
		const limits = {
			timeoutMs,
			maxBodyBytes: link.maxBodyBytes,
			idleMs,
			signal: options.signal
		};
		const sent = await openStream(dispatcherOf(link), requestOf(link, operation), limits);
		return sent.kind === "stream" ? check(sent) : refused(link, operation, sent);
	});
}
/** A failure as it is thrown. Nothing of the request is in it but its method and its path. */
function errorOf(link, operation, failure, why) {
	const { kind, status, effect, detail, problems, retryAfterMs } = failure;
	return new ServiceError({
		kind,
		operation: operation.name,
		method: operation.method,
		address: `${link.origin}${link.prefix}${operation.path}`,
		status,
		detail: [detail, why].filter(Boolean).join("; ") || void 0,
		problems,
		retryAfterMs,
		effect: isSafe(operation) ? "none" : effect
	});
}
/** What is never told of an operation. */
const maskFor = (link, operation) => maskOf([...link.secrets, ...operation.secrets ?? []]);
async function repeat(link, operation, options, attempt) {
	const { clock, policy } = link;
	if (link.refusal !== void 0) throw errorOf(link, operation, neverSent(link.refusal));
	const deadline = options.deadline ?? clock.now() + (operation.callTimeoutMs ?? link.callTimeoutMs);
	let failure = neverSent("its deadline had passed before it was sent");
	for (let made = 1;; made += 1) {
		options.signal?.throwIfAborted();
		const left = deadline - clock.now();
		if (left <= 0) throw errorOf(link, operation, failure);
		const attempted = await attempt(Math.min(left, operation.attemptTimeoutMs ?? link.attemptTimeoutMs));
		if (attempted.ok) return attempted.value;
		failure = attempted.failure;
		const decision = decideRetry({
			attempt: made,
			failure,
			safe: isSafe(operation),
			now: clock.now(),
			deadline,
			random: link.random(),
			policy
		});
		if (decision.kind === "give-up") throw errorOf(link, operation, failure, decision.why);
		await clock.sleep(decision.ms, options.signal);
	}
}
const isSafe = ({ method, safe = method === "GET" }) => safe;
const isSuccess = (status) => status >= 200 && status < 300;
function neverSent(detail) {
	return {
		kind: "unreachable",
		effect: "none",
		passing: false,
		detail
	};
}
function refused(link, operation, sent) {
	const mask = maskFor(link, operation);
	return {
		ok: false,
		failure: sent.kind === "reply" ? failureOfReply(sent, mask, link.clock.now()) : failureOfSend(sent.failure, mask)
	};
}
function requestOf(link, { method, path, query = "", headers, body, accept }) {
	const known = body === void 0 ? link.headers : link.headersWithBody;
	return {
		origin: link.origin,
		method,
		path: `${link.prefix}${path}${query}`,
		headers: {
			...known,
			...headers,
			...accept === void 0 ? {} : { accept }
		},
		body: body === void 0 ? void 0 : JSON.stringify(body)
	};
}
function dispatcherOf({ dispatcher }) {
	if (!dispatcher) throw new Error("a connection without a dispatcher has a refusal");
	return dispatcher;
}
// src/client/dispatcher.ts
/** The variables that a proxy is read from, in the order in which they count; the small ones come first, as in curl. */
const PROXY_VARIABLES = {
	http: ["http_proxy", "HTTP_PROXY"],
	https: ["https_proxy", "HTTPS_PROXY"]
};
/**
* Connections that are kept alive to one service: directly, or through the proxy that the environment names
* (HTTP_PROXY, HTTPS_PROXY, and NO_PROXY for hosts that are reached directly). Loopback is never sent to a proxy: it
* would be another machine's loopback, and the key would be shown to it.
*/
function dispatcherFor({ origin, loopback }, env) {
	const options = { allowH2: false };
	const [http, https] = [readProxy(env, PROXY_VARIABLES.http), readProxy(env, PROXY_VARIABLES.https)];
	if (loopback || !http && !https) return {
		ok: true,
		dispatcher: new Pool(origin, options),
		secrets: []
	};
	for (const proxy of [http, https]) if (proxy?.url === "") return {
		ok: false,
		problem: `${proxy.variable} does not hold the address of a proxy`
	};
	return {
		ok: true,
		dispatcher: new EnvHttpProxyAgent({
			...options,
			httpProxy: http?.url ?? "",
			httpsProxy: https?.url ?? "",
			noProxy: env["no_proxy"] ?? env["NO_PROXY"] ?? ""
		}),
		secrets: [http, https].flatMap((proxy) => proxy?.secrets ?? [])
	};
}
/** A proxy as people write it: a host and a port may stand without a scheme. */
function readProxy(env, variables) {
	const variable = variables.find((name) => env[name]?.trim());
	const written = variable && env[variable]?.trim();
	if (!variable || !written) return void 0;
	try {
		const url = new URL(/^[a-z][a-z0-9+.-]*:\/\//i.test(written) ? written : `http://${written}`);
		const secrets = [url.password, decodeURIComponent(url.password)];
		decodeURIComponent(url.username);
		return {
			variable,
			url: /^https?:$/.test(url.protocol) ? url.href : "",
			secrets
		};
	} catch {
		return {
			variable,
			url: "",
			secrets: []
		};
	}
}
// src/client/connection.ts
/**
* Makes a connection. A setting that cannot work (an address that is none, plain http, a key that no header may carry)
* throws nothing here: every call then ends as unreachable and says why, before anything is sent.
*/
function connection(baseUrl, settings) {
	const { apiKey, tenantId, bearer } = trimmed(settings);
	const read = readAddress(baseUrl, { allowHttp: settings.allowHttp ?? false });
	const { origin, prefix } = read.ok ? read.address : {
		origin: read.told.replace(/\/$/, ""),
		prefix: ""
	};
	const made = read.ok && !settings.dispatcher ? dispatcherFor(read.address, settings.env ?? process.env) : void 0;
	const refusal = (read.ok ? void 0 : read.problem) ?? (made && !made.ok ? made.problem : void 0) ?? unfit("api key", apiKey) ?? unfit("tenant id", tenantId) ?? unfit("bearer token", bearer);
	const dispatcher = settings.dispatcher ?? (made?.ok ? made.dispatcher : void 0);
	const headers = {
		accept: "application/json",
		"accept-encoding": "identity",
		"user-agent": settings.userAgent,
		...apiKey ? { "x-api-key": apiKey } : {},
		...tenantId ? { "x-tenant-id": tenantId } : {},
		...bearer ? { authorization: `Bearer ${bearer}` } : {}
	};
	return {
		origin,
		prefix,
		refusal,
		dispatcher,
		headers,
		headersWithBody: {
			...headers,
			"content-type": "application/json"
		},
		secrets: [
			apiKey,
			bearer,
			...made?.ok ? made.secrets : []
		].filter((secret) => secret !== void 0),
		clock: settings.clock ?? systemClock,
		random: settings.random ?? Math.random,
		policy: {
			...defaultRetryPolicy,
			...settings.retry
		},
		attemptTimeoutMs: settings.attemptTimeoutMs ?? 3e4,
		callTimeoutMs: settings.callTimeoutMs ?? 12e4,
		maxBodyBytes: settings.maxBodyBytes ?? 16777216,
		close: async () => {
			if (made?.ok) await made.dispatcher.destroy();
		}
	};
}
/** Secrets are often stored with the line break that ended their line. */
function trimmed({ apiKey, tenantId, bearer }) {
	return {
		apiKey: apiKey?.trim(),
		tenantId: tenantId?.trim(),
		bearer: bearer?.trim()
	};
}
function unfit(what, value) {
	if (value === void 0 || /^[\x21-\x7e]*$/.test(value)) return void 0;
	return `the ${what} holds a space, a line break or a letter that no header may carry`;
}
// src/client/reading.ts
/** Reads a JSON body by a schema of the contract. `prepare` may spell its fields first. */
function readJson(schema, prepare = (json) => json) {
	return ({ status, headers, body }) => {
		const text = body.toString("utf8");
		const parsed = parse(text);
		if (!parsed.ok) return {
			ok: false,
			failure: unreadable(status, notJson(text, headers), true)
		};
		const read = schema.safeParse(prepare(parsed.value));
		if (read.success) return {
			ok: true,
			value: read.data
		};
		return {
			ok: false,
			failure: unreadable(status, `the answer is not what the documents describe: ${problemsIn(read.error)}`, false)
		};
	};
}
/** For an answer whose body says nothing. */
const readNothing = () => ({
	ok: true,
	value: void 0
});
/**
* A request as the contract allows it. What does not fit is a mistake of our own, never the other party's: a plain
* error that names the field.
*/
function checked(schema, operation, request) {
	const read = schema.safeParse(request);
	if (read.success) return read.data;
	throw new Error(`${operation}: the request does not keep the contract: ${problemsIn(read.error)}`);
}
/** JSON, with white space around it or not. A body that is none becomes a value here. */
function parse(text) {
	try {
		return {
			ok: true,
			value: JSON.parse(text)
		};
	} catch {
		return { ok: false };
	}
}
/** Where it is wrong and what was expected there; zod's messages do not repeat the value. */
function problemsIn({ issues }) {
	const told = issues.slice(0, 5).map(({ path, message }) => path.length > 0 ? `${path.join(".")}: ${message}` : message);
	return `${told.join("; ")}${issues.length > told.length ? `; and ${issues.length - told.length} more` : ""}`;
}
export { connection as a, maskFor as c, notJson as d, unreadable as f, segment as h, readNothing as i, open as l, query as m, parse as n, call as o, header as p, readJson as r, errorOf as s, checked as t, failureOfSend as u };
