import { t as systemClock } from "./clock.js";
import { a as clusterOf, i as lockFolder, r as stopLeftover, s as defaultSystemFolder, t as locate } from "./locate.js";
import { join, relative } from "node:path";
import { existsSync, rmSync } from "node:fs";
import * as z from "zod";
import { promisify, stripVTControlCharacters } from "node:util";
import { pathToFileURL } from "node:url";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { createInterface } from "node:readline";
// src/demo/questions.ts
/** @param address of the agent: the deployment's, which stays the same over all revisions. */
function questionsTo(address, { apiKey }) {
	const ask = async (input) => {
		const response = await fetch(`${address}/runs/wait`, {
			method: "POST",
			headers: {
				"x-api-key": apiKey,
				"content-type": "application/json"
			},
			body: JSON.stringify({
				assistant_id: "echo",
				input: { input }
			}),
			signal: AbortSignal.timeout(3e4)
		});
		const text = await response.text();
		if (!response.ok) throw new Error(`status ${response.status}: ${text.slice(0, 200)}`);
		const values = JSON.parse(text);
		const output = typeof values === "object" && values !== null && "output" in values ? values.output : void 0;
		if (typeof output !== "string") throw new Error(`no answer in ${text.slice(0, 200)}`);
		return output;
	};
	return {
		ask,
		keepAsking() {
			const seen = {
				asked: 0,
				failed: [],
				answers: /* @__PURE__ */ new Set()
			};
			const stopped = new AbortController();
			const asking = (async () => {
				while (!stopped.signal.aborted) {
					seen.asked += 1;
					try {
						seen.answers.add(await ask("there"));
					} catch (error) {
						seen.failed.push(error instanceof Error ? error.message : String(error));
					}
					await new Promise((resolve) => setTimeout(resolve, 100));
				}
			})();
			return { async stop() {
				stopped.abort();
				await asking;
				return seen;
			} };
		}
	};
}
// src/demo/acts.ts
const graph = "src/graph.ts";
/** What the example answers, before and after it was made more cheerful. */
const answer = "${input}`";
const cheerful = "${input}!`";
/** The main job, in the order in which a team meets it. */
const acts = [
	{
		title: "the first deployment is live and answers",
		async play(stage, screen) {
			const step = await deploy(stage, screen, await stage.repository.head());
			const address = step.outputs["deployment-url"] ?? "";
			const said = address ? await questionsTo(address, stage.service).ask("world") : "";
			screen.line(`   asked "world": "${said}"`);
			return {
				held: isOutcome(step, "deployed") && said === "hello world",
				seen: `${step.outputs["outcome"]}, it says "${said}"`,
				outputs: step.outputs,
				address
			};
		}
	},
	{
		title: "a change is one revision; nobody waits",
		async play(stage, screen, before) {
			const { id, address } = deployed(before);
			const revisions = await stage.revisionsOf(id);
			const questions = questionsTo(address, stage.service);
			await stage.repository.edit(graph, answer, cheerful);
			const commit = await stage.repository.commit("Be more cheerful");
			const asking = questions.keepAsking();
			const step = await deploy(stage, screen, commit);
			const said = await questions.ask("world");
			const { asked, failed } = await asking.stop();
			const made = (await stage.revisionsOf(id)).length - revisions.length;
			screen.line(`   meanwhile ${asked} questions, ${failed.length} without an answer; now "${said}"`);
			for (const each of failed.slice(0, 3)) screen.quote(each);
			return {
				held: isOutcome(step, "deployed") && made === 1 && failed.length === 0 && said === "hello world!",
				seen: `${made} revision; of ${asked} questions ${failed.length} failed`,
				outputs: step.outputs
			};
		}
	},
	{
		title: "the same again changes nothing",
		async play(stage, screen, before) {
			const { id } = deployed(before);
			const revisions = await stage.revisionsOf(id);
			const step = await deploy(stage, screen, await stage.repository.head());
			const made = (await stage.revisionsOf(id)).length - revisions.length;
			return {
				held: isOutcome(step, "unchanged") && made === 0,
				seen: `${step.outputs["outcome"]}, ${made} revisions`
			};
		}
	},
	{
		title: "a broken graph fails, the former one serves",
		async play(stage, screen, before) {
			const { address } = deployed(before);
			await stage.repository.edit(graph, "export const graph =", "export const graph: unknown = undefined;\nexport const other =");
			const step = await deploy(stage, screen, await stage.repository.commit("Forget the graph"));
			const said = await questionsTo(address, stage.service).ask("world");
			screen.line(`   asked "world": "${said}"`);
			const hasLog = step.log.includes("graph");
			return {
				held: step.exitCode === 1 && step.outputs["outcome"] === "failed" && hasLog && said === "hello world!",
				seen: `${step.outputs["outcome"]}, still says "${said}"`
			};
		}
	},
	{
		title: "a wrong answer is rolled back",
		async play(stage, screen, before) {
			const { address } = deployed(before);
			await stage.repository.edit(graph, "export const graph: unknown = undefined;\nexport const other =", "export const graph =");
			await stage.repository.edit(graph, cheerful, "nobody`");
			const step = await deploy(stage, screen, await stage.repository.commit("Lose the thread"), { "on-failure": "rollback" });
			const said = await questionsTo(address, stage.service).ask("world");
			screen.line(`   asked "world": "${said}"`);
			const back = step.outputs["rolled-back-to"] ?? "";
			return {
				held: step.exitCode === 1 && step.outputs["outcome"] === "rolled-back" && back !== "" && said === "hello world!",
				seen: `${step.outputs["outcome"]}, says "${said}"`
			};
		}
	}
];
async function deploy(stage, screen, commit, inputs = {}) {
	screen.line(`   commit ${commit.slice(0, 7)}, then the Action as a runner starts it:`);
	const step = await stage.deploy(commit, inputs, (line) => {
		if (!/^(::|\s+ok )/.test(line)) screen.quote(`| ${line.replaceAll(`${stage.folder}/`, "")}`);
	});
	if (step.exitCode !== 0) screen.line(`   exit code ${step.exitCode}`);
	return step;
}
const isOutcome = ({ exitCode, outputs }, outcome) => exitCode === 0 && outputs["outcome"] === outcome && outputs["smoke-verdict"] === "passed";
function deployed(before) {
	const first = before[0];
	return {
		id: first?.outputs?.["deployment-id"] ?? "",
		address: first?.address ?? ""
	};
}
// src/demo/screen.ts
const width = 80;
const uuids = /\b([0-9a-f]{8})(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;
/** Prints for a terminal of 80 by 24, and for a log just as well: plain lines, none longer than the screen. */
var Screen = class {
	#write;
	constructor(write) {
		this.#write = write;
	}
	line(text = "") {
		this.#write(`${clip(text, width)}\n`);
	}
	/** A line that is to be copied, so it is never cut. */
	whole(text) {
		this.#write(`${text}\n`);
	}
	/** What a step of the demo is about to show. */
	act(number, title) {
		this.line();
		this.line(`${number}. ${title}`);
		this.line("-".repeat(Math.min(width, title.length + 4)));
	}
	/** A line that another program printed; of an id its beginning is enough here. */
	quote(text) {
		this.line(`   ${stripVTControlCharacters(text).replace(uuids, "$1")}`);
	}
	/** What was shown and whether it held. */
	table(rows) {
		const longest = Math.min(40, Math.max(...rows.map(({ title }) => title.length)));
		this.line();
		for (const { title, held, seen } of rows) this.line(`${held ? " ok " : "FAIL"}  ${clip(title, longest).padEnd(longest)}  ${seen}`);
	}
};
const clip = (text, limit) => text.length > limit ? `${text.slice(0, limit - 1)}…` : text;
// src/database/remove-embedded.ts
/**
* Removes a data folder with everything in it, also what lies in root's folder instead, and ends a server that a
* killed process left on it. A folder that does not exist is no error.
*
* @throws FolderBusyError when a process uses the folder.
*/
async function removeEmbeddedData(options) {
	const { dataDir, log, clock = systemClock, systemFolder = defaultSystemFolder } = options;
	if (!existsSync(dataDir)) return;
	const { requested, home } = locate(dataDir, systemFolder).placement;
	const lock = await lockFolder(home, requested, clock, log);
	try {
		await stopLeftover(clusterOf(home), clock, log);
		for (const folder of /* @__PURE__ */ new Set([home, requested])) rmSync(folder, {
			recursive: true,
			force: true,
			maxRetries: 5
		});
	} finally {
		lock.release();
	}
}
// src/demo/local-service.ts
const ready = z.object({
	url: z.string(),
	api_key: z.string(),
	tenant_id: z.string()
});
/** Starts both services and waits for the line that says where they are. */
async function startLocalService(settings) {
	const { root, data, allowGit, port = 0, env = process.env, withinMs = 6e4 } = settings;
	const args = [
		...localProgram(root),
		"--port",
		String(port),
		"--data",
		data,
		"--json",
		"--allow-git",
		allowGit
	];
	const child = spawn(process.execPath, args, {
		env,
		stdio: [
			"ignore",
			"pipe",
			"pipe"
		]
	});
	const lines = [];
	const ended = once(child, "close");
	createInterface({ input: child.stderr }).on("line", (line) => lines.push(line));
	const first = await Promise.race([
		firstJson(child, lines),
		ended.then(() => void 0),
		new Promise((resolve) => setTimeout(resolve, withinMs, void 0).unref())
	]);
	if (!first || child.pid === void 0) {
		child.kill("SIGKILL");
		throw new Error(`The services did not start:\n${lines.slice(-20).join("\n")}`);
	}
	const end = async (signal) => {
		if (child.exitCode !== null || child.signalCode !== null) return;
		child.kill(signal);
		await ended;
	};
	return {
		url: first.url,
		apiKey: first.api_key,
		tenantId: first.tenant_id,
		pid: child.pid,
		log: () => lines.join("\n"),
		stop: () => end("SIGTERM"),
		kill: () => end("SIGKILL")
	};
}
/** From the sources the service's own program; built, where there are no sources, the command line that holds it. */
const localProgram = (root) => import.meta.filename.endsWith(".ts") ? [join(root, "src/control-service/main.ts")] : [join(import.meta.dirname, "cli.js"), "local"];
function firstJson(child, lines) {
	return new Promise((resolve) => {
		if (!child.stdout) return resolve(void 0);
		createInterface({ input: child.stdout }).on("line", (line) => {
			lines.push(line);
			if (line.startsWith("{")) resolve(ready.parse(JSON.parse(line)));
		});
	});
}
// src/demo/repository.ts
const run = promisify(execFile);
/** A git repository on this machine that a person works in. */
var Repository = class Repository {
	folder;
	constructor(folder) {
		this.folder = folder;
	}
	/** Makes a repository of an example: its files, one commit on `main`. */
	static async ofExample(example, folder) {
		await mkdir(folder, { recursive: true });
		await cp(example, folder, {
			recursive: true,
			filter: (path) => !relative(example, path).includes("node_modules")
		});
		const repository = new Repository(folder);
		await repository.#git("init", "--quiet", "--initial-branch=main");
		await repository.commit("Begin");
		return repository;
	}
	/** Puts `to` in the place of `from` in a file, which has to hold it. */
	async edit(file, from, to) {
		const path = join(this.folder, file);
		const text = await readFile(path, "utf8");
		if (!text.includes(from)) throw new Error(`${file} of the example does not hold ${JSON.stringify(from)}`);
		await writeFile(path, text.replace(from, to));
	}
	/** Commits everything and returns the commit. */
	async commit(message) {
		await this.#git("add", "--all");
		await this.#git("commit", "--quiet", "--message", message);
		return this.head();
	}
	/** The newest commit. */
	async head() {
		return (await this.#git("rev-parse", "HEAD")).trim();
	}
	async #git(...args) {
		const { stdout } = await run("git", [
			...[
				"-c",
				"user.name=Demo",
				"-c",
				"user.email=demo@localhost",
				"-c",
				"commit.gpgsign=false"
			],
			"-C",
			this.folder,
			...args
		], { env: {
			PATH: process.env["PATH"],
			HOME: this.folder,
			GIT_CONFIG_NOSYSTEM: "1"
		} });
		return stdout;
	}
};
// src/demo/runner.ts
/** Runs one step as GitHub's runner does: inputs in the environment, outputs and summary in files. */
async function runStep(step) {
	const files = await mkdtemp(join(tmpdir(), "landfall-runner-"));
	try {
		const paths = {
			output: join(files, "output"),
			summary: join(files, "summary"),
			event: join(files, "event.json")
		};
		await mkdir(files, { recursive: true });
		await Promise.all([
			writeFile(paths.output, ""),
			writeFile(paths.summary, ""),
			writeFile(paths.event, JSON.stringify(step.event ?? {}))
		]);
		const begun = performance.now();
		const { exitCode, log } = await spawned(step, {
			GITHUB_OUTPUT: paths.output,
			GITHUB_STEP_SUMMARY: paths.summary,
			GITHUB_EVENT_PATH: paths.event,
			RUNNER_TEMP: files
		});
		return {
			exitCode,
			log,
			ms: performance.now() - begun,
			outputs: readOutputs(await readFile(paths.output, "utf8")),
			summary: await readFile(paths.summary, "utf8")
		};
	} finally {
		await rm(files, {
			recursive: true,
			force: true
		});
	}
}
function spawned(step, files) {
	const inputs = Object.entries(step.inputs).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value]);
	const child = spawn(step.node ?? process.execPath, [step.main], {
		cwd: step.workspace,
		env: {
			PATH: process.env["PATH"],
			HOME: process.env["HOME"],
			CI: "true",
			GITHUB_ACTIONS: "true",
			GITHUB_WORKSPACE: step.workspace,
			...step.github,
			...files,
			...step.env,
			...Object.fromEntries(inputs)
		},
		stdio: [
			"ignore",
			"pipe",
			"pipe"
		]
	});
	const cancel = () => void child.kill("SIGINT");
	step.cancel?.addEventListener("abort", cancel, { once: true });
	const lines = [];
	for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on("line", (line) => {
		lines.push(line);
		step.onLine?.(line);
	});
	return new Promise((resolve, reject) => {
		child.on("error", reject);
		child.on("close", (exitCode) => {
			step.cancel?.removeEventListener("abort", cancel);
			resolve({
				exitCode,
				log: lines.join("\n")
			});
		});
	});
}
/** Reads what a step wrote to GITHUB_OUTPUT: `name<<delimiter`, lines, `delimiter`. */
function readOutputs(text) {
	const outputs = {};
	for (const [, name = "", , value = ""] of text.matchAll(/^([^\n=]+?)<<(\S+)\r?\n([\s\S]*?)\r?\n?\2\r?$/gm)) outputs[name] = value;
	return outputs;
}
// src/demo/stage.ts
/** The repository that the demo's person owns, as GitHub would name it. */
const owner = "acme";
/** @param root of this package: where `dist` and `examples` are. */
async function setStage(root, example) {
	const folder = await mkdtemp(join(tmpdir(), "landfall-demo-"));
	const git = join(folder, "git");
	const data = join(folder, "data");
	await mkdir(git);
	try {
		const repository = await Repository.ofExample(join(root, "examples", example), join(git, owner, example));
		const service = await startLocalService({
			root,
			data,
			allowGit: git
		});
		const repoUrl = pathToFileURL(repository.folder).href;
		return {
			service,
			repository,
			repoUrl,
			folder,
			deploy: (commit, inputs, onLine) => runStep({
				main: join(root, "dist", "index.js"),
				workspace: repository.folder,
				onLine,
				inputs: {
					"base-url": service.url,
					"api-key": service.apiKey,
					"repo-url": repoUrl,
					"poll-seconds": "0.5",
					"timeout-minutes": "5",
					...inputs
				},
				github: {
					GITHUB_SERVER_URL: pathToFileURL(git).href,
					GITHUB_REPOSITORY: `${owner}/${example}`,
					GITHUB_REF: "refs/heads/main",
					GITHUB_SHA: commit,
					GITHUB_EVENT_NAME: "push",
					GITHUB_ACTOR: "demo"
				}
			}),
			revisionsOf: (deploymentId) => revisionsOf(service, deploymentId),
			async clear() {
				await service.stop();
				await removeEmbeddedData({
					dataDir: join(data, "postgres"),
					log: () => void 0
				});
				await rm(folder, {
					recursive: true,
					force: true,
					maxRetries: 5
				});
			}
		};
	} catch (error) {
		await rm(folder, {
			recursive: true,
			force: true
		});
		throw error;
	}
}
async function revisionsOf({ url, apiKey }, deploymentId) {
	const body = await (await fetch(`${url}/v2/deployments/${deploymentId}/revisions?limit=100`, { headers: { "x-api-key": apiKey } })).json();
	const resources = typeof body === "object" && body !== null && "resources" in body ? body.resources : [];
	return (Array.isArray(resources) ? resources : []).map((revision) => typeof revision === "object" && revision !== null && "id" in revision ? String(revision.id) : "");
}
// src/demo/demo.ts
/** Shows the main job on real parts, from nothing. Resolves to the exit code: 0 only where all of it held. */
async function demo({ root, keep, write }) {
	const screen = new Screen(write);
	const begun = performance.now();
	const stopped = new AbortController();
	const stop = () => stopped.abort();
	process.on("SIGINT", stop).on("SIGTERM", stop);
	screen.line("Landfall: an agent is deployed, changed, broken and rolled back on this machine.");
	screen.line("Starting Postgres, the control service and its gateway ...");
	let stage;
	const shown = [];
	try {
		stage = await setStage(root, "echo-agent");
		screen.line(`Ready at ${stage.service.url}; everything lies in ${stage.folder}`);
		for (const [index, { title, play }] of acts.entries()) {
			if (stopped.signal.aborted) break;
			screen.act(index + 1, title);
			const result = await play(stage, screen, shown);
			shown.push({
				title,
				...result
			});
			screen.line(`   ${result.held ? "=> " : "=> DOES NOT HOLD: "}${result.seen}`);
			if (!result.held) break;
		}
		if (keep && !stopped.signal.aborted) await leaveOpen(stage, screen, shown, stopped.signal);
	} finally {
		await stage?.clear();
		process.off("SIGINT", stop).off("SIGTERM", stop);
	}
	const { pid } = stage.service;
	shown.push({
		title: "everything is gone again",
		held: !isRunning(pid),
		seen: `process ${pid} has ended`
	});
	screen.table(shown);
	const whole = shown.length === acts.length + 1 && shown.every(({ held }) => held);
	screen.line();
	screen.line(`${whole ? "All of it held" : "Not all of it held"}, in ${Math.round((performance.now() - begun) / 1e3)} s.`);
	return whole ? 0 : 1;
}
function isRunning(pid) {
	try {
		return process.kill(pid, 0);
	} catch (error) {
		if (error instanceof Error && "code" in error && error.code === "ESRCH") return false;
		throw error;
	}
}
async function leaveOpen({ service }, screen, shown, stopped) {
	const address = shown.find((each) => each.address)?.address ?? service.url;
	for (const line of [
		"",
		"It stays open until Ctrl-C. Ask the agent, or look at its deployments:",
		"",
		`export KEY=${service.apiKey}`,
		`export AGENT=${address}`,
		`export CONTROL=${service.url}`,
		"curl -H \"x-api-key: $KEY\" -H \"content-type: application/json\" \\",
		`  -d '{"assistant_id":"echo","input":{"input":"you"}}' $AGENT/runs/wait`,
		"curl -H \"x-api-key: $KEY\" $CONTROL/v2/deployments"
	]) screen.whole(line);
	await new Promise((resolve) => {
		const alive = setInterval(() => void 0, 6e4);
		const leave = () => {
			clearInterval(alive);
			resolve();
		};
		stopped.addEventListener("abort", leave, { once: true });
	});
}
export { demo };
