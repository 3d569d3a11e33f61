import { t as didYouMean } from "./did-you-mean.js";
import { a as formatProblem, i as fieldName, n as problemsOf, o as inOrder, s as kindOf, t as parseText } from "./parse.js";
import { a as STREAM_MODES } from "./stream-event.js";
import { t as fieldAliases } from "./aliases.js";
import { l as secretReference, m as resourceSpec, s as sources, t as deploymentType, v as dnsLabel } from "./source.js";
import { i as readRepoRef, r as isTagRef, t as fieldRules } from "./field-rules.js";
import { a as compilePath, n as schemaFaults, o as compilePattern, s as duration } from "./json-schema.js";
import { readFileSync } from "node:fs";
import * as z from "zod";
// src/config/desired.ts
/** What becomes of secrets that are there and were not asked for: kept, or removed. */
const secretsStrategies = ["merge", "overwrite"];
/** When a revision is made although no field differs; for `github` only. */
const rebuilds = [
	"auto",
	"always",
	"never"
];
const onFailures = ["rollback", "keep"];
// src/contract/control/reserved-names.ts
/**
* Environment variables that the platform sets itself: a secret of this name is refused with a 400
* (control-service.md leaves the list open; these are the public service's).
*/
const reservedNames = /* @__PURE__ */ new Set([
	"PATH",
	"PORT",
	"MOUNT_PREFIX",
	"LOG_JSON",
	"LOG_DICT_TRACEBACKS",
	"POSTGRES_URI",
	"POSTGRES_URI_CUSTOM",
	"POSTGRES_PASSWORD",
	"DATABASE_URI",
	"REDIS_URI",
	"REDIS_URI_CUSTOM",
	"LANGCHAIN_API_KEY",
	"LANGCHAIN_CALLBACKS_BACKGROUND",
	"LANGCHAIN_ENDPOINT",
	"LANGCHAIN_PROJECT",
	"LANGCHAIN_TRACING_V2",
	"LANGGRAPH_AUTH_TYPE",
	"LANGGRAPH_CLOUD_LICENSE_KEY",
	"LANGGRAPH_GIT_REPO_PATH",
	"LANGSMITH_API_KEY",
	"LANGSMITH_AUTH_ENDPOINT",
	"LANGSMITH_AUTH_VERIFY_TENANT_ID",
	"LANGSMITH_CONTROL_PLANE_API_KEY",
	"LANGSMITH_DEPLOYMENT_NAME",
	"LANGSMITH_ENDPOINT",
	"LANGSMITH_HOST_PROJECT_ID",
	"LANGSMITH_HOST_PROJECT_NAME",
	"LANGSMITH_HOST_REVISION_ID",
	"LANGSMITH_LANGGRAPH_GIT_REF",
	"LANGSMITH_LANGGRAPH_GIT_REF_SHA",
	"LANGSMITH_LANGGRAPH_GIT_REPO",
	"LANGSMITH_PROJECT",
	"LANGSMITH_TENANT_ID",
	"LANGSMITH_TRACING_V2"
]);
// src/config/secret-names.ts
const environmentName = /^[A-Za-z_][A-Za-z0-9_]{0,255}$/;
/** `NAME`, or `NAME=OTHER` where the value is that of the environment variable OTHER. */
const secretName = z.string().transform((written, context) => {
	const [name = "", from = name, ...more] = written.split("=").map((part) => part.trim());
	const tell = (message) => context.addIssue({
		code: "custom",
		message
	});
	if (more.length > 0 || !environmentName.test(name) || !environmentName.test(from)) tell("must be the name of an environment variable, or NAME=OTHER to take it from another one; never a value");
	else if (reservedNames.has(name)) tell(`cannot be ${name}: the platform sets that variable itself`);
	return {
		name,
		from
	};
});
/** The secrets of a deployment: names only, so that the file and the inputs hold no value. */
const secretNames = z.array(secretName).superRefine((names, context) => {
	const seen = /* @__PURE__ */ new Set();
	for (const [index, { name }] of names.entries()) {
		if (seen.has(name)) context.addIssue({
			code: "custom",
			path: [index],
			message: "is there twice"
		});
		seen.add(name);
	}
});
/**
* Takes the values from the environment; `missing` is told of each that is not there, and of one that is empty,
* because that is how a workflow passes on a secret that nobody has set. An item that is no name is passed over.
*/
function secretValues(written, environment, missing) {
	return (Array.isArray(written) ? written : []).flatMap((item, index) => {
		const read = secretName.safeParse(item);
		if (!read.success) return [];
		const { name, from } = read.data;
		const value = environment[from];
		if (value) return [{
			name,
			value
		}];
		const why = value === void 0 ? "is not set" : "is empty";
		missing(index, `takes its value from the environment variable ${spoken(from)}, which ${why}`);
		return [];
	});
}
/** A name that may be told. Somebody may have written a secret itself in the place of its name. */
const spoken = (name) => /^[A-Z]{1,24}$|^[A-Z0-9]+(_[A-Z0-9]+)+$/.test(name) ? name : "that it names";
// src/config/spelling.ts
/** Whose word it is shows in its letters: `image_uri` is the service's, `imageUri` ours, `image-uri` a person's. */
const toKebab = (word) => word.replaceAll("_", "-").replace(/(?<=[a-z0-9])[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
const toCamel = (word) => word.replace(/-([a-z0-9])/g, (_, letter) => letter.toUpperCase());
const toSnake = (word) => word.replaceAll("-", "_");
/** The public service's names in a person's spelling, and what they are called here. */
const synonyms = new Map(fieldAliases.flatMap((alias) => [[alias.public, alias.contract], [toKebab(alias.public), toKebab(alias.contract)]]));
/** A map with its keys in the service's spelling; anything else as it is. */
const withSnakeKeys = (value) => isMap$1(value) ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [toSnake(key), inner])) : value;
/** The keys of a map that stand in it in another spelling already. */
function keysInTwoSpellings(value) {
	const seen = /* @__PURE__ */ new Set();
	return Object.keys(isMap$1(value) ? value : {}).filter((key) => seen.size === seen.add(toSnake(key)).size);
}
/** The path of what was written, from a path in another spelling: wherever the written value has no such key. */
function writtenPath(written, path) {
	const found = [];
	let inner = written;
	for (const part of path) {
		const key = typeof part === "string" && isMap$1(inner) && !Object.hasOwn(inner, part) ? toKebab(part) : part;
		found.push(key);
		inner = typeof inner === "object" && inner !== null ? Reflect.get(inner, key) : void 0;
	}
	return found;
}
const isMap$1 = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
// src/config/written-expectations.ts
const within = duration(1, 36e5);
/** A query that is checked when it is read: a mistake is told at its line, not after a deployment. */
const path = z.string().superRefine((written, context) => {
	const compiled = compilePath(written);
	if (!compiled.ok) context.addIssue({
		code: "custom",
		message: compiled.problem
	});
});
const pattern = z.string().superRefine((written, context) => {
	const compiled = compilePattern(written);
	if (!compiled.ok) context.addIssue({
		code: "custom",
		message: compiled.problem
	});
});
const jsonSchema = z.record(z.string(), z.unknown()).superRefine((schema, context) => {
	for (const { path: at, problem, suggestion } of schemaFaults(schema)) context.addIssue({
		code: "custom",
		path: [...at],
		message: problem,
		params: { suggestion }
	});
});
/** One item of `values` or `messages`: where to look, and one or more things that must hold there. */
const valueItem = z.strictObject({
	path,
	equals: z.unknown().optional(),
	contains: z.string().min(1).optional(),
	matches: pattern.optional(),
	schema: jsonSchema.optional()
}).refine((item) => Object.keys(item).some((key) => key !== "path"), { message: "must say what is expected there: `equals`, `contains`, `matches` or `schema`" });
function valueTests(item) {
	const tests = [];
	if (item.equals !== void 0) tests.push({
		kind: "equals",
		value: item.equals
	});
	if (item.contains !== void 0) tests.push({
		kind: "contains",
		text: item.contains
	});
	if (item.matches !== void 0) tests.push({
		kind: "matches",
		pattern: item.matches
	});
	if (item.schema !== void 0) tests.push({
		kind: "schema",
		schema: item.schema
	});
	return tests;
}
const nodeNames = z.array(z.string().min(1)).min(1);
const nodes = z.strictObject({
	"in-order": nodeNames.optional(),
	include: nodeNames.optional()
}).refine((written) => Object.keys(written).length > 0, { message: "must have `in-order` or `include`" });
/** What an answer is held to, as a person writes it. A run that fails is never what nobody asked for: see `status`. */
const writtenExpectations = z.strictObject({
	status: z.enum([
		"success",
		"error",
		"interrupted"
	]).default("success"),
	values: z.array(valueItem).default([]),
	/** As `values`, with `$` standing for the list of messages. */
	messages: z.array(valueItem).default([]),
	nodes: nodes.optional(),
	"first-event-within": within.optional(),
	"total-within": within.optional()
}).transform((written) => [
	{
		kind: "status",
		equals: written.status
	},
	...written.values.flatMap((item) => valueTests(item).map((test) => expected(item.path, test))),
	...written.messages.flatMap((item) => valueTests(item).map((test) => expected(inMessages(item.path), test))),
	...visited("sequence", written.nodes?.["in-order"]),
	...visited("set", written.nodes?.include),
	...soon("first-event", written["first-event-within"]),
	...soon("total", written["total-within"])
]);
const expected = (where, test) => ({
	kind: "value",
	path: where,
	test
});
const inMessages = (where) => `$.messages${where.slice(1)}`;
const visited = (order, names) => names === void 0 ? [] : [{
	kind: "nodes",
	order,
	nodes: names
}];
const soon = (kind, withinMs) => withinMs === void 0 ? [] : [{
	kind,
	withinMs
}];
// src/config/written-smoke-test.ts
/** One smoke test as a person writes it. Three attempts of a minute each, stateless, unless it says otherwise. */
const writtenSmokeTest = z.strictObject({
	name: z.string().trim().min(1).max(200),
	assistant: z.string().trim().min(1),
	context: z.record(z.string(), z.unknown()).optional(),
	thread: z.boolean().default(false),
	input: z.unknown(),
	"stream-modes": z.array(z.enum(STREAM_MODES)).min(1).default(["updates", "values"]),
	expect: writtenExpectations.prefault({}),
	attempts: z.int().min(1).max(20).default(3),
	timeout: duration(100, 18e5).prefault(`60000ms`)
}).transform(({ "stream-modes": streamModes, timeout, context, ...same }) => ({
	...same,
	...context === void 0 ? {} : { context },
	streamModes: [...new Set(streamModes)],
	timeoutMs: timeout
}));
/** The smoke tests of one deployment. Their names tell them apart in every report, so none comes twice. */
const writtenSmokeTests = z.array(writtenSmokeTest).max(100).superRefine((tests, context) => {
	const seen = /* @__PURE__ */ new Set();
	for (const [index, { name }] of tests.entries()) {
		if (seen.has(name)) context.addIssue({
			code: "custom",
			path: [index, "name"],
			message: "is the name of another smoke test too"
		});
		seen.add(name);
	}
});
// src/config/deployment-fields.ts
const oneLine = z.string().trim().min(1).regex(/^[^\p{Cc}]*$/u, "must be one line");
/** An address that is told and logged: a user's password in it would be, too. */
const withoutPassword = (address) => {
	if (!URL.canParse(address)) return true;
	const { protocol, username, password } = new URL(address);
	return password === "" && (username === "" || !protocol.startsWith("http"));
};
const repoUrl = oneLine.refine(withoutPassword, { message: "must not hold a user or a password: the service reads the repository through its integration" });
const repoRef = z.string().transform((written, context) => {
	const read = readRepoRef(written);
	if (read.ok) return read.ref;
	context.addIssue({
		code: "custom",
		message: "must be a branch as its plain name, or a tag as `refs/tags/NAME`; one commit cannot be asked for",
		params: { suggestion: read.suggestion }
	});
	return z.NEVER;
});
const pathInRepository = oneLine.refine((path) => !/^[/\\]|\\|(^|\/)\.\.(\/|$)/.test(path), { message: "must be a path within the repository, with forward slashes, from its root" });
/** The public service takes plain words and `&&` here; what it refuses is told before anything is sent. */
const command = oneLine.refine((line) => !/["'`\\|;$<>]|(?<!&)&(?!&)/.test(line.replaceAll("&&", " ")), { message: "must not hold quotes, backslashes, `|`, `;`, `$`, `<`, `>` or a single `&`: put such a command in a script" });
const webAddress = z.url({ protocol: /^https?$/ }).refine(withoutPassword, { message: "must not hold a user or a password" });
/** Keys of the service's objects may be written with hyphens, like everything else, or as the document has them. */
const spelled = (schema) => z.preprocess(withSnakeKeys, schema);
/** What every deployment may say, in our spelling. */
const commonFields = z.object({
	name: oneLine.exactOptional(),
	deploymentId: z.uuid().exactOptional(),
	secrets: secretNames.exactOptional(),
	secretsStrategy: z.enum(secretsStrategies).default("merge"),
	smokeTests: writtenSmokeTests.default([]),
	onFailure: z.enum(onFailures).default("keep")
});
/** What a deployment from a git repository may say besides. */
const githubFields = z.object({
	integrationId: z.uuid().exactOptional(),
	repoUrl: repoUrl.exactOptional(),
	repoRef: repoRef.exactOptional(),
	graphConfigPath: pathInRepository.exactOptional(),
	deploymentType: deploymentType.exactOptional(),
	buildOnPush: z.boolean().exactOptional(),
	installCommand: command.exactOptional(),
	buildCommand: command.exactOptional(),
	rebuild: z.enum(rebuilds).default("auto")
});
/** What a deployment of an image may say besides. */
const imageFields = z.object({
	imageUri: oneLine.regex(/^\S+$/, "must not hold spaces").exactOptional(),
	customUrl: webAddress.exactOptional(),
	listenerId: z.uuid().exactOptional(),
	k8sNamespace: dnsLabel.exactOptional(),
	resourceSpec: spelled(resourceSpec).exactOptional(),
	secretReferences: z.array(spelled(secretReference)).exactOptional()
});
/** Every field of a deployment, by the name that a person writes: in the file, and as an input. */
const deploymentFieldNames = ["source", ...[
	commonFields,
	githubFields,
	imageFields
].flatMap(({ shape }) => Object.keys(shape).map(toKebab))];
// src/config/deploy-file.ts
/** Where the deploy file is looked for when nobody says otherwise. */
const defaultConfigPath = ".github/landfall.yml";
/** Reads a deploy file as far as its deployments: one at its top level, or many under `deployments`, each by its name. */
function readDrafts(text, path) {
	const parsed = parseText(text, path);
	if (!parsed.ok) return parsed;
	const { value } = parsed;
	const tell = (place, field, message, suggestion) => ({
		ok: false,
		problems: [{
			file: path,
			...place,
			field,
			message,
			...suggestion === void 0 ? {} : { suggestion }
		}]
	});
	if (!isMap(value)) return tell(parsed.placeOf([]), "", `a deploy file must be a map, with \`deployments\` or the fields of one, not ${kindOf(value)}`);
	if (!Object.hasOwn(value, "deployments")) {
		const slip = Object.keys(value).find((key) => !deploymentFieldNames.includes(key) && didYouMean(key, ["deployments"]));
		if (slip !== void 0) return tell(parsed.placeOfKey([slip]), slip, `\`${slip}\` is not known`, "deployments");
		return {
			ok: true,
			drafts: [draftOf(value, parsed, [])]
		};
	}
	const { deployments, ...beside } = value;
	const [stray] = Object.keys(beside);
	if (stray !== void 0) return tell(parsed.placeOfKey([stray]), stray, `\`${stray}\` stands beside \`deployments\`: move it into one of them`);
	if (!isMap(deployments) || Object.keys(deployments).length === 0) return tell(parsed.placeOf(["deployments"]), "deployments", "`deployments` must be a map with at least one deployment under its name");
	return many(deployments, parsed);
}
function many(deployments, places) {
	const problems = [];
	const drafts = [];
	for (const [key, fields] of Object.entries(deployments)) {
		const at = ["deployments", key];
		if (isMap(fields)) drafts.push({
			...draftOf(fields, places, at),
			key
		});
		else {
			const message = `\`${key}\` must be a map of the fields of a deployment, not ${kindOf(fields)}`;
			problems.push({
				file: places.file,
				...places.placeOf(at),
				field: `deployments.${key}`,
				message
			});
		}
	}
	return problems.length > 0 ? {
		ok: false,
		problems
	} : {
		ok: true,
		drafts
	};
}
/** The key of a deployment is its name, unless it says another. */
function draftOf(fields, places, within) {
	const own = {
		file: places.file,
		placeOf: (path) => places.placeOf([...within, ...path]),
		placeOfKey: (path) => places.placeOfKey([...within, ...path])
	};
	const written = /* @__PURE__ */ new Map();
	const key = within.at(-1);
	if (typeof key === "string") written.set("name", {
		value: key,
		places: own,
		within
	});
	for (const [name, value] of Object.entries(fields)) written.set(name, {
		value,
		places: own,
		within
	});
	return {
		fields: written,
		file: places.file,
		place: places.placeOfKey(within),
		within
	};
}
const isMap = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
// src/config/draft.ts
/** A deployment's file with the inputs beside it: an input wins over the field of its name. */
const overridden = (draft, inputs) => ({
	...draft,
	fields: new Map([...draft.fields, ...inputs])
});
/** A problem of one field, told at its key, or at `path` within it. */
function fieldProblem(written, path, message, suggestion) {
	const { places, within } = written;
	const place = path.length > 1 ? places.placeOf(path) : places.placeOfKey(path);
	const field = fieldName([...within, ...path]);
	return {
		file: places.file,
		...place,
		field,
		message,
		...suggestion === void 0 ? {} : { suggestion }
	};
}
/** A problem of a deployment as a whole. */
const draftProblem = ({ file, place, within }, message) => ({
	file,
	...place,
	field: fieldName(within),
	message
});
/** The values of a draft under our own spelling, as the schemas of the fields take them. */
function valuesOf(draft, spell) {
	return Object.fromEntries([...draft.fields].map(([name, { value }]) => [spell(name), value]));
}
/** What a schema of our spelling found wrong in a draft, each at the field that it is about. */
function issueProblems(issues, schema, draft) {
	const values = valuesOf(draft, (name) => name);
	return issues.flatMap((issue) => {
		const written = draft.fields.get(toKebab(String(issue.path[0])));
		if (!written) return [draftProblem(draft, issue.message)];
		return problemsOf([issue], {
			schema,
			value: values,
			places: written.places,
			within: written.within,
			writtenPath: (path) => writtenPath(values, path),
			spell: toKebab,
			synonyms
		});
	});
}
// src/config/inputs.ts
/** What problems of inputs have in the place of a file. */
const inputsFile = "input";
/** Inputs whose text is YAML or JSON of its own. */
const structured = /* @__PURE__ */ new Set([
	"resource-spec",
	"secret-references",
	"smoke-tests"
]);
const start = {
	line: 1,
	column: 1
};
/** The inputs that are fields of a deployment; all others belong to the door. */
function readInputFields(inputs) {
	const fields = /* @__PURE__ */ new Map();
	const problems = [];
	for (const name of deploymentFieldNames) {
		const text = inputText(inputs, name);
		if (text === void 0) continue;
		const read = readInput(name, text);
		if ("problems" in read) problems.push(...read.problems);
		else fields.set(name, {
			...read,
			within: []
		});
	}
	return {
		fields,
		problems
	};
}
/** The text of an input, or undefined where it was not given. */
function inputText(inputs, name) {
	const text = inputs[name];
	return text === void 0 || text.trim() === "" ? void 0 : text;
}
const inputProblem = (field, message, suggestion) => ({
	file: inputsFile,
	...start,
	field,
	message,
	...suggestion === void 0 ? {} : { suggestion }
});
function readInput(name, text) {
	if (structured.has(name)) return structure(name, text);
	if (name === "secrets") return lines(text);
	const places = {
		file: inputsFile,
		placeOf: () => start,
		placeOfKey: () => start
	};
	return {
		value: name === "build-on-push" ? booleanOr(text.trim()) : text.trim(),
		places
	};
}
/** The booleans of YAML 1.2's core schema, as GitHub's own toolkit reads them; anything else stays text and is refused. */
function booleanOr(text) {
	if (/^(?:true|True|TRUE)$/.test(text)) return true;
	return /^(?:false|False|FALSE)$/.test(text) ? false : text;
}
/** Lines and columns count within the input: where it stands in the workflow file is not known to the step. */
function structure(name, text) {
	const parsed = parseText(text, inputsFile);
	if (!parsed.ok) return { problems: parsed.problems.map((problem) => ({
		...problem,
		field: name,
		message: `\`${name}\`: ${problem.message}`
	})) };
	const places = {
		file: inputsFile,
		placeOf: (path) => parsed.placeOf(path.slice(1)),
		placeOfKey: (path) => parsed.placeOfKey(path.slice(1))
	};
	return {
		value: parsed.value,
		places
	};
}
/** One name a line; empty lines and comments are passed over. */
function lines(text) {
	const names = text.split(/\r?\n/).flatMap((line, index) => {
		const written = line.replace(/(^|\s)#.*$/, "").trim();
		return written === "" ? [] : [{
			written,
			place: {
				line: index + 1,
				column: line.indexOf(written) + 1
			}
		}];
	});
	const placeOf = ([, index]) => names[Number(index)]?.place ?? start;
	return {
		value: names.map(({ written }) => written),
		places: {
			file: inputsFile,
			placeOf,
			placeOfKey: placeOf
		}
	};
}
// src/config/source-rules.ts
/** The sources that this version deploys. */
const deployable = ["github", "external_docker"];
/** The sources that a field applies to, by the name that a person writes: the document's rules, and our own `rebuild`. */
const appliesTo = new Map([...fieldRules.map((rule) => [toKebab(rule.path.split(".").at(-1) ?? ""), rule.appliesTo]), ["rebuild", ["github"]]]);
/** The deployable sources that may have a field. A field that no rule speaks of is judged elsewhere. */
const ownersOf = (name) => deployable.filter((source) => appliesTo.get(name)?.includes(source) ?? true);
/** Reads `source`, or finds it from the fields that only one source has. */
function readSource(draft) {
	const written = draft.fields.get("source");
	if (!written) return inferred(draft);
	const source = deployable.find((each) => each === written.value);
	if (source) return {
		source,
		problems: strangers(draft, source)
	};
	const known = sources.find((each) => each === written.value);
	const message = known ? `this version cannot deploy \`${known}\` yet: \`source\` must be one of ${quoted$1(deployable)}` : `\`source\` must be one of ${quoted$1(deployable)}`;
	const suggestion = !known && typeof written.value === "string" ? didYouMean(written.value, deployable) : void 0;
	const place = written.places.placeOf(["source"]);
	return {
		source: void 0,
		problems: [{
			...fieldProblem(written, ["source"], message, suggestion),
			...place
		}]
	};
}
function strangers(draft, source) {
	return [...draft.fields].flatMap(([name, written]) => {
		const owners = ownersOf(name);
		if (owners.includes(source)) return [];
		const message = `\`${name}\` belongs to the source ${quoted$1(owners)}, not to \`${source}\``;
		return [fieldProblem(written, [name], message)];
	});
}
function inferred(draft) {
	const [one, other] = deployable.map((source) => ({
		source,
		field: fieldOnlyOf(draft, source)
	})).filter(({ field }) => field !== void 0);
	if (!one) return {
		source: void 0,
		problems: [draftProblem(draft, `\`source\` is missing: write one of ${quoted$1(deployable)}`)]
	};
	const written = other?.field === void 0 ? void 0 : draft.fields.get(other.field);
	if (!other?.field || !written) return {
		source: one.source,
		problems: []
	};
	const message = `\`${other.field}\` belongs to the source \`${other.source}\` and \`${one.field}\` to \`${one.source}\`: keep the fields of one`;
	return {
		source: void 0,
		problems: [fieldProblem(written, [other.field], message)]
	};
}
function fieldOnlyOf(draft, source) {
	return [...draft.fields.keys()].find((name) => {
		const owners = ownersOf(name);
		return owners.length === 1 && owners[0] === source;
	});
}
/** A tag never moves, so nothing can be pushed to it (control-service.md, source_config: `build_on_push`). */
function tagProblems(draft) {
	const onPush = draft.fields.get("build-on-push");
	const ref = draft.fields.get("repo-ref");
	if (onPush?.value !== true || typeof ref?.value !== "string") return [];
	const read = readRepoRef(ref.value);
	if (!read.ok || !isTagRef(read.ref)) return [];
	return [fieldProblem(onPush, ["build-on-push"], "`build-on-push` must be false where `repo-ref` is a tag")];
}
const quoted$1 = (words) => words.map((word) => `\`${word}\``).join(", ");
// src/config/read-draft.ts
/** A draft as what should run. Without an environment the values of its secrets are not looked up, and left alone. */
function readDesiredDraft(draft, environment) {
	const values = valuesOf(draft, toCamel);
	const common = commonFields.safeParse(values);
	const github = githubFields.safeParse(values);
	const image = imageFields.safeParse(values);
	const { source, problems: sourceProblems } = readSource(draft);
	const problems = [
		...fieldProblems(draft),
		...sourceProblems,
		...tagProblems(draft),
		...common.success ? [] : issueProblems(common.error.issues, commonFields, draft),
		...github.success || source === "external_docker" ? [] : issueProblems(github.error.issues, githubFields, draft),
		...image.success || source === "github" ? [] : issueProblems(image.error.issues, imageFields, draft)
	];
	const secrets = environment ? taken(draft, environment, problems) : void 0;
	if (problems.length === 0 && common.success) {
		const { secrets: _, smokeTests, onFailure, ...whom } = common.data;
		const asked = {
			...whom,
			...secrets ? { secrets } : {}
		};
		const proof = {
			smokeTests,
			onFailure
		};
		if (source === "github" && github.success) return {
			ok: true,
			value: {
				desired: {
					...asked,
					source,
					...github.data
				},
				...proof
			}
		};
		if (source === "external_docker" && image.success) return {
			ok: true,
			value: {
				desired: {
					...asked,
					source,
					...image.data
				},
				...proof
			}
		};
	}
	return {
		ok: false,
		problems: inOrder(problems)
	};
}
/** A draft as a deployment that is only asked or rolled back: nothing about its source has to be said. */
function readAskedDraft(draft) {
	const common = commonFields.safeParse(valuesOf(draft, toCamel));
	const problems = [...fieldProblems(draft), ...common.success ? [] : issueProblems(common.error.issues, commonFields, draft)];
	if (problems.length > 0 || !common.success) return {
		ok: false,
		problems: inOrder(problems)
	};
	const { secrets: _, secretsStrategy: __, ...asked } = common.data;
	return {
		ok: true,
		value: asked
	};
}
function fieldProblems(draft) {
	const problems = [...draft.fields].flatMap(([name, written]) => {
		if (deploymentFieldNames.includes(name)) return spellingProblems(written, [name], written.value);
		const suggestion = synonyms.get(name) ?? didYouMean(name, deploymentFieldNames);
		return [fieldProblem(written, [name], `\`${name}\` is not a field of a deployment`, suggestion)];
	});
	if (draft.fields.has("name") || draft.fields.has("deployment-id")) return problems;
	return [...problems, draftProblem(draft, "`name` or `deployment-id` must say which deployment is meant")];
}
function spellingProblems(written, path, value) {
	if (Array.isArray(value)) return value.flatMap((item, index) => spellingProblems(written, [...path, index], item));
	return keysInTwoSpellings(value).map((key) => {
		const at = [...path, key];
		return {
			...fieldProblem(written, at, `\`${fieldName(at)}\` is there in two spellings`),
			...written.places.placeOfKey(at)
		};
	});
}
/** The values of the draft's secrets; absent where it has none to say. */
function taken(draft, environment, problems) {
	const written = draft.fields.get("secrets");
	return written && secretValues(written.value, environment, (index, message) => {
		problems.push(fieldProblem(written, ["secrets", index], `\`secrets[${index}]\` ${message}`));
	});
}
// src/config/read-desired.ts
/**
* The deployments that a person asked for: those of the file, or the one that the input `deployment` chooses, or the
* one that the inputs describe. An input beside the file wins over the file's field. Every problem at once.
*/
function readDesired(asked) {
	return readEach(asked, (draft) => readDesiredDraft(draft, asked.env));
}
/** The same for `smoke` and `rollback`, which write nothing: no source, no secret has to be there. */
function readAsked(asked) {
	return readEach(asked, readAskedDraft);
}
function readEach(asked, read) {
	const { drafts, problems } = draftsOf(asked);
	const deployments = [];
	for (const draft of drafts) {
		const result = read(draft);
		if (result.ok) deployments.push(result.value);
		else problems.push(...result.problems);
	}
	return problems.length > 0 ? {
		ok: false,
		problems
	} : {
		ok: true,
		deployments
	};
}
function draftsOf({ inputs, file }) {
	const { fields, problems } = readInputFields(inputs);
	if (file) {
		const drafts = readDrafts(file.text, file.path);
		if (!drafts.ok) return {
			drafts: [],
			problems: [...problems, ...drafts.problems]
		};
		const chosen = choose(drafts.drafts, inputs, fields);
		return {
			drafts: chosen.drafts,
			problems: [...problems, ...chosen.problems]
		};
	}
	const config = inputText(inputs, "config")?.trim();
	if (config !== void 0 && config !== ".github/landfall.yml") return {
		drafts: [],
		problems: [...problems, inputProblem("config", "there is no file at the path that `config` gives")]
	};
	if (inputText(inputs, "deployment") !== void 0) {
		const message = `\`deployment\` chooses from a deploy file, and there is no ${defaultConfigPath}: write one, or give the input \`name\` instead`;
		return {
			drafts: [],
			problems: [...problems, inputProblem("deployment", message)]
		};
	}
	if (!fields.has("name") && !fields.has("deployment-id")) return {
		drafts: [],
		problems: [...problems, inputProblem("name", nothingNamed)]
	};
	return {
		drafts: [{
			fields,
			file: inputsFile,
			place: {
				line: 1,
				column: 1
			},
			within: []
		}],
		problems
	};
}
const nothingNamed = `nothing says which deployment is meant: write ${defaultConfigPath}, or give the inputs, for example \`name: support\`, \`source: github\`, \`repo-url: https://github.com/acme/agents\`, \`repo-ref: main\` and \`graph-config-path: langgraph.json\``;
/** The drafts of a file that are meant, with the inputs put over the one that they speak of. */
function choose(drafts, inputs, fields) {
	const named = inputText(inputs, "deployment")?.trim();
	const names = drafts.map(nameOf);
	if (named !== void 0) {
		const chosen = drafts.find(({ key }) => key === named) ?? drafts.find((draft) => nameOf(draft) === named);
		if (chosen) return {
			drafts: [overridden(chosen, fields)],
			problems: []
		};
		const message = `the deploy file has no deployment of the name that \`deployment\` gives; it has ${quoted(names)}`;
		return {
			drafts: [],
			problems: [inputProblem("deployment", message, didYouMean(named, names))]
		};
	}
	const [only, ...more] = drafts;
	if (only && more.length === 0) return {
		drafts: [overridden(only, fields)],
		problems: []
	};
	if (fields.size === 0) return {
		drafts,
		problems: namesakes(drafts)
	};
	const message = `${quoted([...fields.keys()])} cannot speak of all deployments of the file: choose one with \`deployment\`, of ${quoted(names)}`;
	return {
		drafts: [],
		problems: [inputProblem("deployment", message)]
	};
}
/** Two deployments of one name would be one deployment that is changed twice. */
function namesakes(drafts) {
	const seen = /* @__PURE__ */ new Set();
	return drafts.flatMap((draft) => {
		const name = nameOf(draft);
		const written = draft.fields.get("name");
		if (seen.has(name) && written) return [fieldProblem(written, ["name"], `another deployment of this file is named \`${name}\` too`)];
		seen.add(name);
		return [];
	});
}
function nameOf({ key, fields }) {
	const name = fields.get("name")?.value;
	return typeof name === "string" ? name : key ?? "without a name";
}
const quoted = (words) => words.map((word) => `\`${word}\``).join(", ");
// src/cli/files.ts
/** Reads a text file, relative to the working directory. */
function readTextFile(path) {
	try {
		return {
			kind: "read",
			text: readFileSync(path, "utf8")
		};
	} catch (error) {
		if (!(error instanceof Error && "code" in error)) throw error;
		if (error.code === "ENOENT" || error.code === "ENOTDIR") return { kind: "absent" };
		return {
			kind: "unreadable",
			problem: {
				file: path,
				line: 1,
				column: 1,
				field: "",
				message: error.code === "EISDIR" ? "this is a folder" : `this file cannot be read (${String(error.code)})`
			}
		};
	}
}
// src/cli/problems.ts
/** A problem of an input as it is called here: `--smoke-tests:3:5` in the place of `input:3:5`. */
function onCommandLine(problem) {
	return problem.file === "input" ? {
		...problem,
		file: `--${problem.field.split(/[.[]/)[0] ?? ""}`
	} : problem;
}
/** Every problem on a line of its own, as compilers tell theirs. */
function complain(terminal, problems) {
	for (const problem of problems) terminal.complain(formatProblem(problem));
}
/** A problem with an option as a whole. */
const optionProblem = (option, message) => ({
	file: inputsFile,
	line: 1,
	column: 1,
	field: option,
	message
});
export { readAsked as a, readDrafts as c, readTextFile as i, onCommandLine as n, readDesired as o, optionProblem as r, defaultConfigPath as s, complain as t };
