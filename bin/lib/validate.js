import { c as readDrafts, i as readTextFile, n as onCommandLine, o as readDesired, t as complain } from "./problems.js";
import { t as readGraphConfig } from "./read.js";
import { a as formatProblem } from "./parse.js";
import { t as exitCodes } from "./exit-codes.js";
import { isAbsolute, posix } from "node:path";
// src/cli/validate.ts
/** Reads the deploy file, and the graph configuration files that it names where they lie below the working directory. */
function validate(inputs) {
	const path = inputs["config"]?.trim() || ".github/landfall.yml";
	const file = readTextFile(path);
	if (file.kind !== "read") {
		const absent = {
			file: path,
			line: 1,
			column: 1,
			field: "",
			message: `there is no deploy file here: write one, or say with --config where it is`
		};
		return {
			files: [],
			problems: [file.kind === "absent" ? absent : file.problem],
			warnings: []
		};
	}
	const read = readDesired({
		inputs,
		file: {
			text: file.text,
			path
		}
	});
	const graphConfigs = graphConfigPaths(file.text, path).map(validateGraphConfig);
	const problems = [...read.ok ? [] : read.problems.map(onCommandLine), ...graphConfigs.flatMap((each) => each.problems)];
	return {
		files: [path, ...graphConfigs.flatMap((each) => each.files)],
		problems,
		warnings: graphConfigs.flatMap((each) => each.warnings)
	};
}
/** Validates and tells; no key and no address is needed, and nothing is sent. */
function tellValidation(inputs, terminal) {
	const { files, problems, warnings } = validate(inputs);
	for (const warning of warnings) terminal.complain(`${formatProblem(warning)} (warning)`);
	complain(terminal, problems);
	const fine = problems.length === 0;
	if (fine) for (const file of files) terminal.tell(`${file}: fine`);
	terminal.conclude({
		fine,
		files,
		problems,
		warnings
	});
	return fine ? exitCodes.passes : exitCodes.wrongUsage;
}
/** The graph configuration files that the deployments name, each once, however much else is wrong with the file. */
function graphConfigPaths(text, path) {
	const drafts = readDrafts(text, path);
	if (!drafts.ok) return [];
	const within = drafts.drafts.map(({ fields }) => fields.get("graph-config-path")?.value).filter((each) => typeof each === "string").map((each) => posix.normalize(each.trim()));
	return [...new Set(within)].filter((each) => !isAbsolute(each) && each !== "." && !each.startsWith(".."));
}
/** One that is not there belongs to another repository, or is made later: that is no problem of these files. */
function validateGraphConfig(path) {
	const file = readTextFile(path);
	if (file.kind === "absent") return {
		files: [],
		problems: [],
		warnings: []
	};
	if (file.kind === "unreadable") return {
		files: [path],
		problems: [file.problem],
		warnings: []
	};
	const read = readGraphConfig(file.text, path);
	return {
		files: [path],
		problems: read.ok ? [] : read.problems,
		warnings: read.ok ? read.warnings : []
	};
}
export { tellValidation };
