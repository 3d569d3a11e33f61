// src/contract/service-error.ts
/** The other party's failure, whichever way it showed. A mistake of our own or of a person's file is never one. */
var ServiceError = class extends Error {
	kind;
	operation;
	method;
	address;
	status;
	detail;
	problems;
	retryAfterMs;
	effect;
	constructor(details) {
		super(sentence(details), details.cause === void 0 ? void 0 : { cause: details.cause });
		this.name = "ServiceError";
		this.kind = details.kind;
		this.operation = details.operation;
		this.method = details.method;
		this.address = details.address;
		this.status = details.status;
		this.detail = details.detail;
		this.problems = details.problems ?? [];
		this.retryAfterMs = details.retryAfterMs;
		this.effect = details.effect;
	}
};
/**
* True where a service does not have an optional endpoint at all. An endpoint that is optional is one that
* control-service.md does not list; a caller then goes on without it.
*/
function isNotOffered(error) {
	return error instanceof ServiceError && (error.status === 404 || error.status === 405 || error.status === 501);
}
function sentence({ operation, method, address, kind, status, detail, problems }) {
	const happened = status === void 0 ? kind : `answered ${status}`;
	const fields = (problems ?? []).map(({ loc, msg }) => `${loc.join(".")}: ${msg}`);
	const words = fields.length > 0 ? fields.join("; ") : detail;
	return `${operation}: ${happened} (${method} ${address})${words ? `: ${words}` : ""}`;
}
export { isNotOffered as n, ServiceError as t };
