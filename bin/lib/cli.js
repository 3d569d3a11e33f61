import { t as version } from "./version.js";
import { t as exitCodes } from "./exit-codes.js";
import { r as valueAt, t as parseText } from "./parse.js";
import { t as maskOf } from "./mask.js";
import { join } from "node:path";
import { Command, CommanderError, Option } from "commander";
import { readFileSync } from "node:fs";
// src/action/input-names.ts
/** Every input of action.yml, in its order; a test holds the two together. */
const inputNames = [
	"api-key",
	"base-url",
	"tenant-id",
	"field-names",
	"allow-http",
	"mode",
	"config",
	"deployment",
	"name",
	"deployment-id",
	"source",
	"integration-id",
	"repo-url",
	"repo-ref",
	"graph-config-path",
	"deployment-type",
	"build-on-push",
	"image-uri",
	"install-command",
	"build-command",
	"custom-url",
	"listener-id",
	"k8s-namespace",
	"resource-spec",
	"secrets",
	"secrets-strategy",
	"secret-references",
	"rebuild",
	"agent-url",
	"wait",
	"timeout-minutes",
	"poll-seconds",
	"smoke-tests",
	"on-failure",
	"on-superseded"
];
// src/cli/input-texts.ts
/**
* The descriptions and defaults of the Action's inputs, from action.yml itself: the two doors take the same inputs and
* say the same of them. The file lies beside the sources and beside what is built, and is only read to print help.
*/
function readInputTexts(file = join(import.meta.dirname, "../../action.yml")) {
	const parsed = parseText(readFileSync(file, "utf8"), "action.yml");
	if (!parsed.ok) throw new Error("action.yml of this package cannot be read as YAML");
	return (input) => {
		const text = (key) => {
			const found = valueAt(parsed.value, [
				"inputs",
				input,
				key
			]);
			return typeof found === "string" ? found : void 0;
		};
		return {
			description: text("description") ?? "",
			default: text("default")
		};
	};
}
// src/cli/story-options.ts
/** The inputs that are options: the subcommand says the mode. */
const optionNames = inputNames.filter((name) => name !== "mode");
/** Inputs that belong to a person or a machine rather than to one deployment: these may come from the environment. */
const surroundings = /* @__PURE__ */ new Set([
	"api-key",
	"base-url",
	"tenant-id",
	"field-names",
	"allow-http",
	"config",
	"deployment"
]);
const service = /* @__PURE__ */ new Set([
	"api-key",
	"base-url",
	"tenant-id",
	"field-names",
	"allow-http"
]);
/** All others are fields of a deployment. */
const story = /* @__PURE__ */ new Set([
	"config",
	"deployment",
	"agent-url",
	"wait",
	"timeout-minutes",
	"poll-seconds",
	"on-superseded"
]);
const flags = /* @__PURE__ */ new Set([
	"allow-http",
	"build-on-push",
	"wait"
]);
/** The variable that an option is taken from where it is not given; undefined for one that has none. */
const variableOf = (input) => surroundings.has(input) ? `LANDFALL_${input.toUpperCase().replaceAll("-", "_")}` : void 0;
/** What the help says in the place of action.yml, where a terminal is another place than a workflow. */
const onTerminal = {
	"api-key": "Key of the control service, sent as X-Api-Key. Set LANDFALL_API_KEY instead: a command line shows in the list of processes.",
	config: "Path of the deploy file. Options given beside it win over the file.",
	secrets: "Name of an environment variable that becomes a secret of the deployment; give the option once for each. NAME=OTHER takes the value of OTHER."
};
/** Adds every input of the Action as an option of its name. */
function addInputOptions(command) {
	for (const name of optionNames) command.addOption(optionOf(name));
}
function optionOf(name) {
	const option = flags.has(name) ? new Option(`--${name} [true|false]`).preset("true") : new Option(`--${name} <${name.split("-").at(-1)}>`);
	const variable = variableOf(name);
	if (variable) option.env(variable);
	if (name === "secrets") option.argParser((value, before) => before ? `${before}\n${value}` : value);
	return option.helpGroup(groupOf(name));
}
/** The headings of the help, by what they stand over. */
const groups = {
	service: "The control service:",
	story: "How to go about it:",
	deployment: "What should run (wins over the deploy file):"
};
function groupOf(name) {
	if (service.has(name)) return groups.service;
	return story.has(name) ? groups.story : groups.deployment;
}
/** What was given on the command line or in the environment, as the Action's inputs. */
function givenInputs(command) {
	return Object.fromEntries(command.options.flatMap((option) => {
		const value = command.getOptionValue(option.attributeName());
		const name = option.long?.slice(2);
		return name && typeof value === "string" ? [[name, value]] : [];
	}));
}
/** Describes an option in help; those that are inputs in the words of action.yml. */
function describeOptions() {
	let read;
	return (option) => {
		const name = option.long?.slice(2) ?? "";
		if (!optionNames.some((each) => each === name)) return option.description;
		const text = (read ??= readInputTexts())(name);
		const variable = variableOf(name);
		return [
			onTerminal[name] ?? text.description,
			...text.default === void 0 ? [] : [`(default: ${text.default})`],
			...variable === void 0 ? [] : [`(env: ${variable})`]
		].join(" ");
	};
}
// src/cli/terminal.ts
/** Everything that the command line prints passes through here, and every secret in it leaves as `***`. */
var Terminal = class {
	#streams;
	#secrets = /* @__PURE__ */ new Set();
	#json;
	#mask = maskOf([]);
	/** @param json the one line of standard output is JSON: what is told on the way goes to standard error. */
	constructor(streams, { json = false } = {}) {
		this.#streams = streams;
		this.#json = json;
	}
	/** From now on this is never shown. */
	hide(secret) {
		if (secret.trim() === "" || this.#secrets.has(secret)) return;
		this.#secrets.add(secret);
		this.#mask = maskOf([...this.#secrets]);
	}
	/** A line about what happens. */
	tell(line) {
		(this.#json ? this.#streams.err : this.#streams.out)(`${this.#mask(line)}\n`);
	}
	/** A line about what is wrong. */
	complain(line) {
		this.#streams.err(`${this.#mask(line)}\n`);
	}
	/** The result as one line of JSON, where it was asked for. Only texts are masked: it stays JSON whatever a secret is. */
	conclude(result) {
		if (!this.#json) return;
		const masked = JSON.stringify(result, (_, value) => typeof value === "string" ? this.#mask(value) : value);
		this.#streams.out(`${masked}\n`);
	}
};
/** The streams of this process. */
const processStreams = {
	out: (text) => void process.stdout.write(text),
	err: (text) => void process.stderr.write(text)
};
// src/cli/command-line.ts
const stories = [
	["plan", "Say what a deploy would do and why; write nothing."],
	["deploy", "Do what differs, follow the revision until it is live, and ask it the smoke tests."],
	["smoke", "Ask the live agent the smoke tests; write nothing."],
	["rollback", "Go back to the revision that was live before, follow it, and ask it the smoke tests."]
];
/** The folder of this package: two above this file, as it is written and as it is built. */
const root = join(import.meta.dirname, "../..");
const afterHelp = `
Exit code: 0 where the outcome passes, 1 where it does not, 2 where what was asked is wrong and nothing was sent.`;
/** Carries out one command line (without the program's own name) and tells its exit code. A mistake of ours rejects. */
async function runCommandLine(args, streams) {
	let code = exitCodes.passes;
	const program = new Command("landfall").description("Ships AI agents and proves that they answer.").version(version).enablePositionalOptions().exitOverride().showHelpAfterError("Try it with --help.").configureHelp({
		optionDescription: describeOptions(),
		sortSubcommands: false
	}).configureOutput({
		writeOut: streams.out,
		writeErr: (text) => streams.err(text.replace(/(--?[\w-]+)=[^\s']*/g, "$1=..."))
	}).addHelpText("after", afterHelp);
	program.command("local").description("Run the control service and its agents on this machine; landfall local --help lists its options.").helpOption(false).allowUnknownOption().allowExcessArguments().passThroughOptions().action(async (_, { args }) => {
		const { beLocal } = await import("./local-program.js");
		await beLocal(args);
	});
	program.command("demo").description("Show on this machine how an agent is deployed, changed, broken and rolled back.").option("--keep", "leave everything running at the end, and say how to talk to it").action(async (_, command) => {
		const { demo } = await import("./demo.js");
		code = await demo({
			root,
			keep: command.getOptionValue("keep") === true,
			write: streams.out
		});
	});
	for (const [mode, description] of stories) {
		const command = program.command(mode).description(description);
		addInputOptions(command);
		command.addOption(json());
		if (mode === "plan" || mode === "deploy") command.addOption(commit());
		command.addHelpText("after", afterHelp).action(async () => {
			const terminal = new Terminal(streams, { json: command.getOptionValue("json") === true });
			const sha = command.getOptionValue("commit");
			const { tell } = await import("./tell.js");
			code = await tell({
				mode,
				inputs: givenInputs(command),
				commit: typeof sha === "string" ? sha.trim() : void 0
			}, terminal);
		});
	}
	const validate = program.command("validate").description("Check the deploy file, and the graph configuration files that it names; needs no key and sends nothing.").addOption(new Option("--config <path>", "Path of the deploy file.").env("LANDFALL_CONFIG")).addOption(json()).action(async () => {
		const terminal = new Terminal(streams, { json: validate.getOptionValue("json") === true });
		const { tellValidation } = await import("./validate.js");
		code = tellValidation(givenInputs(validate), terminal);
	});
	try {
		await program.parseAsync([...args], { from: "user" });
		return code;
	} catch (error) {
		if (!(error instanceof CommanderError)) throw error;
		return error.exitCode === 0 ? exitCodes.passes : exitCodes.wrongUsage;
	}
}
const json = () => new Option("--json", "Print the result as one line of JSON; what is told on the way goes to standard error.");
const commit = () => new Option("--commit <sha>", "The commit that repo-ref is at; asked of git where the working directory is a checkout of it.");
// src/cli/main.ts
for (const stream of [process.stdout, process.stderr]) stream.on("error", (error) => {
	if (error.code !== "EPIPE") throw error;
});
process.exitCode = await runCommandLine(process.argv.slice(2), processStreams);
export {};
