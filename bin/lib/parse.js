import { t as didYouMean } from "./did-you-mean.js";
import * as z from "zod";
import { Lexer, LineCounter, isAlias, isCollection, isMap, isNode, isScalar, isSeq, parseDocument, visit } from "yaml";
// src/located/issue-words.ts
const kinds = {
	string: "text",
	number: "a number",
	int: "a whole number",
	boolean: "`true` or `false`",
	array: "a list",
	object: "a map",
	record: "a map",
	null: "empty",
	undefined: "absent"
};
const formats = {
	uuid: "must be a uuid",
	guid: "must be a uuid",
	url: "must be a URL",
	email: "must be an e-mail address",
	datetime: "must be a date and time in ISO 8601"
};
/** What kind of thing stands there, never what it says. */
function kindOf(value) {
	if (value === null) return "nothing";
	if (Array.isArray(value)) return "a list";
	if (typeof value === "boolean") return "true or false";
	return kinds[typeof value] ?? "something else";
}
/** The words that an enum or a literal allows; empty for every other issue. */
function allowedWords(issue) {
	if (issue.code === "invalid_value") return issue.values.map(String);
	if (issue.code === "invalid_union" && !("matches" in issue)) return (issue.options ?? []).map(String);
	return [];
}
/** A sentence about the field `name` (empty for the whole), whose value is `found`. */
function wordIssue(issue, name, found) {
	const it = name === "" ? "this" : `\`${name}\``;
	if (issue.code === "custom") return own(issue.message, it, name);
	if (found === void 0) return `${it} is missing`;
	const words = allowedWords(issue);
	if (words.length > 0) return `${it} must be ${words.length > 1 ? "one of " : ""}${words.map(quoted).join(", ")}`;
	switch (issue.code) {
		case "invalid_type": return `${it} must be ${kinds[issue.expected] ?? issue.expected}, not ${kindOf(found)}`;
		case "too_small": return issue.origin === "string" && Number(issue.minimum) === 1 ? `${it} must not be empty` : `${it} must ${amount(issue.origin, issue.inclusive === false ? "more than" : "at least", issue.minimum)}`;
		case "too_big": return `${it} must ${amount(issue.origin, issue.inclusive === false ? "less than" : "at most", issue.maximum)}`;
		case "invalid_format": return issue.message.startsWith("Invalid") ? `${it} ${formats[issue.format] ?? "is not written as it must be"}` : own(issue.message, it, name);
		case "invalid_key": return `${it} is not a name that is allowed here`;
		case "not_multiple_of": return `${it} must be a multiple of ${issue.divisor}`;
		default: return issue.message.startsWith("Invalid") ? `${it} is not what belongs here` : own(issue.message, it, name);
	}
}
/** A schema's own message: `must ...` goes on from the name, anything else follows it. */
function own(message, it, name) {
	if (message === "Invalid input") return `${it} is not what belongs here`;
	if (/^(must|cannot|is|holds|has) /.test(message)) return `${it} ${message}`;
	return name === "" ? message : `${it}: ${message}`;
}
function amount(origin, bound, limit) {
	if (origin === "string") return `have ${bound} ${limit} ${Number(limit) === 1 ? "character" : "characters"}`;
	if (origin === "array" || origin === "set") return `have ${bound} ${limit} ${Number(limit) === 1 ? "item" : "items"}`;
	return `be ${bound} ${limit}`;
}
const quoted = (word) => `\`${word}\``;
// src/located/known-keys.ts
/** The keys that a schema knows for the map at `path`; of every form, where there are several. */
function knownKeys(schema, path) {
	let reached = forms(schema);
	for (const part of path) reached = reached.flatMap((form) => inside(form, part)).flatMap(forms);
	return [...new Set(reached.flatMap((form) => form instanceof z.ZodObject ? Object.keys(form.shape) : []))];
}
/** A schema without what is wrapped around it, a union as all that it may be. */
function forms(schema) {
	if (schema instanceof z.ZodUnion) return schema.options.flatMap(forms);
	if (schema instanceof z.ZodLazy) return forms(schema.unwrap());
	if (schema instanceof z.ZodPipe) return forms(schema.in instanceof z.ZodTransform ? schema.out : schema.in);
	if (schema instanceof z.ZodOptional || schema instanceof z.ZodExactOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodReadonly) return forms(schema.unwrap());
	return [schema];
}
function inside(form, part) {
	if (form instanceof z.ZodArray) return [form.element];
	if (form instanceof z.ZodRecord) return [form.valueType];
	if (!(form instanceof z.ZodObject)) return [];
	const field = form.shape[part];
	return field ? [field] : [];
}
// src/located/problem.ts
/** `a.b[0].c`; the empty path is the empty string. */
function fieldName(path) {
	return path.reduce((name, part) => {
		if (typeof part === "number") return `${name}[${part}]`;
		return name === "" ? part : `${name}.${part}`;
	}, "");
}
/** `file:line:column: message`, as compilers write it and editors open it. */
function formatProblem({ file, line, column, message, suggestion }) {
	return `${file}:${line}:${column}: ${message}${suggestion === void 0 ? "" : `; did you mean \`${suggestion}\`?`}`;
}
/** Problems in the order in which a person meets them, file by file. */
function inOrder(problems) {
	return problems.toSorted((one, other) => one.file.localeCompare(other.file) || one.line - other.line || one.column - other.column);
}
// src/located/issues.ts
/** Every issue of a schema as problems with their places. */
function problemsOf(issues, checked) {
	return issues.flatMap((issue) => issue.code === "unrecognized_keys" ? unknownKeys(issue, checked) : told(issue, checked));
}
function told(issue, checked) {
	const inner = issue.code === "invalid_union" ? meantForm(issue) : void 0;
	if (inner) return problemsOf(inner.map((each) => ({
		...each,
		path: [...issue.path, ...each.path]
	})), checked);
	const path = fieldPath(issue.path);
	const written = writtenPath(path, checked);
	const found = valueAt(checked.value, written);
	const message = formsMessage(issue, fieldName(written), found) ?? wordIssue(issue, fieldName(written), found);
	const meant = suggestionFor(issue, found);
	return [problem(checked, written, checked.places.placeOf(written), message, meant)];
}
function unknownKeys(issue, checked) {
	const path = fieldPath(issue.path);
	const known = knownKeys(checked.schema, path);
	return issue.keys.map((key) => {
		const written = writtenPath([...path, key], checked);
		const meant = checked.synonyms?.get(key) ?? didYouMean(key, known);
		const message = `\`${fieldName(written)}\` is not known`;
		return problem(checked, written, checked.places.placeOfKey(written), message, meant && (checked.spell?.(meant) ?? meant));
	});
}
/** The one form of a union that was probably meant: the only one that the value is of the right kind for. */
function meantForm(issue) {
	const fitting = issue.errors.filter((issues) => !issues.some(({ path, code }) => path.length === 0 && wrongKind(code)));
	return fitting.length === 1 ? fitting[0] : void 0;
}
const wrongKind = (code) => code === "invalid_type" || code === "invalid_value";
/** A union that the value is of no right kind for: all kinds in one sentence. */
function formsMessage(issue, name, found) {
	if (issue.code !== "invalid_union" || issue.errors.length === 0 || found === void 0) return void 0;
	const sentences = issue.errors.flatMap((issues) => issues.filter(({ path }) => path.length === 0).slice(0, 1));
	const wanted = [...new Set(sentences.map((each) => /must be (.+?)(?:, not [^,]*)?$/.exec(wordIssue(each, "", found))?.[1]))];
	const words = wanted.filter((word) => word !== void 0);
	if (words.length === 0 || words.length < wanted.length) return void 0;
	return `\`${name}\` must be ${words.join(", or ")}, not ${kindOf(found)}`;
}
function suggestionFor(issue, found) {
	if (issue.code === "custom" && typeof issue.params?.["suggestion"] === "string") return issue.params["suggestion"];
	return typeof found === "string" ? didYouMean(found, allowedWords(issue)) : void 0;
}
function problem({ places, within = [] }, path, place, message, suggestion) {
	const field = fieldName([...within, ...path]);
	return {
		file: places.file,
		...place,
		field,
		message,
		...suggestion === void 0 ? {} : { suggestion }
	};
}
const writtenPath = (path, checked) => checked.writtenPath?.(path) ?? path;
const fieldPath = (path) => path.map((part) => typeof part === "number" ? part : String(part));
/** What stands at a path; undefined where nothing does. */
function valueAt(value, path) {
	return path.reduce((inner, part) => typeof inner === "object" && inner !== null && Object.hasOwn(inner, part) ? Reflect.get(inner, part) : void 0, value);
}
// src/located/document-rules.ts
/** Every alias is looked up among all anchors before it, so their number is bounded as well as what they unfold to. */
const mostAliases = 100;
/**
* What the parser lets pass: keys written twice (it would compare every key with every other), aliases of nothing or
* of themselves, numbers that JSON cannot carry.
*/
function odditiesOf(document) {
	const oddities = [];
	const anchors = /* @__PURE__ */ new Map();
	let aliases = 0;
	visit(document, (_, node) => {
		if (!isNode(node)) return;
		const tell = (message, at = node) => void oddities.push({
			offset: startOf(at),
			message
		});
		if (isAlias(node)) {
			aliases += 1;
			const named = anchors.get(node.source);
			if (aliases === 101) tell(`more than ${mostAliases} aliases are not read`);
			else if (!named) tell("no anchor before this alias has its name");
			else if (isCollection(named) && holds(named, node)) tell("this alias stands within what it names");
			return;
		}
		if (node.anchor) anchors.set(node.anchor, node);
		if (isMap(node)) for (const key of keysWrittenTwice(node)) tell(`\`${key.name}\` is written twice`, key.node);
		if (!isScalar(node) || typeof node.value !== "number") return;
		if (!Number.isFinite(node.value)) tell("infinity and \"not a number\" cannot be sent: write a number");
		else if (/^[-+]?\d+$/.test(node.source ?? "") && !Number.isSafeInteger(node.value)) tell("this number is too large to be kept: put it in quotes");
	});
	return oddities;
}
function keysWrittenTwice(map) {
	const seen = /* @__PURE__ */ new Set();
	const twice = [];
	for (const { key } of map.items) {
		if (!isScalar(key)) continue;
		const name = String(key.value);
		if (seen.has(name)) twice.push({
			name,
			node: key
		});
		seen.add(name);
	}
	return twice;
}
const startOf = (node) => node.range?.[0] ?? 0;
const holds = (node, inner) => startOf(node) <= startOf(inner) && startOf(inner) < (node.range?.[2] ?? 0);
/** The first alias of a document: where an unfolding that was refused is told. */
function firstAlias(document) {
	let offset = 0;
	visit(document, { Alias: (_, alias) => {
		offset = startOf(alias);
		return visit.BREAK;
	} });
	return offset;
}
// src/located/places.ts
/** The places of everything in a document that was parsed with this line counter. */
function placesIn(document, lines, file) {
	const at = (offset) => placeAt(lines, offset ?? 0);
	return {
		file,
		placeOf: (path) => {
			const { step, whole } = walk(document, path);
			const value = step.node?.range?.[0];
			return at(whole ? value ?? step.key : step.key ?? value);
		},
		placeOfKey: (path) => {
			const { step } = walk(document, path);
			return at(step.key ?? step.node?.range?.[0]);
		}
	};
}
/** The line and column of an offset. An empty text has no lines to count: its only place is the first. */
function placeAt(lines, offset) {
	const { line, col } = lines.linePos(offset);
	return {
		line: Math.max(1, line),
		column: Math.max(1, col)
	};
}
/** Goes down as far as the path leads; `whole` where it led to its end. */
function walk(document, path) {
	let step = {
		node: document.contents,
		key: void 0
	};
	for (const part of path) {
		const next = stepInto(document, step.node, part);
		if (!next) return {
			step,
			whole: false
		};
		step = next;
	}
	return {
		step,
		whole: true
	};
}
function stepInto(document, from, part) {
	const node = isAlias(from) ? from.resolve(document) : from;
	if (isSeq(node)) {
		const item = typeof part === "number" ? node.items[part] : void 0;
		return item && {
			node: item,
			key: void 0
		};
	}
	if (!isMap(node)) return void 0;
	const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(part));
	return pair && {
		node: pair.value,
		key: pair.key.range?.[0]
	};
}
// src/located/strict-json.ts
const literal = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;
const byteOrderMark = /^\uFEFF/;
/**
* What YAML would let pass and JSON does not: comments, single quotes, bare words, a comma before a closing bracket.
* `JSON.parse` is the judge; the lexemes only tell where, because its own message gives a place for some faults alone.
*/
function jsonFault(text) {
	try {
		JSON.parse(text.replace(byteOrderMark, " "));
		return;
	} catch (error) {
		if (!(error instanceof SyntaxError)) throw error;
		const told = /at position (\d+)/.exec(error.message)?.[1];
		const seen = foreignLexeme(text);
		if (seen && (told === void 0 || seen.offset <= Number(told))) return seen;
		if (told !== void 0) return {
			offset: Number(told),
			message: "this is not JSON: something else belongs here"
		};
		return {
			offset: Math.max(0, text.trimEnd().length - 1),
			message: "this is not JSON: it ends too early"
		};
	}
}
/** The first piece of YAML that is no JSON. The lexer marks with control characters what takes no room in the text. */
function foreignLexeme(text) {
	let offset = 0;
	let comma;
	for (const lexeme of new Lexer().lex(text.replace(byteOrderMark, " "))) {
		if (/^[\u0002\u0018\u001f]$/.test(lexeme)) continue;
		const at = offset;
		offset += lexeme.length;
		if (/^\s*$/.test(lexeme)) continue;
		if (comma !== void 0 && (lexeme === "}" || lexeme === "]")) return {
			offset: comma,
			message: "this is not JSON: no comma may stand before a closing bracket"
		};
		comma = lexeme === "," ? at : void 0;
		const message = foreign(lexeme);
		if (message) return {
			offset: at,
			message: `this is not JSON: ${message}`
		};
	}
}
function foreign(lexeme) {
	if (/^[{}[\],:]$/.test(lexeme) || lexeme.startsWith("\"") || literal.test(lexeme)) return void 0;
	if (lexeme.startsWith("#") || lexeme.startsWith("/")) return "it knows no comments";
	return "texts and keys stand in double quotes";
}
// src/located/syntax.ts
/** The parser's codes in our words, where its own may quote what was written. */
const words = {
	ALIAS_PROPS: "an alias (`*name`) cannot carry a tag or an anchor of its own",
	BAD_ALIAS: "the name of this anchor or alias is not usable",
	BAD_COLLECTION_TYPE: "this tag does not fit what it stands before",
	BAD_DIRECTIVE: "this directive (`%...`) is not known",
	BAD_DQ_ESCAPE: "this is no escape sequence of a double-quoted text: write `\\\\` for a backslash, or use single quotes",
	BAD_PROP_ORDER: "an anchor or a tag stands before an indicator that it must follow",
	BAD_SCALAR_START: "a text cannot start with this character: put it in quotes",
	BLOCK_AS_IMPLICIT_KEY: "a second `key: value` cannot stand on this line: put the text in quotes, or begin a new line",
	IMPOSSIBLE: "this cannot be read as YAML",
	MULTIPLE_DOCS: "only one document is read: remove this `---` and what follows it",
	NON_STRING_KEY: "a key must be plain text",
	RESOURCE_EXHAUSTION: "this is nested too deeply",
	TAG_RESOLVE_FAILED: "tags (`!...`) are not read: remove this one",
	UNEXPECTED_TOKEN: "this does not belong here: a quote, a comma, a bracket or an indentation is wrong on this line or before it"
};
/** Codes whose messages are fixed sentences of the parser, without anything from the text. */
function wordSyntaxError({ code, message }) {
	return words[code] ?? lowerFirst(message);
}
const lowerFirst = (text) => text.charAt(0).toLowerCase() + text.slice(1);
// src/located/parse.ts
/** Longer texts (characters) are no configuration; reading them would cost seconds. */
const longestText = 262144;
/** What aliases may unfold to, as a multiple of what was written. */
const maxAliasCount = 100;
const mostProblems = 50;
/**
* Reads YAML 1.2 (core schema, one document, no tags), or JSON strictly where the file's name ends in `.json`.
* An empty text is null.
*/
function parseText(text, file) {
	if (text.length > 262144) return {
		ok: false,
		problems: [{
			file,
			line: 1,
			column: 1,
			field: "",
			message: `this is longer than ${longestText} characters`
		}]
	};
	const lines = new LineCounter();
	const document = parseDocument(text, {
		lineCounter: lines,
		prettyErrors: false,
		stringKeys: true,
		resolveKnownTags: false,
		uniqueKeys: false,
		logLevel: "error"
	});
	const problems = [];
	const tell = (offset, message) => {
		if (problems.some((known) => known.message === message && known.line === placeAt(lines, offset).line)) return;
		problems.push({
			file,
			...placeAt(lines, offset),
			field: "",
			message
		});
	};
	const fault = file.endsWith(".json") ? jsonFault(text) : void 0;
	if (fault) tell(fault.offset, fault.message);
	for (const error of fault ? [] : [...document.errors, ...document.warnings].slice(0, mostProblems)) tell(error.pos[0], wordSyntaxError(error));
	for (const { offset, message } of odditiesOf(document).slice(0, mostProblems)) tell(offset, message);
	if (problems.length > 0) return {
		ok: false,
		problems: inOrder(problems)
	};
	try {
		return {
			ok: true,
			value: document.toJS({ maxAliasCount }),
			...placesIn(document, lines, file)
		};
	} catch (error) {
		if (!(error instanceof ReferenceError)) throw error;
		tell(firstAlias(document), "the aliases of this text unfold to far more than was written");
		return {
			ok: false,
			problems
		};
	}
}
export { formatProblem as a, fieldName as i, problemsOf as n, inOrder as o, valueAt as r, kindOf as s, parseText as t };
