import { t as didYouMean } from "./did-you-mean.js";
import * as z from "zod";
import { FunctionExpressionType, JSONPathEnvironment, JSONPathError } from "json-p3";
import { RE2JS, RE2JSSyntaxException } from "re2js";
import { dereference, validate } from "@cfworker/json-schema";
// src/config/duration.ts
const unitMs = {
	ms: 1,
	s: 1e3,
	m: 6e4,
	h: 36e5
};
const isUnit = (word) => word !== void 0 && word in unitMs;
/** `1500ms`, `5s`, `2.5m`, `1h` in whole milliseconds; undefined for anything else. */
function durationMs(written) {
	const [, amount, unit] = /^(\d{1,9}(?:\.\d{1,3})?) ?(ms|s|m|h)$/.exec(written) ?? [];
	return isUnit(unit) ? Math.round(Number(amount) * unitMs[unit]) : void 0;
}
/** A duration as a person writes it, as milliseconds from `least` to `most`. */
const duration = (least, most) => z.unknown().transform((written, context) => {
	const ms = typeof written === "string" ? durationMs(written) : void 0;
	if (ms !== void 0 && ms >= least && ms <= most) return ms;
	const message = ms === void 0 ? "must be a duration such as `1500ms`, `5s` or `2m`" : `must be a duration from ${spoken(least)} to ${spoken(most)}`;
	context.addIssue({
		code: "custom",
		message
	});
	return z.NEVER;
});
/** Milliseconds in the largest unit that tells them without a fraction. */
function spoken(ms) {
	const [unit = "ms", size = 1] = Object.entries(unitMs).findLast(([, each]) => ms >= each && ms % each === 0) ?? [];
	return `${ms / size}${unit}`;
}
// src/config/pattern.ts
/** Characters of a pattern as it is written. */
const longestPattern = 1e3;
/** Instructions of a compiled pattern. RE2 takes time by this times the length of the text, so both are bounded. */
const largestProgram = 1e3;
/**
* Compiles a regular expression of RE2's syntax: no look-around and no back references, and in return no text can
* make it slow. The problem goes on from the name of the field and quotes nothing.
*/
function compilePattern(written) {
	if (written.length > longestPattern) return {
		ok: false,
		problem: `must have at most ${longestPattern} characters`
	};
	try {
		const pattern = RE2JS.compile(written);
		if (pattern.programSize() > largestProgram) return {
			ok: false,
			problem: "must be simpler: its repetitions unfold to too many steps"
		};
		return {
			ok: true,
			pattern
		};
	} catch (error) {
		if (!(error instanceof RE2JSSyntaxException)) throw error;
		const why = /^error parsing regexp: ([^`]*?):? *(?:`|$)/.exec(error.message)?.[1];
		return {
			ok: false,
			problem: `must be a regular expression of RE2${why ? `: ${why}` : ""}`
		};
	}
}
// src/config/json-path.ts
const longestPath = 500;
/** Patterns that one query may use; the ones it finds in the values itself count too. */
const mostPatterns = 10;
/** Longer texts (characters) match nothing in a filter. */
const longestMatched = 1e4;
/**
* Compiles a JSONPath query (RFC 9535). Its `match` and `search` run on RE2, because the values that they look at are
* a stranger's; `..` may stand in it once, because every one multiplies the work by the size of the values.
* The problem goes on from the name of the field and quotes nothing.
*/
function compilePath(written) {
	if (!written.startsWith("$")) return {
		ok: false,
		problem: "must be a JSONPath query: begin with `$`, the values of the run"
	};
	if (written.length > longestPath) return {
		ok: false,
		problem: `must have at most ${longestPath} characters`
	};
	if (written.split("..").length > 2) return {
		ok: false,
		problem: "must have `..` at most once"
	};
	try {
		return {
			ok: true,
			query: boundedEnvironment().compile(written)
		};
	} catch (error) {
		if (!(error instanceof JSONPathError)) throw error;
		return {
			ok: false,
			problem: `must be a JSONPath query (RFC 9535): it breaks at its character ${error.token.index + 1}`
		};
	}
}
function boundedEnvironment() {
	const environment = new JSONPathEnvironment({ maxRecursionDepth: 110 });
	const compiled = /* @__PURE__ */ new Map();
	const patternOf = (written) => {
		if (!compiled.has(written) && compiled.size < mostPatterns) {
			const result = compilePattern(written);
			compiled.set(written, result.ok ? result.pattern : void 0);
		}
		return compiled.get(written);
	};
	const { ValueType, LogicalType } = FunctionExpressionType;
	const matching = (test) => ({
		argTypes: [ValueType, ValueType],
		returnType: LogicalType,
		call: (text, written) => {
			if (typeof text !== "string" || typeof written !== "string" || text.length > longestMatched) return false;
			const pattern = patternOf(written);
			return pattern !== void 0 && test(pattern, text);
		}
	});
	environment.functionRegister.set("match", matching((pattern, text) => pattern.matches(text)));
	environment.functionRegister.set("search", matching((pattern, text) => pattern.matcher(text).find()));
	return environment;
}
// src/config/json-schema.ts
/** The draft by which expectations are judged. */
const schemaDraft = "2020-12";
const types = [
	"string",
	"number",
	"integer",
	"boolean",
	"object",
	"array",
	"null"
];
/** The formats that are checked, each by a pattern that no text makes slow; any other one would pass unseen. */
const schemaFormats = [
	"date",
	"time",
	"date-time",
	"duration",
	"uri",
	"uri-reference",
	"uri-template",
	"email",
	"hostname",
	"ipv4",
	"ipv6",
	"uuid",
	"regex",
	"json-pointer",
	"relative-json-pointer"
];
/** Every `$ref` can double the work, so their number is what bounds it. */
const mostReferences = 20;
const mostSubschemas = 500;
/** Keywords whose value is data, and keywords whose value is a map from names to schemas. */
const dataKeywords = /* @__PURE__ */ new Set([
	"const",
	"enum",
	"default",
	"examples",
	"required",
	"dependentRequired"
]);
const mapKeywords = /* @__PURE__ */ new Set([
	"properties",
	"patternProperties",
	"$defs",
	"definitions",
	"dependentSchemas",
	"dependencies"
]);
/** Visits a schema and all schemas within it; names of properties and data that looks like a schema are left out. */
function walkSchema(schema, visit, path = []) {
	if (Array.isArray(schema)) for (const [index, each] of schema.entries()) walkSchema(each, visit, [...path, index]);
	if (!isObject(schema)) return;
	visit(schema, path);
	for (const [keyword, value] of Object.entries(schema)) {
		if (dataKeywords.has(keyword)) continue;
		if (!mapKeywords.has(keyword)) walkSchema(value, visit, [...path, keyword]);
		else if (isObject(value)) for (const [name, each] of Object.entries(value)) walkSchema(each, visit, [
			...path,
			keyword,
			name
		]);
	}
}
/** What makes a schema unusable: a type that there is not, a pattern that does not compile, a reference to nowhere. */
function schemaFaults(schema) {
	const faults = [];
	let references = 0;
	let subschemas = 0;
	walkSchema(schema, (each, path) => {
		subschemas += 1;
		const reference = each["$ref"];
		if (typeof reference === "string") references += 1;
		if (typeof reference === "string" && reference.includes("/patternProperties/")) faults.push({
			path: [...path, "$ref"],
			problem: "cannot lead through `patternProperties`"
		});
		faults.push(...wordFaults(each, "type", types, path), ...wordFaults(each, "format", schemaFormats, path));
		faults.push(...patternFaults(each, path));
	});
	if (subschemas > mostSubschemas) faults.push({
		path: [],
		problem: `must hold at most ${mostSubschemas} schemas`
	});
	if (references > mostReferences) faults.push({
		path: [],
		problem: `must hold at most ${mostReferences} references`
	});
	return faults.length > 0 ? faults : referenceFaults(schema);
}
function wordFaults(schema, keyword, known, path) {
	const written = schema[keyword];
	return (written === void 0 ? [] : Array.isArray(written) ? written : [written]).flatMap((word) => {
		if (typeof word === "string" && known.includes(word)) return [];
		const suggestion = typeof word === "string" ? didYouMean(word, known) : void 0;
		const problem = `must be one of ${known.map((each) => `\`${each}\``).join(", ")}`;
		return [{
			path: [...path, keyword],
			problem,
			...suggestion === void 0 ? {} : { suggestion }
		}];
	});
}
function patternFaults(schema, path) {
	const written = [];
	if (typeof schema["pattern"] === "string") written.push([[...path, "pattern"], schema["pattern"]]);
	for (const key of isObject(schema["patternProperties"]) ? Object.keys(schema["patternProperties"]) : []) written.push([[
		...path,
		"patternProperties",
		key
	], key]);
	return written.flatMap(([at, pattern]) => {
		const compiled = compilePattern(pattern);
		return compiled.ok ? [] : [{
			path: at,
			problem: compiled.problem
		}];
	});
}
/**
* Tries every schema within the schema once: what leads nowhere or round in a circle shows on any value.
* The library writes into what it is given, so it is given a copy.
*/
function referenceFaults(schema) {
	const copy = structuredClone(schema);
	try {
		const lookup = dereference(copy);
		for (const each of Object.values(lookup)) validate(null, each, schemaDraft, lookup);
		return [];
	} catch (error) {
		if (error instanceof RangeError) return [{
			path: [],
			problem: "has references that lead round in a circle"
		}];
		if (!(error instanceof Error)) throw error;
		return [{
			path: [],
			problem: /Unresolved \$ref/.test(error.message) ? "has a `$ref` that leads nowhere" : "must be a JSON Schema that can be used"
		}];
	}
}
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
export { compilePath as a, spoken as c, walkSchema as i, schemaFaults as n, compilePattern as o, schemaFormats as r, duration as s, schemaDraft as t };
