import { t as freeObject } from "./open-word.js";
import * as z from "zod";
// src/contract/agent/stream-event.ts
/** What a stream may show: `updates` and `events` are the document's (section "Endpoints"), the rest the public servers'. */
const STREAM_MODES = [
	"values",
	"updates",
	"messages",
	"messages-tuple",
	"events",
	"debug",
	"tasks",
	"checkpoints",
	"custom"
];
/** Names of events that are no stream mode: the first one of every stream, and the last one of a failed run. */
const METADATA_EVENT = "metadata";
const ERROR_EVENT = "error";
/** Data of the first event of every stream: the run. */
const MetadataEventData = z.looseObject({
	run_id: z.string(),
	attempt: z.int().nullish()
});
/** Data of an `updates` event: what each node wrote, by the node's name. */
const UpdatesEventData = freeObject;
/** Data of an `error` event, the last one of a failed run. */
const ErrorEventData = z.looseObject({
	error: z.string(),
	message: z.string()
});
/** Splits an event's name: `updates|a|b` is mode `updates` in the subgraph `['a', 'b']`. */
function splitEventName(event) {
	const [mode = "", ...namespace] = event.split("|");
	return {
		mode,
		namespace
	};
}
export { STREAM_MODES as a, MetadataEventData as i, ErrorEventData as n, UpdatesEventData as o, METADATA_EVENT as r, splitEventName as s, ERROR_EVENT as t };
