#!/usr/bin/env node
let node_child_process = require("node:child_process");
let node_fs = require("node:fs");
let node_path = require("node:path");
// src/cli/launcher.ts
const needed = 24;
const own = (0, node_path.dirname)(__dirname);
const program = (0, node_path.join)(__dirname, "lib", "cli.js");
const isNew = Number(process.versions.node.split(".")[0]) >= needed;
/** The Node that the package `node` brought, in this package's folder or in one above it. */
function nodeOfPackage() {
	const name = process.platform === "win32" ? "node.exe" : "node";
	for (let folder = own;; folder = (0, node_path.dirname)(folder)) {
		const found = (0, node_path.join)(folder, "node_modules", "node", "bin", name);
		if ((0, node_fs.existsSync)(found)) return found;
		if ((0, node_path.dirname)(folder) === folder) return void 0;
	}
}
/** In a checkout what is missing is installed first; an installed package has its packages beside it. */
function command() {
	const ready = (0, node_path.join)(own, "scripts", "ready.mjs");
	const rest = [program].concat(process.argv.slice(2));
	if ((0, node_fs.existsSync)(ready)) return [process.execPath, ready].concat(rest);
	const node = isNew ? process.execPath : nodeOfPackage();
	return node ? [node].concat(rest) : void 0;
}
const found = command();
if (found) {
	var _found$;
	const child = (0, node_child_process.spawn)((_found$ = found[0]) !== null && _found$ !== void 0 ? _found$ : process.execPath, found.slice(1), { stdio: "inherit" });
	for (const signal of [
		"SIGINT",
		"SIGTERM",
		"SIGHUP"
	]) process.on(signal, () => child.kill(signal));
	child.on("error", (error) => {
		console.error(`landfall could not be started: ${error.message}`);
		process.exit(1);
	});
	child.on("exit", (code, signal) => {
		if (signal) {
			process.removeAllListeners(signal);
			process.kill(process.pid, signal);
		} else process.exit(code === null ? 1 : code);
	});
} else {
	console.error(`landfall needs Node ${needed} or later; this is ${process.version}.`);
	console.error("Install Node 24, or add it to the project: npm install --save-dev node@24");
	process.exit(1);
}
