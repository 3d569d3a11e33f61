import { n as fieldSpellings } from "./aliases.js";
import { t as didYouMean } from "./did-you-mean.js";
import { a as readAsked, i as readTextFile, n as onCommandLine, o as readDesired, r as optionProblem, t as complain } from "./problems.js";
import { t as systemClock } from "./clock.js";
import { t as version } from "./version.js";
import { t as exitCodes } from "./exit-codes.js";
import { r as isTagRef } from "./field-rules.js";
import { n as sameRepository } from "./repository-url.js";
import { execFile } from "node:child_process";
// src/config/door-options.ts
const modes = [
	"deploy",
	"plan",
	"smoke",
	"rollback"
];
/** Reads the inputs that say how and where, every problem at once. Those that say what should run are read elsewhere. */
function readDoorOptions(inputs) {
	const problems = [];
	const given = (name) => inputs[name]?.trim() || void 0;
	const wrong = (field, message, suggestion) => {
		problems.push({
			file: "input",
			line: 1,
			column: 1,
			field,
			message,
			...suggestion ? { suggestion } : {}
		});
	};
	const word = (name, words, absent) => {
		const written = given(name);
		if (written === void 0) return absent;
		const found = words.find((each) => each === written);
		if (found === void 0) wrong(name, `${name} is one of ${words.join(", ")}`, didYouMean(written, words));
		return found ?? absent;
	};
	const flag = (name, absent) => {
		const written = given(name);
		if (written === void 0) return absent;
		if (/^(true|false)$/i.test(written)) return written.toLowerCase() === "true";
		wrong(name, `${name} is true or false`);
		return absent;
	};
	const time = (name, absent, least, most, unitMs) => {
		const written = given(name);
		const count = written === void 0 ? absent : Number(written);
		if (!Number.isFinite(count) || count < least || count > most) wrong(name, `${name} is a number from ${least} to ${most}`);
		return count * unitMs;
	};
	const address = (name) => {
		const written = given(name);
		if (written === void 0) return void 0;
		const parsed = URL.parse(written);
		if (parsed === null || !/^https?:$/.test(parsed.protocol)) wrong(name, `${name} is an address that starts with https:// (or http:// on this machine)`);
		else if (parsed.username || parsed.password) wrong(name, `${name} holds a user or a password; give the key as api-key`);
		else if (parsed.search || parsed.hash) wrong(name, `${name} ends before any ? or #`);
		return written;
	};
	const baseUrl = address("base-url");
	if (baseUrl === void 0) wrong("base-url", "base-url is missing: give the address of the control service");
	const apiKey = given("api-key");
	const tenantId = given("tenant-id");
	const agentUrl = address("agent-url");
	const options = {
		baseUrl: baseUrl ?? "",
		...apiKey ? { apiKey } : {},
		...tenantId ? { tenantId } : {},
		spelling: word("field-names", fieldSpellings, "contract"),
		allowHttp: flag("allow-http", false),
		mode: word("mode", modes, "deploy"),
		...agentUrl ? { agentUrl } : {},
		wait: flag("wait", true),
		timeoutMs: time("timeout-minutes", 30, .05, 1440, 6e4),
		pollMs: time("poll-seconds", 5, .1, 600, 1e3),
		onSuperseded: word("on-superseded", ["fail", "pass"], "fail")
	};
	return problems.length > 0 ? {
		ok: false,
		problems
	} : {
		ok: true,
		options
	};
}
// src/action/ask.ts
/** Reads inputs, deploy file and environment into one deployment and how to go about it; every problem at once. */
function readAsk(asked) {
	const options = readDoorOptions(asked.inputs);
	const deployments = readDeployments(modeOf(asked.inputs), asked);
	if (!options.ok || !deployments.ok) return {
		ok: false,
		problems: [...options.ok ? [] : options.problems, ...deployments.ok ? [] : deployments.problems]
	};
	const [deployment, ...more] = deployments.deployments;
	if (deployment && more.length === 0) return {
		ok: true,
		options: options.options,
		deployment
	};
	return {
		ok: false,
		problems: [{
			file: "input",
			line: 1,
			column: 1,
			field: "deployment",
			message: `the deploy file has more than one deployment: choose one with \`deployment\`, of ${deployments.deployments.map(({ desired }) => desired.name ?? desired.deploymentId).join(", ")}`
		}]
	};
}
const modeOf = (inputs) => {
	const mode = inputs["mode"]?.trim();
	return mode === "smoke" || mode === "rollback" ? mode : void 0;
};
/** To ask or to roll back, nothing has to be said about where the deployment comes from, and no secret has to be there. */
function readDeployments(mode, asked) {
	if (mode === void 0) return readDesired(asked);
	const read = readAsked(asked);
	if (!read.ok) return read;
	return {
		ok: true,
		deployments: read.deployments.map(({ smokeTests, onFailure, ...whom }) => ({
			desired: {
				...whom,
				source: "github",
				secretsStrategy: "merge",
				rebuild: "never"
			},
			smokeTests,
			onFailure
		}))
	};
}
// src/action/tell-story.ts
/** Joins the story with the clients: connects, deploys, and closes every connection that was made. */
async function tellStory(story) {
	const { options, deployment, workflow, head, userAgent, signal, tell, mask } = story;
	const [{ connectControlService }, { connectAgentServer }, { deploy }] = await Promise.all([
		import("./control.js"),
		import("./agent.js"),
		import("./deploy.js")
	]);
	const { baseUrl, apiKey, tenantId, spelling, allowHttp } = options;
	const settings = {
		apiKey,
		tenantId,
		allowHttp,
		userAgent
	};
	const control = connectControlService({
		...settings,
		baseUrl,
		spelling
	});
	const agents = /* @__PURE__ */ new Map();
	const agentAt = (url) => {
		const agent = agents.get(url) ?? connectAgentServer({
			...settings,
			url
		});
		agents.set(url, agent);
		return agent;
	};
	try {
		return await deploy({
			...deployment,
			control,
			agentAt,
			mode: options.mode,
			wait: options.wait,
			onSuperseded: options.onSuperseded,
			agentUrl: options.agentUrl,
			timeoutMs: options.timeoutMs,
			pollMs: options.pollMs,
			clock: systemClock,
			random: Math.random,
			workflow,
			head,
			signal,
			tell,
			mask
		});
	} finally {
		await Promise.all([control.close(), ...[...agents.values()].map((agent) => agent.close())]);
	}
}
// src/report/duration.ts
/** A duration (ms) in words for people: `340 ms`, `2.4 s`, `41 s`, `3 min 5 s`. */
function inWords(ms) {
	const whole = Math.max(0, Math.round(ms));
	if (whole < 1e3) return `${whole} ms`;
	if (whole < 1e4) return `${(whole / 1e3).toFixed(1)} s`;
	const seconds = Math.round(whole / 1e3);
	if (seconds < 60) return `${seconds} s`;
	const rest = seconds % 60;
	return `${Math.floor(seconds / 60)} min${rest > 0 ? ` ${rest} s` : ""}`;
}
// src/report/harmless.ts
const controls = /\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
const bidirectional = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
/** One line without control sequences, of at most `limit` characters. */
function asLine(text, limit = 500) {
	const line = text.replace(controls, "").replace(bidirectional, "").replace(/\s*\r?\n\s*/g, " ").replace(/\t/g, " ");
	return line.length > limit ? `${line.slice(0, limit - 1)}…` : line;
}
/**
* A line of somebody else's for a log. A runner acts on `::name::` at a line's start and on `##[name]` anywhere in it,
* so the first is indented behind a bar and the second is broken up.
*/
const asLogLine = (text) => `  | ${asLine(text, 2e3).replaceAll("##[", "## [")}`;
// src/report/story-line.ts
const short = (id) => id.slice(0, 8);
/** What happens as lines of plain text, for a log or a terminal. An event that needs no line has none. */
function storyLines(event) {
	switch (event.kind) {
		case "looking": return [`Looking for ${asLine(event.deployment, 100)}`];
		case "looked": return [event.deploymentId === void 0 ? "There is no such deployment yet" : `Found ${asLine(event.deploymentName ?? "", 100)} (${event.deploymentId}), active revision ${event.activeRevisionId ?? "none"}`];
		case "noted": return [`Note: ${asLine(event.note, 1e3)}`];
		case "planned": return planLines(event.plan);
		case "waiting-for-commit": return [`Revision ${event.revisionId} does not tell its commit yet: looking again`];
		case "begun": return [`Revision ${event.revisionId} of deployment ${event.deploymentId}: ${event.how}`];
		case "settling": return [`${asLine(event.why, 500)}: looking what became of it`];
		case "status": return [`${inWords(event.sinceMs).padStart(10)}  ${asLine(event.status, 40)}${event.message ? `  ${asLine(event.message, 300)}` : ""}`];
		case "heartbeat": return [`${inWords(event.sinceMs).padStart(10)}  still ${asLine(event.status, 40)}, at most ${inWords(event.leftMs)} more`];
		case "poll-failed": return [`${" ".repeat(10)}  a look at the revision failed and is tried again: ${asLine(event.why, 300)}`];
		case "rolled-out": return [];
		case "smoke-began": return [`Asking ${asLine(event.address, 200)}: ${event.tests} smoke test${event.tests === 1 ? "" : "s"}`];
		case "smoke-attempt": return event.again ? [`  ${asLine(event.name, 100)}: attempt ${event.attempt} ${attemptWords(event.verdict)}; once more`] : [];
		case "smoke-tested": return testedLines(event.tested);
		case "rolling-back": return [`Rolling back to revision ${event.toRevisionId}: ${asLine(event.why, 500)}`];
		case "rolled-back": return [event.rollback.kind === "done" ? `Revision ${event.rollback.toRevisionId} serves again` : `Not rolled back: ${asLine(event.rollback.why, 500)}`];
		case "concluded": return [];
	}
}
/** The end in a few lines: outcome, sentence, advice, and the log lines of a failure. */
function outcomeLines(outcome) {
	const { kind, reason, advice, logs, deploymentUrl, activeRevisionId: serving } = outcome;
	return [
		...logs && logs.length > 0 ? ["The last log lines:", ...logs.map(({ message }) => asLogLine(message))] : [],
		`${kind}: ${asLine(reason, 2e3)}`,
		...advice ? [`What to do: ${asLine(advice, 2e3)}`] : [],
		...deploymentUrl ? [`Agent: ${asLine(deploymentUrl, 300)}${serving ? ` (revision ${short(serving)})` : ""}`] : []
	];
}
function planLines(plan) {
	switch (plan.kind) {
		case "none": return [`Plan: nothing to change, ${asLine(plan.why, 500)}`];
		case "impossible": return ["Plan: impossible", ...plan.obstacles.map(({ field, problem, advice }) => `  ${field}: ${asLine(problem, 500)}. ${asLine(advice, 500)}`)];
		case "create": return ["Plan: create the deployment", ...plan.changes.map(changeLine)];
		case "patch": return [`Plan: patch, ${plan.makesRevision ? "which makes a revision" : "without a revision"}`, ...plan.changes.map(changeLine)];
	}
}
function changeLine({ field, from, to, makesRevision, why }) {
	const value = (text) => text === void 0 ? "nothing" : asLine(text, 120);
	return `  ${field}: ${from === to ? `${value(to)} again` : `${value(from)} -> ${value(to)}`}${makesRevision ? " (makes a revision)" : ""}: ${asLine(why, 300)}`;
}
const attemptWords = (verdict) => verdict.kind === "unproven" ? `was not answered (${asLine(verdict.why, 300)})` : verdict.kind;
function testedLines({ name, attempts, verdict }) {
	const tries = attempts > 1 ? ` after ${attempts} attempts` : "";
	const title = `  ${asLine(name, 100)}: ${verdict.kind}${tries}`;
	if (verdict.kind === "unproven") return [title, `    ${asLine(verdict.why, 500)}`];
	return [`${title} (${verdict.firstEventMs === void 0 ? "" : `first event ${inWords(verdict.firstEventMs)}, `}total ${inWords(verdict.totalMs)})`, ...verdict.held.map(({ held, expected, seen }) => `    ${held ? "ok   " : "wrong"} ${asLine(expected, 200)}${held ? "" : `; saw ${asLine(seen, 300)}`}`)];
}
// src/report/told-result.ts
/** The times of the first smoke test that was answered. */
function smokeTimes(outcome) {
	const answered = outcome.verdict?.tests.map(({ verdict }) => verdict).find(({ kind }) => kind !== "unproven");
	if (!answered || answered.kind === "unproven") return {};
	return {
		...answered.firstEventMs === void 0 ? {} : { firstEventMs: Math.round(answered.firstEventMs) },
		totalMs: Math.round(answered.totalMs)
	};
}
/** The revision that serves again after a rollback, or undefined where none was carried out. */
const rolledBackTo = ({ rollback }) => rollback?.kind === "done" ? rollback.toRevisionId : void 0;
/** The outcome as JSON for machines: names as the Action's outputs have them, and never a secret or an agent's values. */
function toldResult(outcome) {
	const { plan, rollout, verdict } = outcome;
	const times = smokeTimes(outcome);
	return {
		outcome: outcome.kind,
		passes: outcome.passes,
		reason: outcome.reason,
		advice: outcome.advice ?? null,
		name: outcome.deploymentName ?? null,
		deployment_id: outcome.deploymentId ?? null,
		revision_id: outcome.revisionId ?? null,
		active_revision_id: outcome.activeRevisionId ?? null,
		deployment_url: outcome.deploymentUrl ?? null,
		changed: outcome.changed,
		plan: plan?.kind ?? null,
		changes: plan && "changes" in plan ? plan.changes : [],
		obstacles: plan?.kind === "impossible" ? plan.obstacles : [],
		statuses: (rollout?.seen ?? []).map(({ status, at }) => ({
			status,
			at: new Date(at).toISOString()
		})),
		built_commit: rollout?.builtCommit ?? null,
		smoke_verdict: verdict?.kind ?? "none",
		smoke_tests: (verdict?.tests ?? []).map(({ name, attempts, verdict: each }) => ({
			name,
			attempts,
			verdict: each.kind,
			...each.kind === "unproven" ? { why: each.why } : { expectations: each.held.map(({ expected, held, seen }) => ({
				expected,
				held,
				seen
			})) }
		})),
		first_event_ms: times.firstEventMs ?? null,
		total_ms: times.totalMs ?? null,
		rolled_back_to: rolledBackTo(outcome) ?? null,
		notes: outcome.notes
	};
}
// src/cli/git-head.ts
/**
* Asks the repository itself for the head of `repoRef`: that is what the service will build, whatever is checked out
* here. It is asked only where this checkout has it as its `origin`, or is itself the folder that `repoUrl` names, so
* that no address out of a file makes git run.
*/
async function headOf({ repoUrl, repoRef }, git) {
	const top = (await git(["rev-parse", "--show-toplevel"]))?.trim();
	if (!top) return {
		kind: "unknown",
		why: "the working directory is no git checkout"
	};
	const origin = (await git([
		"remote",
		"get-url",
		"origin"
	]))?.trim();
	const remote = origin !== void 0 && sameRepository(origin, repoUrl) ? "origin" : sameRepository(top, repoUrl) ? top : void 0;
	if (remote === void 0) return {
		kind: "unknown",
		why: "this checkout is of another repository"
	};
	const full = isTagRef(repoRef) ? repoRef : `refs/heads/${repoRef}`;
	const listed = await git([
		"ls-remote",
		"--quiet",
		remote,
		full,
		`${full}^{}`
	]);
	if (listed === void 0) return {
		kind: "unknown",
		why: "git could not ask the repository"
	};
	const refs = new Map(listed.split("\n").flatMap((line) => {
		const [sha = "", ref] = line.split("	");
		return ref === void 0 ? [] : [[ref.trim(), sha]];
	}));
	const sha = refs.get(`${full}^{}`) ?? refs.get(full);
	return sha ? {
		kind: "known",
		sha
	} : {
		kind: "unknown",
		why: `the repository has no ${full}`
	};
}
/** How long git may take to answer (ms). */
const gitWithinMs = 15e3;
/** Git in the working directory. It asks nobody for a password. */
const git = (args) => new Promise((resolve) => {
	const env = {
		...process.env,
		GIT_TERMINAL_PROMPT: "0",
		LC_ALL: "C"
	};
	execFile("git", [...args], {
		env,
		timeout: gitWithinMs,
		encoding: "utf8"
	}, (error, stdout) => resolve(error ? void 0 : stdout)).stdin?.end();
});
// src/cli/tell.ts
/** How long an interrupted command may take to end by itself (ms); it is gone within two seconds. */
const goneWithinMs = 1500;
/** The whole command: reads what was asked, tells the story as it happens, prints the end. */
async function tell(command, terminal) {
	terminal.hide(command.inputs["api-key"] ?? "");
	const ask = read(command);
	if (!ask.ok) return refuse(ask.problems, terminal);
	const { options, deployment } = ask;
	for (const { value } of deployment.desired.secrets ?? []) terminal.hide(value);
	const cancelled = new AbortController();
	const ids = {};
	const leave = () => {
		cancelled.abort();
		setTimeout(() => {
			for (const line of idLines(ids)) terminal.tell(line);
			process.exit(exitCodes.fails);
		}, goneWithinMs).unref();
	};
	process.on("SIGINT", leave).on("SIGTERM", leave);
	try {
		return end(await tellStory({
			options,
			deployment,
			head: command.mode === "deploy" || command.mode === "plan" ? await headToBuild(deployment.desired, command.commit, terminal) : void 0,
			userAgent: `landfall-cli/${version}`,
			signal: cancelled.signal,
			tell: (event) => {
				noteIds(ids, event);
				for (const line of storyLines(event)) terminal.tell(line);
			},
			mask: (secret) => terminal.hide(secret)
		}), terminal);
	} catch (error) {
		terminal.complain(error instanceof Error ? error.stack ?? error.message : String(error));
		return exitCodes.fails;
	} finally {
		process.off("SIGINT", leave).off("SIGTERM", leave);
	}
}
/** What was asked for, or everything that is wrong with it, as a person at a terminal wrote it. */
function read({ mode, inputs, commit }) {
	const path = inputs["config"]?.trim() || ".github/landfall.yml";
	const file = readTextFile(path);
	const ask = readAsk({
		inputs: {
			...inputs,
			mode
		},
		...file.kind === "read" ? { file: {
			text: file.text,
			path
		} } : {},
		env: process.env
	});
	const problems = [
		...file.kind === "unreadable" ? [file.problem] : ask.ok ? [] : ask.problems,
		...inputs["api-key"]?.trim() ? [] : [optionProblem("api-key", keyless)],
		...commit === void 0 || /^[0-9a-f]{7,64}$/i.test(commit) ? [] : [optionProblem("commit", noCommit)]
	];
	return ask.ok && problems.length === 0 ? ask : {
		ok: false,
		problems: problems.map(onCommandLine)
	};
}
const keyless = "the key of the control service is missing: set LANDFALL_API_KEY";
const noCommit = "a commit is given by its sha, of at least 7 characters";
/** The commit that a build would be of now. Where nobody can tell, it is said, and the plan builds again to be sure. */
async function headToBuild(desired, commit, terminal) {
	if (commit !== void 0 || desired.source !== "github") return commit;
	const { repoUrl, repoRef } = desired;
	if (repoUrl === void 0 || repoRef === void 0) return void 0;
	const head = await headOf({
		repoUrl,
		repoRef
	}, git);
	if (head.kind === "known") return head.sha;
	terminal.tell(`Note: which commit ${repoRef} is at is not known here, for ${head.why}; --commit tells it`);
}
function refuse(problems, terminal) {
	complain(terminal, problems);
	const outcome = {
		kind: "refused",
		passes: false,
		reason: `${problems.length} ${problems.length === 1 ? "thing is" : "things are"} wrong in what was asked`,
		advice: "Correct what is named; nothing was sent",
		changed: false,
		notes: []
	};
	terminal.conclude({
		...toldResult(outcome),
		problems
	});
	return exitCodes.wrongUsage;
}
function end(outcome, terminal) {
	for (const line of [...outcomeLines(outcome), ...idLines(outcome)]) terminal.tell(line);
	terminal.conclude(toldResult(outcome));
	return outcome.passes ? exitCodes.passes : exitCodes.fails;
}
const idLines = ({ deploymentId, revisionId, activeRevisionId }) => [
	...deploymentId ? [`Deployment: ${deploymentId}`] : [],
	...revisionId ? [`Revision: ${revisionId}`] : [],
	...activeRevisionId && activeRevisionId !== revisionId ? [`Active revision: ${activeRevisionId}`] : []
];
function noteIds(ids, event) {
	if (event.kind === "looked" && event.deploymentId !== void 0) ids.deploymentId = event.deploymentId;
	if (event.kind !== "begun") return;
	ids.deploymentId = event.deploymentId;
	ids.revisionId = event.revisionId;
}
export { tell };
