import { t as didYouMean } from "./did-you-mean.js";
import { n as problemsOf, o as inOrder, t as parseText } from "./parse.js";
import { t as freeObject } from "./open-word.js";
import { n as WebhooksConfig } from "./webhook.js";
import * as z from "zod";
// src/graph-config/schema.ts
/** Where a graph lies: a file below the configuration file's folder and what it exports, `./src/agent.ts:graph`. */
const graphPath = z.string().regex(/^.+:[^:\\/]+$/, { error: "must be a path and an export, such as `./src/agent.ts:graph`" });
/** One graph: its path, or an object with the path and a description for people. */
const GraphEntry = z.union([graphPath, z.strictObject({
	path: graphPath,
	description: z.string().nullable().optional()
})]);
/** The keys of `http` that switch routes off, and the ones that shape the server around them. */
const HttpConfig = z.strictObject({
	app: z.string().optional(),
	disable_assistants: z.boolean().optional(),
	disable_threads: z.boolean().optional(),
	disable_runs: z.boolean().optional(),
	disable_store: z.boolean().optional(),
	disable_mcp: z.boolean().optional(),
	disable_a2a: z.boolean().optional(),
	disable_meta: z.boolean().optional(),
	disable_ui: z.boolean().optional(),
	/** True: runs go on, webhooks are not sent (section "Webhook configuration"). */
	disable_webhooks: z.boolean().optional(),
	cors: freeObject.nullable().optional(),
	configurable_headers: freeObject.nullable().optional(),
	logging_headers: freeObject.nullable().optional(),
	middleware_order: z.enum(["auth_first", "middleware_first"]).nullable().optional(),
	enable_custom_route_auth: z.boolean().optional(),
	mount_prefix: z.string().optional()
});
/**
* The graph configuration file, key by key as the public service knows them. `graphs` is what an agent server needs;
* the keys about images and Python packages are read so that a person's typing mistake is found, and have no effect here.
*/
const GraphConfig = z.strictObject({
	$schema: z.string().optional(),
	graphs: z.record(z.string().min(1), GraphEntry).refine((graphs) => Object.keys(graphs).length > 0, { error: "must name at least one graph" }),
	/** Variables of the agent's environment: an object, or the path of a file with lines `NAME=value`. */
	env: z.union([z.string(), z.record(z.string(), z.string())]).optional(),
	node_version: z.union([z.string(), z.int()]).nullable().optional(),
	python_version: z.string().nullable().optional(),
	dependencies: z.array(z.string()).optional(),
	dockerfile_lines: z.array(z.string()).optional(),
	base_image: z.string().nullable().optional(),
	image_distro: z.enum([
		"debian",
		"wolfi",
		"bookworm",
		"bullseye"
	]).nullable().optional(),
	pip_config_file: z.string().nullable().optional(),
	pip_installer: z.string().nullable().optional(),
	keep_pkg_tools: z.union([z.boolean(), z.array(z.string())]).nullable().optional(),
	api_version: z.string().nullable().optional(),
	store: freeObject.nullable().optional(),
	checkpointer: freeObject.nullable().optional(),
	auth: freeObject.nullable().optional(),
	encryption: freeObject.nullable().optional(),
	http: HttpConfig.nullable().optional(),
	webhooks: WebhooksConfig.nullable().optional(),
	ui: z.record(z.string(), z.string()).nullable().optional(),
	ui_config: freeObject.nullable().optional(),
	_INTERNAL_docker_tag: z.string().nullable().optional()
});
// src/graph-config/read.ts
/**
* Reads a graph configuration file, strict JSON. Every problem is told at once with its line and column; a key that
* looks like a slip of the finger is a problem, with what was probably meant.
*
* @param text what the file holds.
* @param file its path, as problems shall name it.
*/
function readGraphConfig(text, file) {
	const parsed = parseText(text, file.endsWith(".json") ? file : `${file}.json`);
	if (!parsed.ok) return {
		ok: false,
		problems: named(parsed.problems, file)
	};
	const top = withoutStrangers(parsed.value, GraphConfig, []);
	const http = isMap(top.value) ? withoutStrangers(top.value["http"], HttpConfig, ["http"]) : {
		value: void 0,
		keys: []
	};
	const value = isMap(http.value) && isMap(top.value) ? {
		...top.value,
		http: http.value
	} : top.value;
	const result = GraphConfig.safeParse(value);
	if (!result.success) {
		const problems = problemsOf(result.error.issues, {
			schema: GraphConfig,
			value,
			places: parsed
		});
		return {
			ok: false,
			problems: named(inOrder(problems), file)
		};
	}
	const warnings = [...top.keys, ...http.keys].map((path) => ({
		file,
		...parsed.placeOfKey(path),
		field: path.join("."),
		message: `\`${path.join(".")}\` is not known here and has no effect`
	}));
	return {
		ok: true,
		value: result.data,
		warnings: inOrder(warnings),
		file,
		placeOf: (path) => parsed.placeOf(path),
		placeOfKey: (path) => parsed.placeOfKey(path)
	};
}
/** A map without the keys that resemble no known one, and the paths of those. */
function withoutStrangers(value, schema, within) {
	if (!isMap(value)) return {
		value,
		keys: []
	};
	const known = Object.keys(schema.shape);
	const isStrange = (key) => !known.includes(key) && didYouMean(key, known) === void 0;
	const entries = Object.entries(value);
	return {
		value: Object.fromEntries(entries.filter(([key]) => !isStrange(key))),
		keys: entries.flatMap(([key]) => isStrange(key) ? [[...within, key]] : [])
	};
}
const isMap = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const named = (problems, file) => problems.map((problem) => ({
	...problem,
	file
}));
export { readGraphConfig as t };
