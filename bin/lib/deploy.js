import { n as isNotOffered, t as ServiceError } from "./service-error.js";
import { i as readRepoRef, n as ruleOf, r as isTagRef, t as fieldRules } from "./field-rules.js";
import { n as sameRepository, r as shownRepository, t as isRepositoryNamed } from "./repository-url.js";
import { _ as withResourceDefaults, f as defaultedResourceFields, g as unusedResourceFields, h as roundCpu, m as resourceSpec, p as resourceFields } from "./source.js";
import { o as agentAddress, t as classOfRevisionStatus } from "./revision.js";
import { a as compilePath, c as spoken, i as walkSchema, o as compilePattern, r as schemaFormats, t as schemaDraft } from "./json-schema.js";
import { i as MetadataEventData, n as ErrorEventData, o as UpdatesEventData, s as splitEventName } from "./stream-event.js";
import { deepCompareStrict, validate } from "@cfworker/json-schema";
// src/decide/plan-fields.ts
/** Every plain field that was asked for, in the order of the document. */
function askedFields(desired) {
	return (desired.source === "github" ? [
		["source_config.integration_id", desired.integrationId],
		["source_config.repo_url", desired.repoUrl],
		["source_config.deployment_type", desired.deploymentType],
		["source_config.build_on_push", desired.buildOnPush],
		["source_config.install_command", desired.installCommand],
		["source_config.build_command", desired.buildCommand],
		["source_revision_config.repo_ref", desired.repoRef],
		["source_revision_config.graph_config_path", desired.graphConfigPath]
	] : [
		["source_config.custom_url", desired.customUrl],
		["source_config.listener_id", desired.listenerId],
		["source_config.listener_config.k8s_namespace", desired.k8sNamespace],
		["source_revision_config.image_uri", desired.imageUri]
	]).flatMap(([path, value]) => value === void 0 ? [] : [{
		path,
		value
	}]);
}
/** The plain fields that were asked for, as a request holds them; `only` picks some of them. */
function requestFields(desired, only) {
	const pick = (path, value) => value !== void 0 && only(path) ? value : void 0;
	const namespace = desired.source === "external_docker" ? pick("source_config.listener_config.k8s_namespace", desired.k8sNamespace) : void 0;
	return desired.source === "github" ? {
		source_config: present({
			integration_id: pick("source_config.integration_id", desired.integrationId),
			repo_url: pick("source_config.repo_url", desired.repoUrl),
			deployment_type: pick("source_config.deployment_type", desired.deploymentType),
			build_on_push: pick("source_config.build_on_push", desired.buildOnPush),
			install_command: pick("source_config.install_command", desired.installCommand),
			build_command: pick("source_config.build_command", desired.buildCommand)
		}),
		source_revision_config: present({
			repo_ref: pick("source_revision_config.repo_ref", desired.repoRef),
			graph_config_path: pick("source_revision_config.graph_config_path", desired.graphConfigPath)
		})
	} : {
		source_config: present({
			custom_url: pick("source_config.custom_url", desired.customUrl),
			listener_id: pick("source_config.listener_id", desired.listenerId),
			listener_config: namespace === void 0 ? void 0 : { k8s_namespace: namespace }
		}),
		source_revision_config: present({ image_uri: pick("source_revision_config.image_uri", desired.imageUri) })
	};
}
/** The object without the members that are undefined. */
function present(object) {
	const kept = {};
	for (const key in object) {
		const value = object[key];
		if (isThere$1(value)) kept[key] = value;
	}
	return kept;
}
const isThere$1 = (value) => value !== void 0;
/** What the service holds at a path; `undefined` where it does not tell, `null` where it tells that nothing is there. */
function heldAt(deployment, path) {
	let held = deployment;
	for (const step of path.split(".")) {
		if (held === void 0 || held === null) return held;
		if (typeof held !== "object" || !Object.hasOwn(held, step)) return void 0;
		held = Object.entries(held).find(([key]) => key === step)?.[1];
	}
	return held;
}
/** Whether what was asked for is there already, in whichever spelling the service tells it. */
function sameField(path, asked, held) {
	if (typeof asked !== "string" || typeof held !== "string") return asked === held;
	switch (path) {
		case "source_config.repo_url": return sameRepository(asked, held);
		case "source_config.integration_id":
		case "source_config.listener_id": return asked.toLowerCase() === held.toLowerCase();
		case "source_config.custom_url": return asked.replace(/\/+$/, "") === held.replace(/\/+$/, "");
		case "source_revision_config.graph_config_path": return asked.replace(/^(\.\/)+/, "") === held.replace(/^(\.\/)+/, "");
		case "source_revision_config.repo_ref": return spelledRef(asked) === spelledRef(held);
		default: return asked === held;
	}
}
/** A ref in the document's spelling; one that cannot be read stays as it is. */
function spelledRef(ref) {
	const read = readRepoRef(ref);
	return read.ok ? read.ref : ref;
}
/** The plain fields that differ: what to change, what stands in the way, and what could not be compared. */
function compareFields(desired, deployment) {
	const changes = [];
	const obstacles = [];
	const notes = [];
	for (const { path, value } of askedFields(desired)) {
		const held = heldAt(deployment, path);
		if (sameField(path, value, held)) continue;
		const { patch } = ruleOf(path);
		if (patch !== "fixed") changes.push(fieldChange(path, held, value, patch));
		else if (held === void 0) notes.push(`${path} could not be compared: the service does not tell it`);
		else obstacles.push(fixed(path, held, value));
	}
	return {
		changes,
		obstacles,
		notes
	};
}
/** A change of one plain field, in words. */
function fieldChange(path, held, asked, patch) {
	const makesRevision = patch === "revision";
	const effect = {
		revision: "and it makes a revision",
		"in-place": "and it changes in place",
		"next-revision": "and it takes effect with the next revision",
		fixed: "and it is set for good",
		"read-only": "and the service sets it"
	}[patch];
	return {
		field: path,
		from: shown(path, held),
		to: shown(path, asked),
		makesRevision,
		why: `it differs, ${effect}`
	};
}
/** The input that asks for a field: `source_config.repo_url` is asked for by `repo-url`. */
const inputOf = (path) => (path.split(".").at(-1) ?? path).replaceAll("_", "-");
/** A field's value as it may be shown, or undefined where there is none. */
function shown(path, value) {
	if (value === void 0 || value === null) return void 0;
	const text = typeof value === "string" ? value : JSON.stringify(value);
	return path.endsWith("_url") ? shownRepository(text) : text;
}
function fixed(path, held, asked) {
	const input = inputOf(path);
	const there = shown(path, held);
	return {
		field: path,
		problem: there === void 0 ? `it was left open when the deployment was created, and it cannot be set to ${shown(path, asked)} afterwards` : `it is ${there} since the deployment was created, and it cannot be changed to ${shown(path, asked)}`,
		advice: `${there === void 0 ? `Remove ${input}` : `Set ${input} to ${there} or remove it`}, or give another name to create a new deployment.`
	};
}
// src/decide/plan-resources.ts
const path = "source_config.resource_spec";
const unused = new Set(unusedResourceFields);
const schemas = new Map(Object.entries(resourceFields.shape));
/**
* Compares the resources that were asked for with those that are there, by what they mean: CPU to one decimal place,
* a field left open is the same as its default (control-service.md, ResourceSpec), null and empty are the same as
* absent. PATCH replaces `resource_spec` whole, so what is there and was not asked for is sent along. A null that was
* asked for leaves the field to its default again.
*/
function compareResources(asked, held) {
	if (asked === void 0) return {
		changes: [],
		obstacles: [],
		notes: []
	};
	const { spec: there, unreadable, unknown } = readableSpec(held);
	const merged = merge(there, asked);
	const [before, after] = [meaning(there), meaning(merged)];
	const changes = [.../* @__PURE__ */ new Set([...Object.keys(before), ...Object.keys(after)])].filter((field) => !unused.has(field) && !sameValue(before[field], after[field])).map((field) => ({
		field: `${path}.${field}`,
		from: shownValue(before[field]),
		to: shownValue(after[field]),
		makesRevision: true,
		why: Object.hasOwn(asked, field) ? "it differs, and resource_spec is sent whole" : "it was at the default that follows from a field that changes"
	}));
	const notes = Object.keys(asked).filter((field) => unused.has(field)).map((field) => `${path}.${field} has no effect: the service marks it as not to be used`);
	if (changes.length === 0) return {
		changes,
		obstacles: [],
		notes
	};
	return {
		spec: merged,
		changes,
		obstacles: [...unreadable.filter((field) => !Object.hasOwn(asked, field)).map(cannotBeKept), ...contradictions(merged)],
		notes: [...notes, ...unknown.map((field) => `${path}.${field} is not known here and goes, as it is sent whole`)]
	};
}
/** The resources to create with, and what is wrong about them. */
function requestedResources(asked) {
	const spec = merge({}, asked);
	return {
		spec,
		obstacles: contradictions(spec)
	};
}
/** Whether two specs ask for the same, whatever they leave to defaults. */
function sameResources(one, other) {
	const [a, b] = [meaning(readableSpec(one).spec), meaning(readableSpec(other).spec)];
	return [...Object.keys(a), ...Object.keys(b)].every((field) => unused.has(field) || sameValue(a[field], b[field]));
}
/** The part of a reply's spec that may be sent again; the names of fields that could not be read, or are not known. */
function readableSpec(held) {
	const fields = isObject(held) ? Object.entries(held).flatMap(([field, value]) => isNothing(value) ? [] : [[field, withoutNulls(value)]]) : [];
	const known = fields.filter(([field]) => schemas.has(field));
	const readable = known.filter(([field, value]) => schemas.get(field)?.safeParse(value).success);
	return {
		spec: resourceFields.safeParse(Object.fromEntries(readable)).data ?? {},
		unreadable: known.filter((field) => !readable.includes(field)).map(([field]) => field),
		unknown: fields.filter(([field]) => !schemas.has(field)).map(([field]) => field)
	};
}
/** What is there, with what was asked for laid over it. */
function merge(there, asked) {
	const merged = {
		...there,
		...rounded(asked)
	};
	for (const field of fieldsOf(asked)) if (asked[field] == null) delete merged[field];
	for (const field of defaultedResourceFields) {
		if (there[field] == null || asked[field] !== void 0 || defaultOf(field, there) !== there[field]) continue;
		const follows = defaultOf(field, merged);
		if (follows != null && follows !== there[field]) delete merged[field];
	}
	return merged;
}
function defaultOf(field, spec) {
	const { [field]: _set, ...open } = spec;
	return withResourceDefaults(open)[field];
}
/** CPU as the service will keep it: to one decimal place. */
const rounded = (spec) => Object.fromEntries(Object.entries(spec).map(([field, value]) => [field, isCpu(field) && typeof value === "number" ? roundCpu(value) : value]));
const names = resourceFields.keyof().options;
const fieldsOf = (spec) => names.filter((field) => Object.hasOwn(spec, field));
/** What the fields together may not be, for example a mount without its volume. */
function contradictions(spec) {
	return (resourceSpec.safeParse(spec).error?.issues ?? []).map((issue) => ({
		field: [path, ...issue.path].join("."),
		problem: issue.message,
		advice: "Correct it in resource-spec; what is there already and was not asked for is sent along."
	}));
}
const cannotBeKept = (field) => ({
	field: `${path}.${field}`,
	problem: "it holds something that is not known here, and it would be lost, as resource_spec is sent whole",
	advice: `Give ${field} in resource-spec too, as it shall be.`
});
function meaning(spec) {
	const meant = {};
	for (const [field, value] of Object.entries(withResourceDefaults(spec))) if (!isNothing(value)) meant[field] = isCpu(field) && typeof value === "number" ? roundCpu(value) : value;
	return meant;
}
const isCpu = (field) => field.includes("cpu");
/** Equal but for nulls, and for the empty `value` that an EnvVar has by default. */
function sameValue(one, other) {
	return canonical(one) === canonical(other);
}
function canonical(value) {
	return JSON.stringify(value, (key, each) => {
		if (key === "value" && each === "") return void 0;
		if (!isObject(each)) return each;
		const entries = Object.entries(each).filter(([, member]) => member !== null && member !== void 0);
		return Object.fromEntries(entries.toSorted(([a], [b]) => a < b ? -1 : 1));
	});
}
function withoutNulls(value) {
	if (Array.isArray(value)) return value.map(withoutNulls);
	if (!isObject(value)) return value;
	return Object.fromEntries(Object.entries(value).flatMap(([key, each]) => each === null ? [] : [[key, withoutNulls(each)]]));
}
/** Numbers and names as they are; of everything that may hold a value of an environment, only how much there is. */
function shownValue(value) {
	if (isNothing(value)) return void 0;
	if (Array.isArray(value)) return `${value.length} ${value.length === 1 ? "entry" : "entries"}`;
	if (isObject(value)) return Object.keys(value).toSorted().join(", ");
	return String(value);
}
const isNothing = (value) => value === null || value === void 0 || Array.isArray(value) && value.length === 0 || isObject(value) && Object.keys(value).length === 0;
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
// src/decide/plan-secrets.ts
/**
* Compares the secrets that were asked for with those that are there. PATCH replaces the whole set
* (control-service.md, Secret), so `merge` sends the union of both. Values are compared and never told.
*/
function compareSecrets(asked, strategy, held) {
	if (asked === void 0) return {
		changes: [],
		obstacles: []
	};
	const wanted = new Map(asked.map(({ name, value }) => [name, value]));
	const there = new Map(held.map(({ name, value }) => [name, value]));
	const kept = held.filter(({ name }) => strategy === "merge" && !wanted.has(name));
	const changes = [];
	for (const [name, value] of wanted) {
		const is = there.get(name);
		if (is === value) continue;
		changes.push(is === void 0 ? change(name, void 0, "set", "it is not there") : change(name, "set", "set", "it differs"));
	}
	for (const name of there.keys()) {
		if (wanted.has(name) || strategy === "merge") continue;
		changes.push(change(name, "set", void 0, "nobody asked for it, and secrets-strategy is overwrite"));
	}
	if (changes.length === 0) return {
		changes,
		obstacles: []
	};
	return {
		set: [...kept.map(({ name, value }) => ({
			name,
			value
		})), ...[...wanted].map(([name, value]) => ({
			name,
			value
		}))],
		changes,
		obstacles: kept.filter(({ value }) => isMask(value)).map(({ name }) => maskedSecret(name))
	};
}
/** `secret_references` are replaced whole, in place (control-service.md, SecretReference). Their order means nothing. */
function compareReferences(asked, held) {
	if (asked === void 0) return [];
	const wanted = new Map(asked.map((reference) => [reference.name, source(reference)]));
	const there = new Map((held ?? []).map((reference) => [reference.name, source(reference)]));
	return [.../* @__PURE__ */ new Set([...wanted.keys(), ...there.keys()])].filter((name) => wanted.get(name) !== there.get(name)).map((name) => ({
		field: `secret_references.${name}`,
		from: there.get(name),
		to: wanted.get(name),
		makesRevision: false,
		why: wanted.has(name) ? "it differs, and it takes effect with the next revision" : "nobody asked for it, and the list is replaced whole"
	}));
}
const source = ({ secret_name, secret_key }) => `${secret_name}/${secret_key}`;
const change = (name, from, to, why) => ({
	field: `secrets.${name}`,
	from,
	to,
	makesRevision: true,
	why
});
/** Sending back the asterisks of a service that hides values would overwrite the secret with them. */
const isMask = (value) => /^[*•]{3,}$/.test(value);
const maskedSecret = (name) => ({
	field: `secrets.${name}`,
	problem: "the service hides its value, and a change of any secret replaces all of them, so it would be lost",
	advice: `Give ${name} in secrets too, or set secrets-strategy to overwrite if it may go.`
});
// src/decide/plan-tag.ts
/** A tag is never built on push (control-service.md, source_config: `build_on_push`). */
function pushOnTag(desired, deployment) {
	if (desired.source !== "github") return [];
	const ref = desired.repoRef ?? deployment?.source_revision_config.repo_ref;
	const onPush = desired.buildOnPush ?? deployment?.source_config.build_on_push;
	if (!ref || !onPush || !isTagRef(spelledRef(ref))) return [];
	if (desired.repoRef === void 0 && desired.buildOnPush === void 0) return [];
	return [{
		field: "source_config.build_on_push",
		problem: `it ${desired.buildOnPush ? "is asked for" : "is on"}, and ${ref} is a tag: tags are not built on push`,
		advice: "Set build-on-push to false, or repo-ref to a branch."
	}];
}
// src/decide/plan-create.ts
/** The plan for a deployment that does not exist: created whole, or what is missing for that. */
function planCreation(asked, { integration, listener }) {
	const desired = withFoundIds(asked, integration, listener);
	const resources = requestedResources(desired.source === "external_docker" ? desired.resourceSpec ?? {} : {});
	const obstacles = [
		...missing(desired),
		...choices("source_config.integration_id", asked.source === "github" ? integration : void 0),
		...choices("source_config.listener_id", asked.source === "external_docker" ? listener : void 0),
		...pushOnTag(desired, void 0),
		...resources.obstacles
	];
	if (obstacles.length > 0) return {
		kind: "impossible",
		obstacles
	};
	const parts = requestFields(desired, () => true);
	const references = desired.source === "external_docker" ? desired.secretReferences : void 0;
	const request = {
		name: desired.name ?? "",
		source: desired.source,
		source_config: Object.keys(resources.spec).length > 0 ? {
			...parts.source_config,
			resource_spec: resources.spec
		} : parts.source_config,
		source_revision_config: parts.source_revision_config,
		secrets: (desired.secrets ?? []).map(({ name, value }) => ({
			name,
			value
		})),
		...references ? { secret_references: references.map((reference) => ({ ...reference })) } : {}
	};
	return {
		kind: "create",
		request,
		changes: changesOf(desired, request),
		notes: notesOf(asked, integration, listener)
	};
}
function withFoundIds(desired, integration, listener) {
	if (desired.source === "github") {
		const id = desired.integrationId ?? (integration?.kind === "one" ? integration.id : void 0);
		return id === void 0 ? desired : {
			...desired,
			integrationId: id
		};
	}
	const id = desired.listenerId ?? (listener?.kind === "one" ? listener.id : void 0);
	return id === void 0 ? desired : {
		...desired,
		listenerId: id
	};
}
/** The fields that this source cannot be created without. Secrets may be none. */
function missing(desired) {
	const given = /* @__PURE__ */ new Set([
		"source",
		"secrets",
		...askedFields(desired).map(({ path }) => path)
	]);
	if (desired.name) given.add("name");
	return fieldRules.filter(({ path, requiredFor }) => requiredFor.includes(desired.source) && !given.has(path)).map(({ path }) => ({
		field: path,
		problem: `a deployment of source ${desired.source} cannot be created without it`,
		advice: `Give ${inputOf(path)}.`
	}));
}
function choices(path, found) {
	if (found?.kind !== "choices") return [];
	return [{
		field: path,
		problem: `nobody said which one, and there are ${found.choices.length}: ${found.choices.map(({ id, name }) => `${name} (${id})`).join(", ")}`,
		advice: `Set ${inputOf(path)} to one of these ids.`
	}];
}
function changesOf(desired, request) {
	const created = (change) => ({
		...change,
		why: "the deployment is created with it"
	});
	const resources = Object.entries(request.source_config.resource_spec ?? {}).map(([field, value]) => ({
		field: `source_config.resource_spec.${field}`,
		from: void 0,
		to: typeof value === "object" ? "set" : String(value),
		makesRevision: true,
		why: ""
	}));
	return [
		{
			field: "name",
			from: void 0,
			to: request.name,
			makesRevision: false,
			why: ""
		},
		{
			field: "source",
			from: void 0,
			to: request.source,
			makesRevision: false,
			why: ""
		},
		...askedFields(desired).map(({ path, value }) => fieldChange(path, void 0, value, ruleOf(path).patch)),
		...resources,
		...compareSecrets(request.secrets, "overwrite", []).changes,
		...compareReferences(request.secret_references ?? [], [])
	].map(created);
}
function notesOf(desired, integration, listener) {
	const found = desired.source === "github" && desired.integrationId === void 0 ? integration : desired.source === "external_docker" && desired.listenerId === void 0 ? listener : void 0;
	return found && found.kind !== "choices" ? [found.why] : [];
}
// src/decide/commit.ts
/**
* The commit that a build of `repoRef` should be of: the workflow's own where the workflow runs on that repository and
* branch (on a pull request the head of its branch, never the merge), else the head of the ref as it was handed in.
*/
function commitOf({ repoUrl, repoRef, workflow, head }) {
	if (repoUrl === void 0 || repoRef === void 0) return {
		kind: "unknown",
		why: "the service does not tell which repository and ref it builds"
	};
	const own = workflow && commitOfWorkflow(workflow, repoUrl, repoRef);
	if (own) return {
		kind: "known",
		sha: own,
		from: "this workflow"
	};
	if (head) return {
		kind: "known",
		sha: head,
		from: `the head of ${repoRef}`
	};
	return {
		kind: "unknown",
		why: workflow ? `this workflow runs on ${workflow.headRef ?? workflow.ref} of ${workflow.repository}, which is not what is deployed` : "no workflow says which commit it runs on"
	};
}
function commitOfWorkflow(workflow, repoUrl, repoRef) {
	const { repository, serverUrl, ref, sha, headRef, headSha, headRepository } = workflow;
	const isDeployed = (name) => sameRepository(`${serverUrl.replace(/\/+$/, "")}/${name}`, repoUrl);
	if (headSha && headRef === repoRef && headRepository && isDeployed(headRepository)) return headSha;
	return (ref === repoRef || ref === `refs/heads/${repoRef}`) && isDeployed(repository) ? sha : void 0;
}
/** Whether two commits are one: letters' case aside, and one of them may be told in short. */
function sameCommit(one, other) {
	if (!one || !other) return false;
	const [short = "", long = ""] = [one.toLowerCase(), other.toLowerCase()].toSorted((a, b) => a.length - b.length);
	return short.length >= 7 && long.startsWith(short);
}
/** A commit as people say it. */
const shortCommit = (sha) => sha.slice(0, 7);
// src/decide/plan-rebuild.ts
/** A finished revision that does not serve yet is on its way; so is one with a status that nobody knows. */
function standingOf(revision, activeRevisionId) {
	const known = classOfRevisionStatus(revision.status);
	if (known === "live") return revision.id === activeRevisionId ? "live" : "on-its-way";
	return known === "in-progress" || known === "unknown" ? "on-its-way" : "ended";
}
/** Decides for a deployment that exists. */
function rebuilding(desired, deployment, seen) {
	const latest = seen.latest && {
		...seen.latest,
		standing: standingOf(seen.latest, deployment.active_revision_id)
	};
	const actual = {
		live: seen.live,
		latest,
		onTheirWay: seen.onTheirWay ?? []
	};
	if (desired.source === "external_docker") return ofImage(desired, actual);
	if (desired.rebuild === "always") return make("rebuild is always");
	return desired.rebuild === "never" ? whereNothingIsRebuilt(actual) : ofCommit(desired, actual, seen);
}
const make = (why, notes = []) => ({
	kind: "make",
	why,
	notes
});
const stay = (why, notes = []) => ({
	kind: "stay",
	why,
	notes
});
const adopt = (revision, why, notes = [], untold = false) => ({
	kind: "adopt",
	revisionId: revision.id,
	untold,
	why,
	notes
});
const commitOfRevision = (revision) => revision?.source_revision_config.repo_commit_sha;
function ofCommit(desired, { live, latest, onTheirWay }, { commit }) {
	if (commit.kind === "unknown") {
		const why = `which commit is asked for cannot be known (${commit.why})`;
		return make(why, [`${why}: the ref is built again to be sure`]);
	}
	const wanted = shortCommit(commit.sha);
	const isOurs = (revision) => sameCommit(commitOfRevision(revision), commit.sha);
	const ours = (latest?.standing === "on-its-way" ? [latest, ...onTheirWay] : onTheirWay).find(isOurs);
	if (ours) {
		const newer = ours.id === latest?.id ? [] : [`a newer revision (${latest?.id}) waits behind the one of ${wanted}`];
		return adopt(ours, `revision ${ours.id} of commit ${wanted} is on its way already (${ours.status})`, newer);
	}
	if (latest?.standing === "on-its-way" && !commitOfRevision(latest)) {
		const why = `revision ${latest.id} is on its way (${latest.status}) and does not tell its commit yet`;
		return adopt(latest, why, [why], true);
	}
	if (isOurs(live)) return latest?.standing === "ended" && (isOurs(latest) || !commitOfRevision(latest)) && asksMoreThanRevisionsTell(desired) ? make(`${endedWords(latest)}, and the live one may lack what it carried`) : stay(`commit ${wanted} is live already`, notesOn(latest, live));
	if (latest?.standing === "ended" && isOurs(latest)) return make(`${endedWords(latest)} for commit ${wanted}`);
	if (live && !commitOfRevision(live)) {
		const why = "the live revision does not tell which commit it was built from";
		return make(why, [`${why}: the ref is built again to be sure`]);
	}
	return make(`commit ${wanted} is not live${live ? `, ${shortCommit(commitOfRevision(live) ?? "")} is` : ""}`);
}
function ofImage(desired, { live, latest }) {
	if (latest?.standing === "on-its-way") return adoptAsIs(latest);
	if (latest?.standing === "ended") {
		const serves = live && (desired.imageUri ?? live.source_revision_config.image_uri);
		return serves && serves === live.source_revision_config.image_uri && !asksMoreThanRevisionsTell(desired) ? stay(`image ${serves} is live already`, notesOn(latest, live)) : make(endedWords(latest));
	}
	return latest ? stay("nothing differs from what is live") : make("there is no revision yet");
}
function whereNothingIsRebuilt({ live, latest }) {
	if (latest?.standing === "on-its-way") return adoptAsIs(latest);
	if (live) return stay("no field differs, and rebuild is never", notesOn(latest, live));
	return {
		kind: "stuck",
		obstacle: {
			field: "rebuild",
			problem: `nothing is live${latest ? ` (${endedWords(latest)})` : ""}, and rebuild: never forbids to build again`,
			advice: "Set rebuild to auto."
		}
	};
}
const adoptAsIs = (latest) => adopt(latest, `nothing differs from revision ${latest.id}, which is on its way already (${latest.status})`);
/**
* A revision tells its source and nothing of the secrets, resources and commands that it was made with: those of a
* deployment are the newest ones, which a revision that ended badly may never have brought to life.
*/
function asksMoreThanRevisionsTell(desired) {
	if (desired.secrets !== void 0) return true;
	return desired.source === "github" ? desired.installCommand !== void 0 || desired.buildCommand !== void 0 : desired.resourceSpec !== void 0 || desired.secretReferences !== void 0;
}
const endedWords = ({ id, status }) => `revision ${id} ended ${status}`;
function notesOn(latest, live) {
	if (!latest || latest.id === live?.id) return [];
	return latest.standing === "ended" ? [`the newest ${endedWords(latest)} and does not serve`] : [`revision ${latest.id} of another commit is on its way (${latest.status}) and will take over`];
}
// src/decide/plan-restate.ts
/**
* Restating the same ref or image is deliberate: a push does not change a branch's name, and only a non-null source
* field makes the service build again. Undefined where nothing has to be restated.
*/
function restatement(desired, deployment, rebuilt, differing) {
	const github = desired.source === "github";
	const field = github ? "source_revision_config.repo_ref" : "source_revision_config.image_uri";
	if (!isNeeded(rebuilt, github, differing) || differing.some((change) => change.field === field)) return void 0;
	const held = github ? deployment.source_revision_config.repo_ref : deployment.source_revision_config.image_uri;
	const value = (github ? desired.repoRef : desired.imageUri) ?? (github && held ? spelledRef(held) : held);
	if (!value) return {
		kind: "impossible",
		obstacle: {
			field,
			problem: "a new revision is needed, and the service does not tell what the deployment is made from",
			advice: `Give ${inputOf(field)}.`
		}
	};
	return {
		kind: "restated",
		change: {
			field,
			from: shown(field, held),
			to: shown(field, value),
			makesRevision: true,
			why: `restated so that a revision is made: ${reason(rebuilt)}`
		},
		part: github ? { repo_ref: value } : { image_uri: value }
	};
}
/** A revision that is made anyway runs whichever image is set, but only a stated ref is sure to be built anew. */
function isNeeded(rebuilt, github, differing) {
	const isMade = differing.some(({ makesRevision }) => makesRevision);
	if (rebuilt.kind === "make") return github || !isMade;
	return rebuilt.kind === "adopt" && rebuilt.untold && isMade;
}
const reason = (rebuilt) => rebuilt.kind === "stuck" ? rebuilt.obstacle.problem : rebuilt.why;
// src/decide/plan.ts
/**
* What has to be done so that `desired` runs, and why. Pure: the same two values give the same plan. A field that does
* not differ is never sent, because setting one can make a revision (control-service.md, source_revision_config); the
* one exception is the source itself, restated where a revision is needed that no difference would make.
*/
function plan(desired, seen) {
	const { deployment } = seen;
	if (!deployment) return planCreation(desired, seen);
	const identity = identityObstacles(desired, deployment);
	if (identity.some(({ field }) => field === "source")) return {
		kind: "impossible",
		obstacles: identity
	};
	const fields = compareFields(desired, deployment);
	const secrets = compareSecrets(desired.secrets, desired.secretsStrategy, deployment.secrets);
	const docker = desired.source === "external_docker" ? desired : void 0;
	const resources = compareResources(docker?.resourceSpec, deployment.source_config.resource_spec);
	const references = compareReferences(docker?.secretReferences, deployment.secret_references);
	const differing = [
		...fields.changes,
		...resources.changes,
		...secrets.changes,
		...references
	];
	const isMade = differing.some(({ makesRevision }) => makesRevision);
	const rebuilt = rebuilding(desired, deployment, seen);
	const obstacles = [
		...identity,
		...fields.obstacles,
		...pushOnTag(desired, deployment),
		...resources.obstacles,
		...secrets.obstacles,
		...rebuilt.kind === "stuck" && !isMade ? [rebuilt.obstacle] : []
	];
	const restated = restatement(desired, deployment, rebuilt, differing);
	if (restated?.kind === "impossible") obstacles.push(restated.obstacle);
	if (obstacles.length > 0 || restated?.kind === "impossible") return {
		kind: "impossible",
		obstacles
	};
	const changes = [...differing, ...restated ? [restated.change] : []];
	const makesRevision = isMade || restated !== void 0;
	const adopting = rebuilt.kind === "adopt" && !makesRevision ? adoption(rebuilt) : {};
	const notes = [
		...fields.notes,
		...resources.notes,
		...rebuilt.kind === "stuck" || isMade && !restated ? [] : rebuilt.notes,
		...makesRevision ? [] : laterEffects(changes)
	];
	if (changes.length === 0) {
		const why = rebuilt.kind === "stuck" ? rebuilt.obstacle.problem : rebuilt.why;
		return {
			kind: "none",
			deploymentId: deployment.id,
			why,
			notes,
			...adopting
		};
	}
	const sent = new Set(changes.map(({ field }) => field));
	const parts = requestFields(desired, (path) => sent.has(path));
	const request = {
		...filled("source_config", {
			...parts.source_config,
			...resources.spec ? { resource_spec: resources.spec } : {}
		}),
		...filled("source_revision_config", {
			...parts.source_revision_config,
			...restated?.part
		}),
		...secrets.set ? { secrets: secrets.set.map((secret) => ({ ...secret })) } : {},
		...references.length > 0 ? { secret_references: docker?.secretReferences?.map((each) => ({ ...each })) } : {}
	};
	return {
		kind: "patch",
		deploymentId: deployment.id,
		request,
		changes,
		makesRevision,
		formerLatestRevisionId: deployment.latest_revision_id,
		notes,
		...adopting
	};
}
const adoption = (rebuilt) => rebuilt.untold ? {
	adopt: rebuilt.revisionId,
	untoldCommit: true
} : { adopt: rebuilt.revisionId };
function filled(name, part) {
	const whole = {};
	if (Object.keys(part).length > 0) whole[name] = part;
	return whole;
}
/** What was chosen for good when the deployment was created. */
function identityObstacles(desired, deployment) {
	const obstacles = [];
	if (deployment.status === "AWAITING_DELETE" || deployment.status === "AWAITING_FINAL_DELETE") obstacles.push({
		field: "status",
		problem: `the deployment is being deleted (${deployment.status})`,
		advice: "Run this again when it is gone, or give another name."
	});
	if (desired.source !== deployment.source) obstacles.push({
		field: "source",
		problem: `it is ${deployment.source} since the deployment was created, and it cannot be changed to ${desired.source}`,
		advice: `Set source to ${deployment.source}, or give another name to create a new deployment.`
	});
	if (desired.name !== void 0 && desired.name !== deployment.name) obstacles.push({
		field: "name",
		problem: `the deployment of this deployment-id is named ${deployment.name}, and a name cannot be changed`,
		advice: `Set name to ${deployment.name} or remove it, or remove deployment-id to find one by its name.`
	});
	return obstacles;
}
/** What is changed by now and helps nobody until the next revision. */
function laterEffects(changes) {
	const later = changes.filter(({ field }) => ruleOf(field.replace(/^(secret_references)\..*$/, "$1")).patch === "next-revision").map(({ field }) => field);
	return later.length === 0 ? [] : [`${later.join(", ")}: changed, and without effect until the next revision`];
}
// src/decide/plan-carried.ts
/**
* Whether a revision was made from the source that a PATCH asked for: what an answer that never came is settled by.
* Who made it does not matter, as long as it is the same.
*/
function carriesSource(request, revision) {
	return Object.entries(request.source_revision_config ?? {}).every(([field, asked]) => typeof asked !== "string" || sameField(`source_revision_config.${field}`, asked, Object.entries(revision.source_revision_config).find(([name]) => name === field)?.[1]));
}
/** Whether a deployment holds everything beside the source that a PATCH asked for. */
function holdsSettings(request, deployment) {
	const { listener_config, resource_spec, ...plain } = request.source_config ?? {};
	return [...Object.entries(plain).map(([field, asked]) => [`source_config.${field}`, asked]), ["source_config.listener_config.k8s_namespace", listener_config?.k8s_namespace]].every(([path, asked]) => typeof asked !== "string" && typeof asked !== "boolean" || sameField(path, asked, heldAt(deployment, path))) && (resource_spec == null || sameResources(resource_spec, deployment.source_config.resource_spec)) && (request.secrets == null || compareSecrets(request.secrets, "overwrite", deployment.secrets).changes.length === 0) && compareReferences(request.secret_references ?? void 0, deployment.secret_references).length === 0;
}
// src/deploy/attempt.ts
/** The other party's failure as a value. Everything else, an abort among it, goes on as it was thrown. */
async function attempt(call) {
	try {
		return {
			ok: true,
			value: await call
		};
	} catch (error) {
		if (error instanceof ServiceError) return {
			ok: false,
			error
		};
		throw error;
	}
}
// src/deploy/find.ts
const pageSize$2 = 100;
/**
* The deployments that are meant: by id there is exactly one or the service's error, by name there may be none. The
* service may match names loosely, so the name is compared here, on every page.
*/
async function find(story) {
	const { control, desired } = story.request;
	if (desired.deploymentId !== void 0) return [story.saw(await control.getDeployment(desired.deploymentId, story.reading()))];
	return desired.name === void 0 ? [] : findByName(desired.name, story);
}
/** Every deployment of exactly this name; none where the service does not list deployments, which is noted. */
async function findByName(name, story) {
	const met = /* @__PURE__ */ new Set();
	const found = [];
	for (let offset = 0;; offset += pageSize$2) {
		const query = {
			name_contains: name,
			limit: pageSize$2,
			offset
		};
		const page = await attempt(story.request.control.listDeployments(query, story.reading()));
		if (!page.ok) {
			if (!isNotOffered(page.error)) throw page.error;
			story.note("this service does not list deployments, so none is found by its name: give deployment-id where it is known");
			return [];
		}
		const fresh = page.value.resources.filter(({ id }) => !met.has(id));
		for (const deployment of fresh) {
			met.add(deployment.id);
			if (deployment.name === name) found.push(story.saw(deployment));
		}
		if (page.value.resources.length < pageSize$2 || fresh.length === 0) return found;
	}
}
// src/deploy/settle.ts
/** Looks for at most `ms` until `sight` finds something. A look that fails is taken again. */
async function looking(ms, story, sight) {
	const until = story.request.clock.now() + ms;
	for (;;) {
		const seen = await attempt(sight());
		if (seen.ok && seen.value !== void 0) return seen.value;
		if (!seen.ok) story.tell({
			kind: "poll-failed",
			why: story.redact(seen.error.message)
		});
		if (story.request.clock.now() >= until) return void 0;
		await story.untilNextPoll(until, seen.ok ? 0 : seen.error.retryAfterMs);
	}
}
/**
* What became of a creation whose answer never came, or lacked its first revision. By name it was not there before, so
* one of this name and source is what was asked for, whoever made it.
*/
function settleCreation({ name, source }, id, ms, story) {
	return looking(ms, story, async () => {
		const made = (id ? [story.saw(await story.request.control.getDeployment(id, story.reading(Infinity)))] : await findByName(name, story)).find((deployment) => deployment.source === source && deployment.latest_revision_id);
		return made && {
			deployment: made,
			revisionId: made.latest_revision_id ?? void 0
		};
	});
}
/**
* What became of a PATCH whose answer never came, or told no new revision. One that was made since and carries what was
* asked for is taken, whoever made it: a second PATCH could only make another.
*/
function settlePatch(planned, ms, story) {
	const { deploymentId, request, makesRevision, formerLatestRevisionId } = planned;
	const { control } = story.request;
	return looking(ms, story, async () => {
		const deployment = story.saw(await control.getDeployment(deploymentId, story.reading(Infinity)));
		if (!holdsSettings(request, deployment)) return void 0;
		if (!makesRevision) return {
			deployment,
			revisionId: void 0
		};
		const latest = deployment.latest_revision_id;
		if (!latest || latest === formerLatestRevisionId) return void 0;
		const newest = await control.getRevision(deploymentId, latest, story.reading(Infinity));
		const made = (carriesSource(request, newest) ? [newest] : await newerThan(formerLatestRevisionId, deploymentId, story)).find((revision) => carriesSource(request, revision));
		return made && {
			deployment,
			revisionId: made.id
		};
	});
}
/** What became of a redeploy whose answer never came: the revision that is the newest since. */
function settleRedeploy(before, ms, story) {
	return looking(ms, story, async () => {
		const deployment = story.saw(await story.request.control.getDeployment(before.id, story.reading(Infinity)));
		const latest = deployment.latest_revision_id;
		return latest && latest !== before.latest_revision_id ? {
			deployment,
			revisionId: latest
		} : void 0;
	});
}
/** Where somebody else's revision came after ours, ours is further down the list. */
async function newerThan(former, deploymentId, story) {
	const page = await attempt(story.request.control.listRevisions(deploymentId, { limit: 20 }, story.reading(Infinity)));
	if (!page.ok) return [];
	const end = page.value.resources.findIndex(({ id }) => id === former);
	return end === -1 ? [] : page.value.resources.slice(0, end);
}
// src/deploy/bounded.ts
/**
* Gives `work` at most `ms`; its signal ends with the time, or with `parent`. Does not wait for a work that heeds
* neither. Rejects as `work` does, but for what its end made it throw.
*/
async function within(clock, ms, parent, work) {
	const over = new AbortController();
	const done = new AbortController();
	const outer = parent ? [parent] : [];
	const signal = AbortSignal.any([...outer, over.signal]);
	const early = () => ({ kind: parent?.aborted ? "ended" : "out-of-time" });
	const timer = clock.sleep(ms, AbortSignal.any([...outer, done.signal])).then(() => {
		over.abort(/* @__PURE__ */ new Error(`not done within ${ms} ms`));
		return early();
	}, early);
	try {
		return await Promise.race([work(signal).then((value) => ({
			kind: "done",
			value
		}), (error) => signal.aborted ? early() : Promise.reject(error)), timer]);
	} finally {
		done.abort();
	}
}
/**
* Lets `work` go on for `graceMs` after `parent` has ended, and then ends its signal: a write that is cut off may have
* taken effect all the same, and whoever waits a moment longer knows.
*/
async function lingering(clock, graceMs, parent, work) {
	const late = new AbortController();
	const done = new AbortController();
	const cut = () => {
		clock.sleep(graceMs, done.signal).then(() => late.abort(parent?.reason), () => void 0);
	};
	if (parent?.aborted) cut();
	else parent?.addEventListener("abort", cut, { once: true });
	try {
		return await work(late.signal);
	} finally {
		parent?.removeEventListener("abort", cut);
		done.abort();
	}
}
// src/deploy/write.ts
/** How long a write may take (ms), and how long one may go on after the story was ended. */
const writeMs = 6e4;
const graceMs = 1e3;
/** How long it is looked for what became of a write without an answer, and for a revision that an answer lacks (ms). */
const settleMs = 6e4;
const lagMs = 15e3;
/**
* Sends one request that writes, once. Until its answer is there, `writing` says that nobody knows whether it took
* effect; the end of the story lets it go on for a moment, because a write that is cut off may have taken effect.
*/
async function write(story, send) {
	const { clock, signal } = story.request;
	signal?.throwIfAborted();
	story.known.writing = true;
	const deadline = clock.now() + writeMs;
	const answered = await lingering(clock, graceMs, signal, (late) => attempt(send({
		deadline,
		signal: late
	})));
	story.known.writing = !answered.ok && answered.error.effect === "unknown";
	return answered;
}
// src/deploy/carry-out.ts
/** Does what the plan says. Beside a rollback this is the only place that changes anything at the service. */
async function carryOut(planned, story) {
	const begun = await (planned.kind === "create" ? create(planned, story) : alter(planned, story));
	if (begun.kind === "follow") {
		story.known.revisionId = begun.revisionId;
		story.tell(toldAs(begun));
	}
	return begun;
}
const toldAs = ({ how, deploymentId, revisionId }) => ({
	kind: "begun",
	how,
	deploymentId,
	revisionId
});
async function create({ request }, story) {
	const { control } = story.request;
	const answered = await write(story, (options) => control.createDeployment(request, options));
	if (!answered.ok && answered.error.kind === "conflict") return {
		kind: "overtaken",
		error: answered.error
	};
	if (!answered.ok && answered.error.effect === "none") throw answered.error;
	if (answered.ok) story.saw(answered.value);
	else story.tell({
		kind: "settling",
		why: story.redact(answered.error.message)
	});
	const first = answered.ok ? {
		deployment: answered.value,
		revisionId: answered.value.latest_revision_id ?? void 0
	} : void 0;
	const made = first?.revisionId ? first : await settleCreation(request, first?.deployment.id, settleMs, story);
	if (answered.ok || made) settled(story);
	if (made?.revisionId) return {
		kind: "follow",
		how: "created",
		deploymentId: made.deployment.id,
		revisionId: made.revisionId
	};
	return answered.ok ? { kind: "no-revision" } : {
		kind: "unsettled",
		what: "the creation",
		error: answered.error
	};
}
async function alter(planned, story) {
	const { deploymentId, adopt } = planned;
	const kept = adopt ? {
		kind: "follow",
		how: "adopted",
		deploymentId,
		revisionId: adopt
	} : { kind: "kept" };
	if (planned.kind === "none") return kept;
	const { control } = story.request;
	const ifLatest = planned.formerLatestRevisionId ?? void 0;
	const answered = await write(story, (options) => control.patchDeployment(deploymentId, planned.request, {
		...options,
		ifLatest
	}));
	if (!answered.ok && answered.error.status === 412) return {
		kind: "overtaken",
		error: answered.error
	};
	if (!answered.ok && answered.error.effect === "none") throw answered.error;
	if (answered.ok) story.saw(answered.value);
	else story.tell({
		kind: "settling",
		why: story.redact(answered.error.message)
	});
	const latest = answered.ok ? answered.value.latest_revision_id : null;
	const bound = latest && latest !== planned.formerLatestRevisionId ? latest : void 0;
	if (answered.ok && (bound || !planned.makesRevision)) {
		settled(story);
		return bound && planned.makesRevision ? {
			kind: "follow",
			how: "patched",
			deploymentId,
			revisionId: bound
		} : kept;
	}
	const found = await settlePatch(planned, answered.ok ? lagMs : settleMs, story);
	if (answered.ok || found) settled(story);
	if (found?.revisionId) return {
		kind: "follow",
		how: "patched",
		deploymentId,
		revisionId: found.revisionId
	};
	if (found) return kept;
	return answered.ok ? { kind: "no-revision" } : {
		kind: "unsettled",
		what: "the change",
		error: answered.error
	};
}
function settled(story) {
	story.known.writing = false;
	story.known.changed = true;
}
// src/deploy/resolve.ts
/** The integration that reaches the repository, where nobody named one. */
async function resolveIntegration({ repoUrl }, story) {
	if (repoUrl === void 0) return void 0;
	const { control } = story.request;
	const listed = await attempt(control.listIntegrations(story.reading()));
	if (!listed.ok) {
		if (!isNotOffered(listed.error)) throw listed.error;
		return {
			kind: "none",
			why: "this service does not list integrations: none is named"
		};
	}
	if (listed.value.length === 0) return {
		kind: "none",
		why: "this service has no integration: none is named"
	};
	const reaching = [];
	const untold = [];
	for (const integration of listed.value) {
		const repositories = await attempt(control.listRepositories(integration.id, story.reading()));
		if (!repositories.ok && !isNotOffered(repositories.error)) throw repositories.error;
		if (!repositories.ok) untold.push(integration);
		else if (repositories.value.some((repository) => isThere(repository, repoUrl))) reaching.push(integration);
	}
	const [first, ...others] = reaching.length > 0 ? reaching : untold;
	if (!first) return {
		kind: "none",
		why: `no integration of this service reaches ${shownRepository(repoUrl)}: none is named`
	};
	if (others.length > 0) return {
		kind: "choices",
		choices: [first, ...others].map(named)
	};
	const why = reaching.length > 0 ? "it reaches the repository" : "it is the only one that may reach the repository";
	return {
		kind: "one",
		id: first.id,
		why: `integration ${named(first).name} is taken: ${why}`
	};
}
const isThere = ({ url, owner, name }, repoUrl) => sameRepository(url, repoUrl) || isRepositoryNamed(repoUrl, owner, name);
const named = ({ id, name }) => ({
	id,
	name: name ?? "unnamed"
});
const pageSize$1 = 100;
/** The listener that can serve the namespace, where nobody named one. */
async function resolveListener({ k8sNamespace }, story) {
	const listeners = [];
	for (let offset = 0;; offset += pageSize$1) {
		const page = await attempt(story.request.control.listListeners({
			limit: pageSize$1,
			offset
		}, story.reading()));
		if (!page.ok) {
			if (!isNotOffered(page.error)) throw page.error;
			return {
				kind: "none",
				why: "this service does not list listeners: none is named"
			};
		}
		const fresh = page.value.resources.filter(({ id }) => !listeners.some((met) => met.id === id));
		listeners.push(...fresh);
		if (page.value.resources.length < pageSize$1 || fresh.length === 0) break;
	}
	const fitting = listeners.filter((listener) => serves(listener, k8sNamespace));
	const [first, ...others] = fitting.length > 0 ? fitting : listeners;
	if (!first) return {
		kind: "none",
		why: "this service has no listener: none is named"
	};
	if (others.length > 0) return {
		kind: "choices",
		choices: [first, ...others].map(({ id, compute_id }) => ({
			id,
			name: compute_id ?? id
		}))
	};
	return {
		kind: "one",
		id: first.id,
		why: `listener ${first.compute_id ?? first.id} is taken: it is the only one that fits`
	};
}
/** A listener that names no namespaces does not say that it is bound to some. */
function serves({ compute_config }, namespace) {
	const namespaces = compute_config?.k8s_namespaces ?? [];
	return namespace === void 0 || namespaces.length === 0 || namespaces.includes(namespace);
}
// src/deploy/look.ts
/** Looks at what runs: the deployment, its live and its newest revision, and what a plan needs beside them. Reads only. */
async function look(story) {
	const { desired } = story.request;
	story.tell({
		kind: "looking",
		deployment: desired.deploymentId ?? desired.name ?? ""
	});
	const [deployment, ...others] = await find(story);
	if (deployment && others.length > 0) return severalOfOneName([deployment, ...others]);
	story.tell({
		kind: "looked",
		deploymentName: deployment?.name ?? desired.name,
		deploymentId: deployment?.id,
		activeRevisionId: deployment?.active_revision_id ?? void 0,
		latestRevisionId: deployment?.latest_revision_id ?? void 0
	});
	const commit = askedCommit(desired, deployment, story);
	story.known.commit = commit;
	if (!deployment) return {
		kind: "seen",
		seen: {
			commit,
			...await found(desired, story)
		}
	};
	const latest = deployment.latest_revision_id ? await story.request.control.getRevision(deployment.id, deployment.latest_revision_id, story.reading()) : void 0;
	return {
		kind: "seen",
		seen: {
			deployment,
			live: await liveRevision(deployment, latest, story),
			latest,
			onTheirWay: await othersOnTheirWay(desired, deployment, latest, commit, story),
			commit
		}
	};
}
function severalOfOneName(deployments) {
	return {
		kind: "impossible",
		obstacles: [{
			field: "name",
			problem: `${deployments.length} deployments are named ${deployments[0]?.name}: ${deployments.map(({ id }) => id).join(", ")}`,
			advice: "Set deployment-id to one of these ids."
		}]
	};
}
function askedCommit(desired, deployment, story) {
	if (desired.source !== "github") return {
		kind: "unknown",
		why: "an image is not built from a commit here"
	};
	const { workflow, head } = story.request;
	return commitOf({
		repoUrl: desired.repoUrl ?? deployment?.source_config.repo_url ?? void 0,
		repoRef: desired.repoRef ?? deployment?.source_revision_config.repo_ref ?? void 0,
		workflow,
		head
	});
}
/** The ids that nobody gave and that a creation needs. */
async function found(desired, story) {
	if (desired.source === "github") return desired.integrationId === void 0 ? { integration: await resolveIntegration(desired, story) } : {};
	return desired.listenerId === void 0 ? { listener: await resolveListener(desired, story) } : {};
}
async function liveRevision(deployment, latest, story) {
	const id = deployment.active_revision_id;
	if (!id || id === latest?.id) return id ? latest : void 0;
	const read = await attempt(story.request.control.getRevision(deployment.id, id, story.reading()));
	if (read.ok) return read.value;
	if (read.error.kind !== "missing") throw read.error;
	story.note(`the service does not tell anything of the live revision ${id}`);
}
/** Whether a revision of this commit waits behind a newer one can only be seen where revisions are listed. */
async function othersOnTheirWay(desired, deployment, latest, commit, story) {
	const waits = latest && standingOf(latest, deployment.active_revision_id) === "on-its-way";
	if (desired.source !== "github" || commit.kind === "unknown" || !waits) return [];
	if (sameCommit(latest.source_revision_config.repo_commit_sha, commit.sha)) return [];
	const page = await attempt(story.request.control.listRevisions(deployment.id, { limit: 20 }, story.reading()));
	if (!page.ok) {
		if (!isNotOffered(page.error)) throw page.error;
		return [];
	}
	const newer = page.value.resources.findIndex(({ id }) => id === deployment.active_revision_id);
	return page.value.resources.slice(0, newer === -1 ? void 0 : newer).filter((each) => each.id !== latest.id && standingOf(each, deployment.active_revision_id) === "on-its-way");
}
// src/decide/rollout.ts
/** A rollout of which nothing was seen yet. `seen` carries over what was seen of it before it was followed. */
function rolloutOf(revisionId, seen = []) {
	return {
		kind: "in-progress",
		revisionId,
		seen
	};
}
/**
* How far the revision has come after one more look. Live is a revision that is DEPLOYED *and* the deployment's active
* one (control-service.md, Deployment: `active_revision_id`). A status that nobody knows is waited on. An end stays.
*/
function rolloutAfter(state, sight) {
	if (state.kind !== "in-progress") return state;
	const { status, status_message, source_revision_config } = sight.revision;
	const known = {
		revisionId: state.revisionId,
		seen: state.seen.at(-1)?.status === status ? state.seen : [...state.seen, {
			status,
			at: sight.at
		}],
		...told("builtCommit", source_revision_config.repo_commit_sha ?? state.builtCommit),
		...told("statusMessage", status_message ?? state.statusMessage)
	};
	switch (classOfRevisionStatus(status)) {
		case "failed": return {
			kind: "failed",
			status,
			...known
		};
		case "interrupted": return {
			kind: "interrupted",
			...known
		};
		case "superseded": return {
			kind: "superseded",
			...known,
			...told("by", newestOther(state.revisionId, sight))
		};
		case "live": return finished(state.revisionId, known, sight);
		default: return {
			kind: "in-progress",
			...known
		};
	}
}
/** The end of a wait that brought none: what the service is doing goes on without us. */
function rolloutOutOfTime(state) {
	if (state.kind !== "in-progress") return state;
	return {
		...state,
		kind: "timed-out",
		lastStatus: state.seen.at(-1)?.status ?? "nothing"
	};
}
/** A finished revision is live, or about to be, or a newer one has taken its place already. */
function finished(revisionId, known, sight) {
	const active = sight.deployment?.activeRevisionId;
	if (active === revisionId) return {
		kind: "live",
		...known
	};
	return active && isNewer(active, sight) ? {
		kind: "superseded",
		...known,
		by: active
	} : {
		kind: "in-progress",
		...known
	};
}
/** Whether the active revision is newer than the followed one: an older one may only be waiting for the switch. */
function isNewer(active, { deployment, revision }) {
	if (deployment?.latestRevisionId === active) return true;
	const [ours, theirs] = [Date.parse(revision.created_at ?? ""), Date.parse(deployment?.activeCreatedAt ?? "")];
	return theirs > ours;
}
function newestOther(revisionId, { deployment }) {
	const newest = deployment?.latestRevisionId;
	return newest && newest !== revisionId ? newest : void 0;
}
function told(name, value) {
	const member = {};
	if (value) member[name] = value;
	return member;
}
// src/deploy/watch.ts
/** The longest silence while a revision is watched (ms). */
const heartbeatMs = 3e4;
/** One revision that is looked at again and again: what was seen of it, told as it changes. */
var Watch = class {
	#story;
	#watched;
	#since;
	#toldAt;
	rollout;
	constructor(story, watched) {
		this.#story = story;
		this.#watched = watched;
		this.#since = story.request.clock.now();
		this.#toldAt = this.#since;
		this.rollout = rolloutOf(watched.revisionId, watched.seen);
	}
	/** Looks once. Only a finished revision needs the deployment's word on who serves. */
	async look() {
		const sight = await attempt(this.#sight());
		if (!sight.ok) {
			this.#story.tell({
				kind: "poll-failed",
				why: this.#story.redact(sight.error.message)
			});
			this.#heartbeat();
			return sight;
		}
		const former = this.rollout.seen.length;
		this.rollout = rolloutAfter(this.rollout, sight.value);
		this.#watched.record(this.rollout);
		if (this.rollout.seen.length > former) this.#tellStatus(sight.value);
		else this.#heartbeat();
		return {
			ok: true,
			value: this.rollout
		};
	}
	async #sight() {
		const { control, clock } = this.#story.request;
		const { revisionId } = this.rollout;
		const revision = await control.getRevision(this.#watched.deploymentId, revisionId, this.#story.reading(this.#watched.deadline));
		const message = revision.status_message ? this.#story.redact(revision.status_message) : revision.status_message;
		const sight = {
			at: clock.now(),
			revision: {
				...revision,
				status_message: message
			}
		};
		const known = classOfRevisionStatus(revision.status);
		if (known !== "live" && known !== "superseded") return sight;
		const deployment = this.#story.saw(await control.getDeployment(this.#watched.deploymentId, this.#story.reading(this.#watched.deadline)));
		return {
			...sight,
			at: clock.now(),
			deployment: await this.#serving(deployment)
		};
	}
	/** An active revision that is neither ours nor the newest is older or newer than ours: its time tells. */
	async #serving(deployment) {
		const { active_revision_id: active, latest_revision_id: latest } = deployment;
		const serving = {
			activeRevisionId: active,
			latestRevisionId: latest
		};
		if (!active || active === this.rollout.revisionId || active === latest) return serving;
		const reading = this.#story.reading(this.#watched.deadline);
		const other = await attempt(this.#story.request.control.getRevision(this.#watched.deploymentId, active, reading));
		return other.ok ? {
			...serving,
			activeCreatedAt: other.value.created_at
		} : serving;
	}
	#tellStatus({ at, revision: { status, status_message } }) {
		this.#toldAt = at;
		this.#story.tell({
			kind: "status",
			revisionId: this.rollout.revisionId,
			status,
			at,
			sinceMs: at - this.#since,
			...status_message ? { message: status_message } : {}
		});
	}
	#heartbeat() {
		const now = this.#story.request.clock.now();
		if (now - this.#toldAt < heartbeatMs) return;
		this.#toldAt = now;
		this.#story.tell({
			kind: "heartbeat",
			revisionId: this.rollout.revisionId,
			status: this.rollout.seen.at(-1)?.status ?? "not seen yet",
			sinceMs: now - this.#since,
			leftMs: Math.max(0, this.#watched.deadline - now)
		});
	}
};
// src/deploy/begin.ts
/** Looks, plans and carries the plan out. A dry run is the same, stopped after the plan. */
async function begin(story) {
	let overtaken;
	for (let tries = 1;; tries += 1) {
		const planned = story.decided(await planFromSight(story));
		if (planned.kind === "impossible") return { kind: "impossible" };
		if (story.request.mode === "plan") return { kind: "planned" };
		if (planned.kind === "create" && overtaken) throw overtaken;
		const begun = await carryOut(planned, story);
		if (begun.kind !== "overtaken" || tries === mostTries) return begun;
		overtaken = begun.error;
	}
}
/** How often a plan is made where somebody else is faster each time. */
const mostTries = 5;
/**
* The plan from what is there. A revision on its way that does not tell its commit yet may be the one that is asked
* for: restating the ref would put a second one behind it and leave the first one skipped. So it is watched until it
* tells, as long as the story may wait at all. A story that may not wait takes it for the one.
*/
async function planFromSight(story) {
	for (;;) {
		const sighting = await look(story);
		if (sighting.kind === "impossible") return sighting;
		const { seen } = sighting;
		story.known.formerLive = seen.live;
		story.known.formerDeployment = seen.deployment;
		const planned = plan(story.request.desired, seen);
		const mayWait = story.request.wait && story.request.mode === "deploy";
		if (planned.kind === "impossible" || planned.kind === "create") return planned;
		if (!planned.untoldCommit || !planned.adopt || !mayWait) return planned;
		if (!await commitIsTold(planned.deploymentId, planned.adopt, story)) return planned;
	}
}
/** Watches a revision until it tells its commit or ends. False when the time is over first. */
async function commitIsTold(deploymentId, revisionId, story) {
	const { deadline, known } = story;
	const record = (rollout) => {
		known.rollout = rollout;
	};
	const watch = new Watch(story, {
		deploymentId,
		revisionId,
		deadline,
		record
	});
	story.tell({
		kind: "waiting-for-commit",
		revisionId
	});
	let retryAfterMs;
	while (story.request.clock.now() < story.deadline) {
		await story.untilNextPoll(story.deadline, retryAfterMs);
		const looked = await watch.look();
		retryAfterMs = looked.ok ? void 0 : looked.error.retryAfterMs;
		const { kind, builtCommit, seen } = watch.rollout;
		const isFinished = classOfRevisionStatus(seen.at(-1)?.status ?? "") === "live";
		if (kind !== "in-progress" || builtCommit || isFinished) return true;
	}
	return false;
}
// src/decide/plan-told.ts
/** The plan as it may be shown to anybody: without the request, which carries secrets. */
function withoutRequest(planned) {
	if (planned.kind === "none" || planned.kind === "impossible") return planned;
	const { request: _secret, ...told } = planned;
	return told;
}
// src/deploy/advice.ts
/** What a person can do about a failure of the control service: which input to open, or what to look at first. */
function adviceOn(error) {
	const { kind, operation, problems, status } = error;
	switch (kind) {
		case "unauthorized": return status === 403 ? "Check what the key of api-key may do, and give tenant-id: a key of an organisation needs it." : "Check api-key: the service does not take this key.";
		case "missing": return operation === "get deployment" ? "Check deployment-id, and the workspace that the key belongs to." : "Check base-url with its path prefix: the service has nothing at this address.";
		case "conflict": return operation === "create deployment" ? "Choose another name, give the deployment-id of the one that is there, or delete the tracing project of this name." : "Look at what changes the deployment at the same time, and run this again.";
		case "busy": return "Run this again later: the service is overloaded or broken.";
		case "unreachable": return "Check base-url, the network, and HTTPS_PROXY and NO_PROXY.";
		case "unreadable": return "Check base-url: what answers there does not speak as a deployment control service does.";
		case "rejected": return problems.length > 0 ? "Correct the fields that are named: each has an input of its name, with hyphens." : "Change what the service names, and run this again.";
	}
}
// src/deploy/ending-words.ts
/** What is told of a revision that was followed, whichever end it came to. */
function toldOfRollout(request, known) {
	const { rollout } = known;
	const id = known.revisionId ?? "";
	switch (rollout?.kind) {
		case "live": return {
			kind: "deployed",
			reason: `Revision ${id} is live${ofWhichCommit(rollout, known)}.`
		};
		case "failed": return {
			kind: "failed",
			reason: `Revision ${id} ended ${rollout.status}${messageOf(rollout)}. ${whatServes(request, known)}`,
			advice: "Read the log lines of this revision, correct what they name, and deploy again."
		};
		case "superseded": return {
			kind: "superseded",
			reason: `Revision ${id} did not become live: ${rollout.by ? `revision ${rollout.by} is newer and takes its place` : "a newer one took its place"}.`,
			advice: "Look at the run that made the newer revision; set on-superseded to pass where this is expected."
		};
		case "interrupted": return {
			kind: "interrupted",
			reason: `Revision ${id} was interrupted at the service${messageOf(rollout)}. ${whatServes(request, known)}`,
			advice: "Run this again to build it again."
		};
		default: return {
			kind: "timed-out",
			reason: `Revision ${id} was not live within ${minutes(request.timeoutMs)}: last seen ${rollout?.seen.at(-1)?.status ?? "nowhere"}, and it goes on.`,
			advice: "Raise timeout-minutes, or run this again: the revision is followed, not made twice."
		};
	}
}
/** What the smoke tests say against a revision that serves; undefined where they say nothing against it. */
function toldOfVerdict(request, known) {
	const { verdict, rollback } = known;
	const subject = known.revisionId ? `Revision ${known.revisionId}` : "The live revision";
	const isLive = known.revisionId ? " is live, but" : "";
	if (verdict?.kind === "failed") {
		const how = `answered wrongly: ${firstOf(verdict, "failed")}`;
		const wrong = `${subject}${isLive} ${how}`;
		if (rollback?.kind === "done") {
			const proven = rollback.verdict.kind === "passed" ? "serves again and answers as it should" : "serves again";
			return {
				kind: "rolled-back",
				reason: `${subject} ${how}. Revision ${rollback.toRevisionId} ${proven}.`,
				advice: "Correct the agent and deploy it again."
			};
		}
		if (rollback) return {
			kind: "broken",
			reason: `${wrong}. Not rolled back: ${rollback.why}.`,
			advice: rollback.advice
		};
		return {
			kind: "broken",
			reason: `${wrong}.`,
			advice: "Correct the agent and deploy it again, or run with mode: rollback."
		};
	}
	if (request.mode === "smoke" && verdict?.kind === "none") return {
		kind: "unproven",
		reason: "Nothing was asked: there are no smoke tests.",
		advice: "Give smoke-tests."
	};
	if (verdict?.kind !== "unproven") return void 0;
	return {
		kind: "unproven",
		reason: `${subject}${isLive} is not proven to answer: ${firstOf(verdict, "unproven")}.`,
		advice: "Check that the agent can be reached with this key; for a cold start raise the attempts of the test."
	};
}
const mode = {
	failed: "failed",
	superseded: "superseded",
	interrupted: "interrupted",
	"timed-out": "timed-out",
	"in-progress": "failed",
	live: "broken"
};
/** What is told of a rollback that a person asked for. */
function toldOfRollback({ rollback }) {
	if (rollback?.kind === "done") {
		const { toRevisionId, verdict } = rollback;
		if (verdict.kind !== "unproven") return {
			kind: "rolled-back",
			reason: `Revision ${toRevisionId} serves again${verdict.kind === "passed" ? " and answers as it should" : ""}.`
		};
		return {
			kind: "unproven",
			reason: `Revision ${toRevisionId} serves again, but is not proven to answer: ${firstOf(verdict, "unproven")}.`,
			advice: "Check that the agent can be reached with this key; for a cold start raise the attempts of the test."
		};
	}
	const { why, advice } = rollback ?? {
		why: "it was not begun",
		advice: "Run this again."
	};
	const reason = `Not rolled back: ${why}.`;
	if (rollback?.kind !== "failed") return {
		kind: "refused",
		reason,
		advice
	};
	return {
		kind: rollback.rollout ? mode[rollback.rollout.kind] : "failed",
		reason,
		advice
	};
}
/** Quick pushes move a branch on: the service builds its head, which need not be the commit that asked. */
function ofWhichCommit({ builtCommit }, { commit }) {
	if (!builtCommit) return "";
	if (commit?.kind !== "known" || sameCommit(builtCommit, commit.sha)) return `, of commit ${shortCommit(builtCommit)}`;
	return `, of commit ${shortCommit(builtCommit)} and not of ${shortCommit(commit.sha)}, which was asked for: the ref had moved on`;
}
function whatServes({ onFailure }, { formerLive }) {
	if (!formerLive) return "Nothing is live yet.";
	const nothing = onFailure === "rollback" ? ", so there is nothing to roll back" : "";
	return `Revision ${formerLive.id} still serves${nothing}.`;
}
const messageOf = ({ statusMessage }) => statusMessage ? `: ${statusMessage.replace(/[.\s]+$/, "")}` : "";
/** The first test that ended so, in one clause. */
function firstOf({ tests }, kind) {
	const found = tests.filter((each) => each.verdict.kind === kind);
	const [first] = found;
	const more = found.length > 1 ? ` (and ${found.length - 1} more)` : "";
	return first ? `${first.name}: ${clauseOf(first)}${more}` : "";
}
function clauseOf({ verdict }) {
	if (verdict.kind === "unproven") return verdict.why.replace(/\.$/, "");
	const missed = verdict.held.find(({ held }) => !held);
	return missed ? `${missed.expected} was expected, ${missed.seen} was seen` : "nothing was expected";
}
const minutes = (ms) => ms < 6e4 ? `${Math.round(ms / 1e3)} s` : `${Math.round(ms / 6e3) / 10} min`;
// src/deploy/ending.ts
/** A table from where the story ended, and what is known, to what is told of it. */
function toldOf(request, known, ending) {
	switch (ending.kind) {
		case "impossible": return toldOfObstacles(known);
		case "absent": return {
			kind: "refused",
			reason: `There is no deployment named ${request.desired.name ?? ""}.`,
			advice: "Check name and the workspace that the key belongs to, or give deployment-id."
		};
		case "planned": return {
			kind: "planned",
			reason: planInWords(known)
		};
		case "started": return {
			kind: "started",
			reason: `Revision ${known.revisionId} is on its way; it was not waited for.`
		};
		case "kept": return toldOfKept(request, known);
		case "followed": return known.rollout?.kind === "live" ? toldOfLive(request, known) : toldOfRollout(request, known);
		case "asked": return toldOfVerdict(request, known) ?? {
			kind: "unchanged",
			reason: `The live revision answers as it should (${count(known)}).`
		};
		case "gone-back": return toldOfRollback(known);
		case "no-revision": return {
			kind: "failed",
			reason: "The service took the change and made no revision of it.",
			advice: "Look at the deployment: a service may not let the last secret be removed."
		};
		case "unsettled": return {
			kind: "failed",
			reason: `It cannot be told whether ${ending.what} took effect: ${asSentence(ending.error.message)}`,
			advice: "Look at the deployment and its revisions before you run this again: the request was not sent twice."
		};
		case "overtaken":
		case "service-error": return toldOfError(known, ending.error);
		case "cancelled": return toldOfCancel(known);
	}
}
function toldOfObstacles({ plan }) {
	const obstacles = plan?.kind === "impossible" ? plan.obstacles : [];
	return {
		kind: "refused",
		reason: `This cannot be done: ${obstacles.map(({ field, problem }) => `${field}: ${problem}`).join("; ")}.`,
		advice: [...new Set(obstacles.map(({ advice }) => advice))].join(" ")
	};
}
function planInWords({ plan }) {
	if (plan?.kind === "create") return "A deployment would be created.";
	if (plan?.kind === "none") return `Nothing would be done: ${plan.why}.`;
	return `It would be changed (${plan?.kind === "patch" ? plan.changes.map(({ field }) => field).join(", ") : ""})${plan?.kind === "patch" && plan.makesRevision ? ", which makes a revision" : ""}.`;
}
/** The sentence on what went on serving, which the smoke tests may still contradict. */
function toldOfKept(request, known) {
	const { plan } = known;
	const wrong = toldOfVerdict(request, known);
	if (wrong) return wrong;
	if (plan?.kind !== "patch") return {
		kind: "unchanged",
		reason: `Nothing to do: ${plan?.kind === "none" ? plan.why : "nothing differs"}.`
	};
	return {
		kind: "deployed",
		reason: `Changed in place, without a revision: ${plan.changes.map(({ field }) => field).join(", ")}.`
	};
}
function toldOfLive(request, known) {
	return toldOfVerdict(request, known) ?? toldOfRollout(request, known);
}
function toldOfError({ changed, revisionId }, error) {
	const saidNo = ![
		"busy",
		"unreachable",
		"unreadable"
	].includes(error.kind);
	const begun = changed || revisionId !== void 0;
	return {
		kind: saidNo && !begun ? "refused" : "failed",
		reason: `${asSentence(error.message)}${begun && revisionId ? ` Revision ${revisionId} goes on.` : ""}`,
		advice: adviceOn(error)
	};
}
function toldOfCancel(known) {
	const { writing, rollback, changed } = known;
	const wentBack = rollback && "rollout" in rollback ? rollback.rollout : void 0;
	const revisionId = wentBack?.revisionId ?? known.revisionId;
	const last = (wentBack ?? known.rollout)?.seen.at(-1)?.status;
	const advice = "Run it again: what is on its way by then is followed, not made twice.";
	if (writing) return {
		kind: "interrupted",
		reason: "This step was ended while a request was under way that may take effect.",
		advice
	};
	if (revisionId) return {
		kind: "interrupted",
		reason: `This step was ended; revision ${revisionId} goes on${last ? ` (last seen ${last})` : ""}.`,
		advice
	};
	return {
		kind: "interrupted",
		reason: `This step was ended ${changed ? "after a change" : "before anything was changed"}.`
	};
}
const asSentence = (words) => `${words.replace(/[.\s]+$/, "")}.`;
const count = ({ verdict }) => {
	const tests = verdict?.tests.length ?? 0;
	return tests === 1 ? "1 smoke test" : `${tests} smoke tests`;
};
// src/deploy/conclude.ts
const passing = /* @__PURE__ */ new Set([
	"deployed",
	"unchanged",
	"planned",
	"started",
	"neutral"
]);
/** The outcome of a story, from where it ended and what is known. `redact` blots secrets out of others' words. */
function conclude(request, known, ending, redact = (text) => text) {
	const { kind, reason, advice } = toldOf(request, known, ending);
	const { deployment, plan, rollout, verdict, rollback, logs } = known;
	const revisionId = (request.mode === "rollback" && rollback && "rollout" in rollback ? rollback.rollout : void 0)?.revisionId ?? known.revisionId;
	const name = deployment?.name ?? request.desired.name;
	const id = deployment?.id ?? request.desired.deploymentId;
	const url = request.agentUrl ?? (deployment && agentAddress(deployment));
	return {
		kind,
		reason: redact(reason),
		...advice ? { advice } : {},
		passes: passes(kind, request),
		...name ? { deploymentName: name } : {},
		...id ? { deploymentId: id } : {},
		...revisionId ? { revisionId } : {},
		...deployment?.active_revision_id ? { activeRevisionId: deployment.active_revision_id } : {},
		...url ? { deploymentUrl: url } : {},
		...plan ? { plan: withoutRequest(plan) } : {},
		changed: known.changed,
		...rollout ? { rollout } : {},
		...verdict ? { verdict } : {},
		...rollback ? { rollback } : {},
		...logs ? { logs } : {},
		notes: [...known.notes]
	};
}
/** A rollback passes only where it was asked for: after a failed deploy it is the way out, not the success. */
function passes(kind, { mode, onSuperseded }) {
	if (kind === "rolled-back") return mode === "rollback";
	if (kind === "superseded") return onSuperseded === "pass";
	return passing.has(kind);
}
// src/deploy/follow.ts
/** How often in a row the service may say no to a poll before it is believed: a new revision may not be seen at once. */
const refusals = 5;
/**
* Follows one revision to its end: by its id, whatever else becomes the newest one. A poll that fails is no end; it is
* taken again until the deadline. Throws the `ServiceError` of a service that keeps saying no.
*/
async function follow(watched, story) {
	const watch = new Watch(story, watched);
	let refused = 0;
	while (watch.rollout.kind === "in-progress" && story.request.clock.now() < watched.deadline) {
		const looked = await watch.look();
		refused = looked.ok || mayPass(looked.error) ? 0 : refused + 1;
		if (!looked.ok && refused >= refusals) throw looked.error;
		if (watch.rollout.kind !== "in-progress") break;
		await story.untilNextPoll(watched.deadline, looked.ok ? 0 : looked.error.retryAfterMs);
	}
	const rollout = rolloutOutOfTime(watch.rollout);
	watched.record(rollout);
	story.tell({
		kind: "rolled-out",
		rollout
	});
	return rollout;
}
const mayPass = ({ kind }) => kind === "busy" || kind === "unreachable" || kind === "unreadable";
// src/decide/expectation-bounds.ts
/**
* Why a value is not judged, or undefined where it is within the bounds. It looks at no more than the bounds allow,
* and keeps a list of its own in the place of the call stack, so that no value makes it slow or breaks it.
*/
function tooLarge(value, most) {
	const waiting = [{
		value,
		depth: 0
	}];
	let nodes = 1;
	let text = 0;
	for (let next = waiting.pop(); next; next = waiting.pop()) {
		if (typeof next.value === "string") text += next.value.length;
		if (typeof next.value === "object" && next.value !== null) {
			if (next.depth >= 100) return `values nested deeper than 100`;
			for (const key in next.value) {
				nodes += 1;
				text += Array.isArray(next.value) ? 0 : key.length;
				if (nodes > most.nodes) return `more than ${most.nodes} values`;
				waiting.push({
					value: Reflect.get(next.value, key),
					depth: next.depth + 1
				});
			}
		}
		if (text > most.text) return `more than ${most.text} characters`;
	}
}
// src/decide/expectation-schema.ts
const bounds = {
	nodes: 1e4,
	text: 1e5
};
/** Where and why a value does not fit a JSON Schema (draft 2020-12), in bounded words; undefined where it fits. */
function schemaMisfit(schema, value, words) {
	const large = tooLarge(value, bounds);
	if (large) return `${large}: too large to be held to a JSON Schema`;
	const texts = textsIn(value);
	if (![...texts.keys].every((key) => key.isWellFormed())) return "a key that is no well-formed text";
	const { valid, errors } = validate(value, onLinearTime(schema, texts), schemaDraft);
	const last = errors.at(-1);
	if (valid || !last) return void 0;
	return `${last.instanceLocation === "#" ? "" : `at ${words.text(placeWithin(last.instanceLocation), 80)}: `}${words.text(last.error)}`;
}
/** A JSON pointer as a person reads it, and as a secret in it is recognised. */
const placeWithin = (pointer) => decodeURIComponent(pointer.slice(1)).replaceAll("~1", "/").replaceAll("~0", "~");
/**
* The same schema for this one value, without a pattern of its own: RE2 finds beforehand which texts of the value
* match, and exactly these stand in the pattern's place. The validator's engine would backtrack for as long as the
* value's author likes.
*/
function onLinearTime(schema, { keys, values }) {
	const copy = structuredClone(schema);
	const texts = [.../* @__PURE__ */ new Set([...keys, ...values])];
	const literally = (pattern) => {
		const compiled = compilePattern(pattern);
		return onlyThese(compiled.ok ? texts.filter((text) => compiled.pattern.matcher(text).find()) : []);
	};
	walkSchema(copy, (each) => {
		if (typeof each["pattern"] === "string") each["pattern"] = literally(each["pattern"]);
		if (typeof each["format"] === "string" && !schemaFormats.includes(each["format"])) delete each["format"];
		const byName = each["patternProperties"];
		if (typeof byName !== "object" || byName === null) return;
		const together = /* @__PURE__ */ new Map();
		for (const [pattern, inner] of Object.entries(byName)) {
			const names = literally(pattern);
			together.set(names, [...together.get(names) ?? [], inner]);
		}
		each["patternProperties"] = Object.fromEntries([...together].map(([names, allOf]) => [names, { allOf }]));
	});
	return copy;
}
/** Every key and every text within a value that is bounded already. */
function textsIn(value) {
	const keys = /* @__PURE__ */ new Set();
	const values = /* @__PURE__ */ new Set();
	const look = (inner) => {
		if (typeof inner === "string") values.add(inner);
		if (typeof inner !== "object" || inner === null) return;
		for (const [key, each] of Object.entries(inner)) {
			if (!Array.isArray(inner)) keys.add(key);
			look(each);
		}
	};
	look(value);
	return {
		keys,
		values
	};
}
/** A pattern for exactly these texts; one that nothing matches where there are none. */
const onlyThese = (texts) => texts.length === 0 ? "(?!)" : `^(?:${texts.map((text) => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")).join("|")})$`;
// src/decide/expectation-words.ts
const longest = 200;
const deepest = 6;
const mostNodes = 20;
/** What is looked at behind the cut, so that a secret that lies across it is found: longer ones are in no environment. */
const longestSecret = 13e4;
function wordsWith(redact) {
	const redacted = (text, most) => redact(text.slice(0, most + longestSecret));
	const brief = (value, most = longest) => cut(written(value, most, 0), most);
	const text = (told, most = longest) => cut(redacted(told, most * 4).slice(0, most * 4).replace(/\s+/g, " ").trim(), most);
	/** Writes little more than there is room for, however large the value is. */
	function written(value, room, depth) {
		if (typeof value === "string") return JSON.stringify(redacted(value, room).slice(0, room));
		if (typeof value !== "object" || value === null) return String(value);
		const isList = Array.isArray(value);
		const parts = [];
		let used = 2;
		for (const key in value) {
			if (used >= room || depth >= deepest) {
				parts.push("…");
				break;
			}
			const name = isList ? "" : `${JSON.stringify(redacted(key, room).slice(0, room))}: `;
			const part = `${name}${written(Reflect.get(value, key), Math.max(8, room - used - name.length), depth + 1)}`;
			parts.push(part);
			used += part.length + 2;
		}
		return isList ? `[${parts.join(", ")}]` : `{${parts.join(", ")}}`;
	}
	return {
		brief,
		text,
		nodes: (names, between) => {
			if (names.length === 0) return "none";
			return [...names.slice(0, mostNodes).map((name) => text(name, 40)), ...names.length > mostNodes ? [`… (${names.length})`] : []].join(between);
		}
	};
}
function cut(text, most) {
	const safe = harmless(text.slice(0, most + 1));
	return safe.length > most ? `${safe.slice(0, most - 1)}…` : safe;
}
const harmless = (text) => text.toWellFormed().replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (sign) => `\\u${(sign.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`);
/** What kind of thing a value is, for a sentence. */
function kindOfValue(value) {
	if (value === null) return "null";
	if (Array.isArray(value)) return "a list";
	if (typeof value === "string") return "text";
	return typeof value === "object" ? "a map" : `a ${typeof value}`;
}
/** What a person wrote is told as it is: it came from a file that holds no secret. */
const asWritten = wordsWith((text) => text);
/** An expectation in words, for example `$.reply contains "hello"`. */
function expectedWords(expectation) {
	switch (expectation.kind) {
		case "status": return `status is ${expectation.equals}`;
		case "value": return `${asWritten.text(expectation.path)} ${testWords(expectation.test)}`;
		case "nodes": return expectation.order === "sequence" ? `nodes are ${asWritten.nodes(expectation.nodes, " → ")}` : `nodes include ${asWritten.nodes(expectation.nodes, ", ")}`;
		case "first-event": return `first event within ${spoken(expectation.withinMs)}`;
		case "total": return `total within ${spoken(expectation.withinMs)}`;
	}
}
function testWords(test) {
	switch (test.kind) {
		case "equals": return `equals ${asWritten.brief(test.value)}`;
		case "contains": return `contains ${asWritten.brief(test.text)}`;
		case "matches": return `matches ${asWritten.text(test.pattern)}`;
		case "schema": return "fits its JSON Schema";
	}
}
// src/decide/expectation-value.ts
/** Texts (characters) longer than this are held to no pattern: RE2 takes time by their length. */
const longestMatched = 1e5;
/** What one query may find. */
const mostFound = 1e3;
/** What a query that looks at more than one place may look through. */
const searched = {
	nodes: 2e4,
	text: 1e6
};
/** Holds the values of a run to one expectation: something must be found at the path, and all that is found must hold. */
function seenAt(path, test, values, words) {
	if (values === void 0) return {
		held: false,
		seen: "the run brought no values"
	};
	const compiled = compilePath(path);
	if (!compiled.ok) return {
		held: false,
		seen: `nothing: the path ${compiled.problem}`
	};
	const large = compiled.query.singularQuery() ? void 0 : tooLarge(values, searched);
	if (large) return {
		held: false,
		seen: `${large}: too large for a path that searches them`
	};
	const found = findAll(compiled.query, values);
	if (found.length === 0) return {
		held: false,
		seen: "nothing at this path"
	};
	if (found.length > mostFound) return {
		held: false,
		seen: `more than ${mostFound} values at this path`
	};
	const seen = found.map((each) => ({
		...seenIn(each.value, test, words),
		where: each.where
	}));
	const wrong = seen.find(({ held }) => !held);
	const one = wrong ?? seen[0];
	if (!one) return {
		held: false,
		seen: "nothing at this path"
	};
	return {
		held: wrong === void 0,
		seen: found.length > 1 ? `${placeWords(one.where, words)}: ${one.seen}` : one.seen
	};
}
function placeWords(where, words) {
	const parts = where.map((part) => typeof part === "number" ? `[${part}]` : `.${words.text(part, 40)}`);
	return `$${(parts.length > 6 ? [
		...parts.slice(0, 3),
		"…",
		...parts.slice(-2)
	] : parts).join("")}`;
}
function findAll(query, values) {
	const found = [];
	if (!isJson(values)) return found;
	for (const node of query.lazyQuery(values)) {
		found.push({
			value: node.value,
			where: node.location
		});
		if (found.length > mostFound) break;
	}
	return found;
}
/** The values came out of a JSON text, so their outside tells enough. */
const isJson = (value) => value === null || [
	"string",
	"number",
	"boolean",
	"object"
].includes(typeof value);
function seenIn(value, test, words) {
	switch (test.kind) {
		case "equals": return {
			held: deepCompareStrict(value, test.value),
			seen: words.brief(value)
		};
		case "contains":
			if (typeof value === "string") return {
				held: value.includes(test.text),
				seen: words.brief(value)
			};
			if (Array.isArray(value)) return {
				held: value.includes(test.text),
				seen: words.brief(value)
			};
			return {
				held: false,
				seen: `${kindOfValue(value)}, which contains no text: ${words.brief(value)}`
			};
		case "matches": return matched(value, test.pattern, words);
		case "schema": {
			const misfit = schemaMisfit(test.schema, value, words);
			return {
				held: misfit === void 0,
				seen: misfit === void 0 ? words.brief(value) : `${misfit} (${words.brief(value, 120)})`
			};
		}
	}
}
function matched(value, written, words) {
	if (typeof value !== "string") return {
		held: false,
		seen: `${kindOfValue(value)}, not text: ${words.brief(value)}`
	};
	if (value.length > longestMatched) return {
		held: false,
		seen: `a text of ${value.length} characters, more than the ${longestMatched} that are matched`
	};
	const compiled = compilePattern(written);
	if (!compiled.ok) return {
		held: false,
		seen: `nothing: the pattern ${compiled.problem}`
	};
	return {
		held: compiled.pattern.matcher(value).find(),
		seen: words.brief(value)
	};
}
// src/decide/verdict.ts
/** Where nobody has to be protected. */
const asItIs = (text) => text;
/** What every test expects that says nothing of the status: a run that failed is no success, whatever it left behind. */
const success = {
	kind: "status",
	equals: "success"
};
const expectationsOf = ({ expect }) => expect.some(({ kind }) => kind === "status") ? expect : [success, ...expect];
/**
* Holds one attempt to everything that its test expects, in the order of the test. `redact` sees every word of the
* agent's before it is cut to what is told; what is judged it does not change.
*/
function judge(test, evidence, redact = asItIs) {
	const words = wordsWith(redact);
	return expectationsOf(test).map((expectation) => ({
		expectation,
		expected: expectedWords(expectation),
		...evidence.kind === "answered" ? seen(expectation, evidence, words) : {
			held: false,
			seen: "no answer"
		}
	}));
}
function seen(expectation, answer, words) {
	switch (expectation.kind) {
		case "status": return {
			held: answer.status === expectation.equals,
			seen: statusSeen(answer, words)
		};
		case "value": return seenAt(expectation.path, expectation.test, answer.values, words);
		case "nodes": return {
			held: nodesHeld(expectation, answer.nodes),
			seen: words.nodes(answer.nodes, " → ")
		};
		case "first-event": return answer.firstEventMs === void 0 ? {
			held: false,
			seen: "no event came"
		} : inTime(answer.firstEventMs, expectation.withinMs);
		case "total": return inTime(answer.totalMs, expectation.withinMs);
	}
}
function statusSeen({ status, error }, words) {
	return error ? `${status} (${words.text(`${error.error}: ${error.message}`)})` : status;
}
function nodesHeld({ order, nodes }, visited) {
	if (order === "set") return nodes.every((name) => visited.includes(name));
	return nodes.length === visited.length && nodes.every((name, index) => name === visited[index]);
}
const inTime = (ms, withinMs) => ({
	held: ms <= withinMs,
	seen: spoken(Math.round(ms))
});
function judgeAll(test, attempts, redact) {
	return attempts.flatMap((answer) => {
		if (answer.kind !== "answered") return [];
		const held = judge(test, answer, redact);
		const missed = held.filter((each) => !each.held);
		const late = missed.every(({ expectation: { kind } }) => kind === "first-event" || kind === "total");
		return [{
			answer,
			held,
			kind: missed.length === 0 ? "right" : late ? "late" : "wrong"
		}];
	});
}
/**
* The verdict on all attempts at one test. What could not be reached says nothing. What answered must agree: right and
* wrong together prove nothing. An answer that was only late, before a right one, was a cold start.
*/
function concludeTest(test, attempts, redact = asItIs) {
	const judged = judgeAll(test, attempts, redact);
	const last = judged.findLast(({ kind }) => kind === "wrong") ?? judged.at(-1);
	if (!last) return {
		kind: "unproven",
		why: unreachable(attempts, wordsWith(redact))
	};
	const firstRight = judged.findIndex(({ kind }) => kind === "right");
	if (firstRight === -1) return verdictOf("failed", last);
	const against = judged.filter(({ kind }, index) => kind === "wrong" || kind === "late" && index > firstRight);
	const right = judged.findLast(({ kind }) => kind === "right");
	if (right && against.length === 0) return verdictOf("passed", right);
	return {
		kind: "unproven",
		why: disagreement(judged.length, against)
	};
}
const verdictOf = (kind, { answer, held }) => ({
	kind,
	held,
	firstEventMs: answer.firstEventMs,
	totalMs: answer.totalMs
});
function unreachable(attempts, words) {
	const last = attempts.at(-1);
	if (last?.kind !== "unreachable") return "it was not asked";
	return `no answer ${attempts.length === 1 ? "in one attempt" : `in ${attempts.length} attempts`}: ${words.text(last.why)}`;
}
function disagreement(answers, against) {
	const missed = against.at(-1)?.held.find(({ held }) => !held);
	const what = missed ? `: ${missed.expected}, but once it was ${missed.seen}` : "";
	return `${against.length} of ${answers} answers were wrong and the others right${what}`;
}
/**
* Whether another attempt is worth its time: after no answer, and after a wrong one to see whether the next agrees.
* A right answer is enough, and so are two that disagree.
*/
function nextAttempt(test, attempts) {
	if (attempts.length >= test.attempts) return "enough";
	return judgeAll(test, attempts, asItIs).some(({ kind }) => kind === "right") ? "enough" : "again";
}
/** All tests together: one that failed fails all, else one that is unproven leaves all unproven. */
function concludeAll(tests) {
	const kinds = new Set(tests.map(({ verdict }) => verdict.kind));
	return {
		kind: [
			"failed",
			"unproven",
			"passed"
		].find((each) => kinds.has(each)) ?? "none",
		tests
	};
}
// src/deploy/answer.ts
function unanswered(sentAt, asked) {
	return {
		sentAt,
		asked,
		runId: void 0,
		firstAt: void 0,
		lastAt: void 0,
		nodes: [],
		values: void 0,
		interrupted: false,
		error: void 0
	};
}
/** The key under which a graph tells that it stopped and waits for somebody. */
const interruptKey = "__interrupt__";
/** The answer after one more event. A run is timed by its events: when the connection closes says nothing. */
function answerAfter(answer, { event, data }, at) {
	const { mode, namespace } = splitEventName(event);
	if (mode === "metadata") {
		const told = MetadataEventData.safeParse(data);
		return {
			...answer,
			lastAt: at,
			runId: told.success ? told.data.run_id : answer.runId
		};
	}
	const isAsked = mode === "error" || answer.asked.some((each) => isOfMode(mode, each));
	const after = {
		...answer,
		lastAt: at,
		firstAt: answer.firstAt ?? (isAsked ? at : void 0)
	};
	if (mode === "error") return {
		...after,
		error: errorIn(data)
	};
	if (namespace.length > 0) return after;
	const members = UpdatesEventData.safeParse(data);
	const names = members.success ? Object.keys(members.data) : [];
	const interrupted = after.interrupted || names.includes(interruptKey);
	if (mode === "values") return {
		...after,
		values: valuesAfter(after.values, data),
		interrupted
	};
	if (mode !== "updates") return after;
	const nodes = names.filter((name) => !name.startsWith("__"));
	return {
		...after,
		nodes: [...after.nodes, ...nodes],
		interrupted
	};
}
/** Values that tell of nothing but an interrupt leave the state as it was. */
function valuesAfter(former, data) {
	const [before, now] = [UpdatesEventData.safeParse(former), UpdatesEventData.safeParse(data)];
	const isNothingElse = now.success && Object.keys(now.data).join() === interruptKey;
	return before.success && isNothingElse ? {
		...before.data,
		...now.data
	} : data;
}
/** Messages go by names of their own: `messages/partial` in one mode, plain `messages` in the other. */
function isOfMode(name, mode) {
	return name === mode || name.startsWith(`${mode}/`) || mode === "messages-tuple" && name === "messages";
}
function errorIn(data) {
	const told = ErrorEventData.safeParse(data);
	if (told.success) return {
		error: told.data.error,
		message: told.data.message
	};
	return {
		error: "Error",
		message: typeof data === "string" ? data : JSON.stringify(data) ?? ""
	};
}
/** What the stream proves once it has ended. */
function evidenceOf(answer) {
	const { sentAt, firstAt, lastAt, nodes, values, error, interrupted } = answer;
	if (lastAt === void 0 || values === void 0 && nodes.length === 0 && !error && firstAt === void 0) return {
		kind: "unreachable",
		why: "the stream ended before it brought any answer"
	};
	return {
		kind: "answered",
		status: error ? "error" : interrupted ? "interrupted" : "success",
		values,
		...error ? { error } : {},
		nodes,
		firstEventMs: firstAt === void 0 ? void 0 : firstAt - sentAt,
		totalMs: lastAt - sentAt
	};
}
// src/deploy/ask.ts
/** How long clearing away may take (ms), and how long when the story was ended. */
const tidyMs = 1e4;
const hastyMs = 1e3;
const uuid = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
/**
* Asks the agent one question and listens to the whole answer, within the test's time. The thread and the assistant
* that were made for it are removed, whatever became of the question. Rejects only when the signal ends it.
*/
async function ask(test, asking) {
	const { clock, signal } = asking;
	const made = {};
	try {
		const deadline = clock.now() + test.timeoutMs;
		const asked = await within(clock, test.timeoutMs, signal, (bound) => attempt(question(test, asking, {
			signal: bound,
			deadline
		}, made)));
		signal?.throwIfAborted();
		if (asked.kind !== "done") return {
			kind: "unreachable",
			why: `no whole answer within ${test.timeoutMs} ms`
		};
		return asked.value.ok ? asked.value.value : await evidenceOfFailure(asked.value.error, asking);
	} finally {
		await tidy(made, asking);
	}
}
async function question(test, { agent, clock }, options, made) {
	if (test.context !== void 0) {
		const request = {
			graph_id: uuid.test(test.assistant) ? (await agent.getAssistant(test.assistant, options)).graph_id : test.assistant,
			context: test.context,
			name: `Landfall smoke test: ${test.name}`
		};
		made.assistantId = (await agent.createAssistant(request, options)).assistant_id;
	}
	if (test.thread) made.threadId = (await agent.createThread({}, options)).thread_id;
	const request = {
		assistant_id: made.assistantId ?? test.assistant,
		input: test.input,
		stream_mode: withOurs(test.streamModes),
		on_disconnect: "cancel"
	};
	let answer = unanswered(clock.now(), test.streamModes);
	for await (const event of agent.streamRun(request, made.threadId, options)) answer = answerAfter(answer, event, clock.now());
	const evidence = evidenceOf(answer);
	return made.threadId === void 0 ? evidence : confirmed(evidence, answer, made.threadId, {
		agent,
		clock
	}, options);
}
/** `values` brings the final state and `updates` the nodes, whatever the test wants to see of the stream. */
const withOurs = (asked) => [.../* @__PURE__ */ new Set([
	...asked,
	"values",
	"updates"
])];
/** How long a run may take to say that it has ended after its stream did (ms), and between two looks. */
const endingMs = 5e3;
const betweenMs = 250;
/**
* A stream has no last event, so one that a proxy cut off looks whole. A run on a thread can be asked how it ended;
* where it still goes on, its stream was not the whole answer.
*/
async function confirmed(evidence, { runId }, threadId, { agent, clock }, options) {
	if (evidence.kind !== "answered" || evidence.status === "error" || runId === void 0) return evidence;
	for (const until = clock.now() + endingMs;;) {
		const run = await attempt(agent.getRun(threadId, runId, options));
		if (!run.ok) return evidence;
		const { status } = run.value;
		if (status === "interrupted") return {
			...evidence,
			status: "interrupted"
		};
		if (status === "error" || status === "timeout") return {
			...evidence,
			status: "error",
			error: {
				error: status,
				message: "the run says so, its stream did not"
			}
		};
		if (status !== "running" && status !== "pending") return evidence;
		if (clock.now() >= until) return {
			kind: "unreachable",
			why: `the stream ended while the run went on (${status})`
		};
		await clock.sleep(betweenMs, options.signal ?? void 0);
	}
}
/**
* An agent server that understands and says no has answered: with an error. One that is not there, is not ready, or
* does not take the key proves nothing. A 404 can be either; a server that is well means it.
*/
async function evidenceOfFailure(error, { agent, clock, signal }) {
	const refused = {
		kind: "answered",
		status: "error",
		values: void 0,
		error: {
			error: `HTTP ${error.status ?? error.kind}`,
			message: error.detail ?? error.message
		},
		nodes: [],
		firstEventMs: void 0,
		totalMs: 0
	};
	if (error.kind === "rejected") return refused;
	if (error.kind === "missing" && (await attempt(agent.ok({
		signal,
		deadline: clock.now() + tidyMs
	}))).ok) return refused;
	return {
		kind: "unreachable",
		why: error.message
	};
}
/** Removes what was made, in haste once the story is ended. What could not be removed is told by its id. */
async function tidy({ threadId, assistantId }, asking) {
	const { agent } = asking;
	await Promise.all([...threadId ? [removed(`thread ${threadId}`, asking, (options) => agent.deleteThread(threadId, options))] : [], ...assistantId ? [removed(`assistant ${assistantId}`, asking, (options) => agent.deleteAssistant(assistantId, options))] : []]);
}
async function removed(what, { clock, signal, left }, remove) {
	const deadline = clock.now() + tidyMs;
	const tried = await lingering(clock, hastyMs, signal, (late) => within(clock, tidyMs, late, (bound) => attempt(remove({
		deadline,
		signal: bound
	}))));
	if (tried.kind !== "done") left(`${what} (it took too long)`);
	else if (!tried.value.ok) left(`${what} (${tried.value.error.message})`);
}
// src/deploy/smoke.ts
/** How long the next attempt is waited for (ms): it doubles, for a cold start may take a while. */
const firstPauseMs = 2e3;
const longestPauseMs = 15e3;
/** Asks the agent every question, one after the other, and judges the answers. Rejects only when the signal ends it. */
async function smoke(smoking) {
	const { tests, tell = () => void 0 } = smoking;
	const verdicts = [];
	for (const test of tests) {
		const tested = await tried(test, smoking);
		verdicts.push(tested);
		tell({
			kind: "smoke-tested",
			tested
		});
	}
	return concludeAll(verdicts);
}
/** The verdict where there is nobody to ask. */
function unasked(tests, why) {
	return concludeAll(tests.map(({ name }) => ({
		name,
		attempts: 0,
		verdict: {
			kind: "unproven",
			why
		}
	})));
}
async function tried(test, smoking) {
	const { agent, clock, random, signal, tell = () => void 0 } = smoking;
	const { note = () => void 0, redact = (text) => text } = smoking;
	const left = (what) => note(redact(`smoke test ${test.name} could not remove ${what}`));
	const attempts = [];
	for (;;) {
		attempts.push(await ask(test, {
			agent,
			clock,
			signal,
			left
		}));
		const verdict = redacted(concludeTest(test, attempts, redact), redact);
		const again = nextAttempt(test, attempts) === "again";
		tell({
			kind: "smoke-attempt",
			name: test.name,
			attempt: attempts.length,
			verdict,
			again
		});
		if (!again) return {
			name: test.name,
			attempts: attempts.length,
			verdict
		};
		const pause = Math.min(longestPauseMs, firstPauseMs * 2 ** (attempts.length - 1));
		await clock.sleep(pause * (.9 + random() * .2), signal);
	}
}
/** An agent may repeat anything that it was given; what it is known to have been given is blotted out. */
function redacted(verdict, redact) {
	if (verdict.kind === "unproven") return {
		...verdict,
		why: redact(verdict.why)
	};
	return {
		...verdict,
		held: verdict.held.map((each) => ({
			...each,
			expected: redact(each.expected),
			seen: redact(each.seen)
		}))
	};
}
// src/deploy/smoke-live.ts
/** Asks the agent that is live the questions of the request, at the address that the deployment tells. */
async function smokeLive(story) {
	const { smokeTests: tests, agentAt, agentUrl, clock, random, signal } = story.request;
	if (tests.length === 0) return unasked([], "");
	const address = agentUrl ?? (story.known.deployment && agentAddress(story.known.deployment));
	if (address === void 0) return unasked(tests, "the service does not tell where the agent answers: give agent-url");
	if (!URL.canParse(address)) return unasked(tests, `${address} is no address to ask: give agent-url`);
	story.tell({
		kind: "smoke-began",
		address,
		tests: tests.length
	});
	return smoke({
		tests,
		agent: agentAt(address),
		clock,
		random,
		signal,
		tell: (event) => story.tell(event),
		note: (text) => story.note(text),
		redact: (text) => story.redact(text)
	});
}
// src/deploy/roll-back.ts
/**
* Goes back to a revision that was live before: by deploying its build again where the service offers that, else by
* its image. What comes back is followed and asked as any other, in as much time again. A service that fails here does
* not end the story: it is told with the rest.
*/
async function rollBackTo(target, deployment, why, story) {
	story.tell({
		kind: "rolling-back",
		toRevisionId: target.id,
		why
	});
	const tried = await attempt(rolledBack(target, deployment, story));
	const rollback = tried.ok ? tried.value : failed(target, tried.error, story);
	story.known.rollback = rollback;
	story.tell({
		kind: "rolled-back",
		rollback
	});
	return rollback;
}
async function rolledBack(target, deployment, story) {
	const begun = await redeploy(target, deployment, story);
	if ("kind" in begun) return begun;
	const { clock, timeoutMs } = story.request;
	story.known.changed = true;
	story.tell({
		kind: "begun",
		how: "redeployed",
		deploymentId: deployment.id,
		revisionId: begun.revisionId
	});
	const deadline = clock.now() + timeoutMs;
	const record = (rollout) => {
		story.known.rollback = underWay(target, rollout);
	};
	record(rolloutOf(begun.revisionId));
	const rollout = await follow({
		deploymentId: deployment.id,
		revisionId: begun.revisionId,
		deadline,
		record
	}, story);
	if (rollout.kind !== "live") return underWay(target, rollout);
	const verdict = await smokeLive(story);
	if (verdict.kind !== "failed") return {
		kind: "done",
		toRevisionId: target.id,
		rollout,
		verdict
	};
	const why = `revision ${target.id} serves again, and answers wrongly too`;
	return {
		kind: "failed",
		toRevisionId: target.id,
		why,
		advice: "Look at what changed beside the deployment: a model, a key, the test.",
		rollout,
		verdict
	};
}
/** A rollback that did not come to its end: `known` tells this where the story is cut off. */
function underWay(target, rollout) {
	const last = rollout.seen.at(-1)?.status ?? "not seen yet";
	return {
		kind: "failed",
		toRevisionId: target.id,
		why: `revision ${rollout.revisionId}, which goes back to ${target.id}, did not become live (${rollout.kind}, ${last})`,
		advice: `Look at revision ${rollout.revisionId} of the deployment: it may still become live.`,
		rollout
	};
}
async function redeploy(target, before, story) {
	const { control } = story.request;
	const answered = await write(story, (options) => control.redeployRevision(before.id, target.id, options));
	if (!answered.ok && isNotOffered(answered.error)) return restoreImage(target, before, story);
	if (!answered.ok && answered.error.effect === "none") return failed(target, answered.error, story);
	if (answered.ok) {
		const { latest_revision_id: latest } = story.saw(answered.value);
		return { revisionId: latest && latest !== before.latest_revision_id ? latest : target.id };
	}
	story.tell({
		kind: "settling",
		why: story.redact(answered.error.message)
	});
	const found = await settleRedeploy(before, settleMs, story);
	story.known.writing = found === void 0;
	return found?.revisionId ? { revisionId: found.revisionId } : failed(target, answered.error, story);
}
async function restoreImage(target, before, story) {
	const image = target.source_revision_config.image_uri;
	if (before.source !== "external_docker" || !image) return {
		kind: "impossible",
		why: `this service does not deploy an old revision again, and no field asks for one commit, so revision ${target.id} cannot be put back`,
		advice: "Revert the commit and push it: the next deploy builds the head of the branch."
	};
	const request = {
		source_revision_config: { image_uri: image },
		...formerSettings(story)
	};
	if (before.source_revision_config.image_uri === image && Object.keys(request).length === 1) return {
		kind: "impossible",
		why: `revision ${target.id} runs the same image as the one that is live, so there is nothing to put back`,
		advice: "Push a corrected image under a new tag, and set image-uri to it."
	};
	const { control } = story.request;
	const answered = await write(story, (options) => control.patchDeployment(before.id, request, options));
	if (!answered.ok && answered.error.effect === "none") return failed(target, answered.error, story);
	if (answered.ok) story.saw(answered.value);
	const latest = answered.ok ? answered.value.latest_revision_id : null;
	if (latest && latest !== before.latest_revision_id) return { revisionId: latest };
	const found = await settlePatch({
		deploymentId: before.id,
		request,
		makesRevision: true,
		formerLatestRevisionId: before.latest_revision_id
	}, settleMs, story);
	story.known.writing = !answered.ok && found === void 0;
	if (found?.revisionId) return { revisionId: found.revisionId };
	return answered.ok ? noRevision(target) : failed(target, answered.error, story);
}
/** The secrets and resources that this story changed: the former image would otherwise meet the new ones. */
function formerSettings({ known: { plan, formerDeployment } }) {
	const isKnown = formerDeployment && formerDeployment.latest_revision_id === formerDeployment.active_revision_id;
	if (plan?.kind !== "patch" || !isKnown) return {};
	const { spec } = readableSpec(formerDeployment.source_config.resource_spec);
	return {
		...plan.request.secrets ? { secrets: formerDeployment.secrets.map(({ name, value }) => ({
			name,
			value
		})) } : {},
		...plan.request.source_config?.resource_spec && Object.keys(spec).length > 0 ? { source_config: { resource_spec: spec } } : {}
	};
}
const noRevision = (target) => ({
	kind: "failed",
	toRevisionId: target.id,
	why: `the service took the change back to ${target.id} and made no revision of it`,
	advice: "Look at the deployment and put the former image back by hand."
});
function failed(target, error, story) {
	const unknown = error.effect === "unknown" ? "; it cannot be told whether it took effect" : "";
	return {
		kind: "failed",
		toRevisionId: target.id,
		why: `${story.redact(error.message)}${unknown}`,
		advice: unknown ? "Look at the revisions of the deployment before you run this again." : adviceOn(error)
	};
}
// src/deploy/go-back.ts
/** Takes back what this story brought to life and what answered wrongly: to the revision that was live before it. */
async function takeBack(broken, story) {
	const { formerLive, deployment } = story.known;
	if (broken === void 0) return impossible$1("this run changed nothing, so it has nothing to take back", "Run with mode: rollback to go further back.");
	if (!formerLive || !deployment) return impossible$1("no revision was live before, so there is none to go back to", "Correct the agent and deploy it again.");
	const current = await attempt(story.request.control.getDeployment(deployment.id, story.reading(Infinity)));
	if (!current.ok) {
		const why = story.redact(current.error.message);
		return {
			kind: "failed",
			toRevisionId: formerLive.id,
			why,
			advice: adviceOn(current.error)
		};
	}
	const { active_revision_id: active } = story.saw(current.value);
	if (active !== broken) return impossible$1(`revision ${active ?? "none"} serves by now, not ${broken}`, "Look at what else deploys here.");
	return rollBackTo(formerLive, current.value, `revision ${broken} answered wrongly`, story);
}
/** Goes back because a person asked for it: to the newest revision that was live before the one that is. */
async function goBack(deployment, story) {
	const active = deployment.active_revision_id;
	if (!active) return impossible$1("nothing is live, so there is nothing to go back from", "Deploy it first.");
	const former = await liveBefore(active, deployment.id, story);
	if (former === "not-offered") return impossible$1("this service does not list revisions, so nobody can tell what was live before", "Deploy the former commit or image instead.");
	if (!former) return impossible$1(`no revision was live before ${active}`, "Deploy the former commit or image instead.");
	return rollBackTo(former, deployment, "mode is rollback", story);
}
const impossible$1 = (why, advice) => ({
	kind: "impossible",
	why,
	advice
});
const pageSize = 100;
/** Revisions are listed newest first; one that was live keeps its status when another takes its place. */
async function liveBefore(active, deploymentId, story) {
	let isPast = false;
	const met = /* @__PURE__ */ new Set();
	for (let offset = 0;; offset += pageSize) {
		const query = {
			limit: pageSize,
			offset
		};
		const page = await attempt(story.request.control.listRevisions(deploymentId, query, story.reading()));
		if (!page.ok && isNotOffered(page.error)) return "not-offered";
		if (!page.ok) throw page.error;
		const fresh = page.value.resources.filter(({ id }) => !met.has(id));
		for (const revision of fresh) {
			met.add(revision.id);
			if (isPast && classOfRevisionStatus(revision.status) === "live") return revision;
			isPast ||= revision.id === active;
		}
		if (page.value.resources.length < pageSize || fresh.length === 0) return void 0;
	}
}
// src/deploy/log-lines.ts
/** How much of each of the two logs is fetched: lines, and characters of one line. */
const lines = 50;
const characters = 2e3;
/** The last lines of a revision's build and deploy logs, oldest first. What cannot be had is noted and left out. */
async function lastLogLines(deploymentId, revisionId, story) {
	const { control } = story.request;
	const query = {
		order: "desc",
		limit: lines
	};
	const reading = () => story.reading(Infinity);
	return [...await newestOf("build", control.buildLogs(deploymentId, revisionId, query, reading()), story), ...await newestOf("deploy", control.deployLogs(deploymentId, revisionId, query, reading()), story)];
}
async function newestOf(which, call, story) {
	const page = await attempt(call);
	if (!page.ok) {
		story.note(isNotOffered(page.error) ? `this service does not offer ${which} logs` : `the ${which} log could not be read: ${story.redact(page.error.message)}`);
		return [];
	}
	return page.value.logs.slice(0, lines).toReversed().map(({ id, timestamp, level, message }) => ({
		id,
		timestamp,
		level,
		message: story.redact(message).slice(0, characters)
	}));
}
// src/deploy/secrecy.ts
/** Shorter ones stand in ordinary words: hiding them would garble every sentence and hide nothing. */
const shortest = 4;
/** What the story must never repeat, and the words of others without it. */
var Secrecy = class {
	#mask;
	#hidden = /* @__PURE__ */ new Set();
	#ordered = [];
	/** `mask` is called once with every secret, before anything that could hold it is told. */
	constructor(mask) {
		this.#mask = mask;
	}
	learn(secrets) {
		for (const { value } of secrets) {
			if (value === "" || this.#hidden.has(value)) continue;
			this.#hidden.add(value);
			this.#mask(value);
		}
		this.#ordered = [...new Set([...this.#hidden].flatMap(spellings))].toSorted((a, b) => b.length - a.length);
	}
	/** The text of another party, with every secret in it blotted out. */
	redact(text) {
		return this.#ordered.reduce((blotted, secret) => blotted.replaceAll(secret, "***"), text);
	}
};
/** A log tells a secret of many lines one line at a time; a body tells it as JSON, an address percent-encoded. */
function spellings(secret) {
	const lines = secret.split(/\r?\n/).map((line) => line.trim());
	return [
		secret,
		JSON.stringify(secret).slice(1, -1),
		encodeURIComponent(secret.toWellFormed()),
		...lines
	].filter((spelling) => spelling.length >= shortest);
}
// src/deploy/story.ts
/** How long a read may take with all its repetitions (ms): a poll that takes longer is the next poll's business. */
const readMs = 6e4;
/** The story as it is told: what every step shares. */
var Story = class {
	request;
	known = {
		writing: false,
		changed: false,
		notes: []
	};
	/** The moment (ms since the epoch) at which waiting ends. */
	deadline;
	#secrecy;
	constructor(request) {
		this.request = request;
		this.deadline = request.clock.now() + request.timeoutMs;
		this.#secrecy = new Secrecy(request.mask ?? (() => void 0));
		this.#secrecy.learn(request.desired.secrets ?? []);
	}
	tell(event) {
		this.request.tell?.(event);
	}
	/** Said once, however often it is noticed. */
	note(text) {
		if (this.known.notes.includes(text)) return;
		this.known.notes.push(text);
		this.tell({
			kind: "noted",
			note: text
		});
	}
	redact(text) {
		return this.#secrecy.redact(text);
	}
	/** Remembers a deployment; its secrets come in clear, so they are hidden first. */
	saw(deployment) {
		this.#secrecy.learn(deployment.secrets);
		this.known.deployment = deployment;
		return deployment;
	}
	decided(planned) {
		this.known.plan = planned;
		this.tell({
			kind: "planned",
			plan: withoutRequest(planned)
		});
		if (planned.kind !== "impossible") for (const note of planned.notes) this.note(note);
		return planned;
	}
	/** For a call that reads: it ends with the story, and in any case before long. */
	reading(deadline = this.deadline) {
		return {
			signal: this.request.signal,
			deadline: Math.min(deadline, this.request.clock.now() + readMs)
		};
	}
	/** Waits for the next poll, but never beyond `deadline`. Rejects when the story is ended. */
	async untilNextPoll(deadline, atLeastMs = 0) {
		const { clock, pollMs, random, signal } = this.request;
		const jittered = pollMs * (.9 + random() * .2);
		const left = Math.max(0, deadline - clock.now());
		await clock.sleep(Math.min(left, Math.max(jittered, atLeastMs)), signal);
	}
};
// src/deploy/deploy.ts
/**
* Tells the whole story: looks, plans, begins, follows, asks, and takes back where that was asked for. Whatever the
* other party does, it ends in an outcome; only a mistake of our own is thrown.
*/
async function deploy(request) {
	const story = new Story(request);
	const chapter = {
		deploy: ship,
		plan: ship,
		smoke: askOnly,
		rollback: rollBack
	}[request.mode];
	const ending = await toItsEnd(chapter, story);
	const outcome = conclude(request, story.known, ending, (text) => story.redact(text));
	story.tell({
		kind: "concluded",
		outcome
	});
	return outcome;
}
/** The story itself. A dry run is the same, stopped after the plan. */
async function ship(story) {
	const begun = await begin(story);
	if (begun.kind !== "follow" && begun.kind !== "kept") return begun;
	if (!story.request.wait) return { kind: begun.kind === "kept" ? "kept" : "started" };
	if (begun.kind === "follow") {
		if ((await followBegun(begun.deploymentId, begun.revisionId, story)).kind !== "live") return { kind: "followed" };
	}
	const verdict = await smokeLive(story);
	story.known.verdict = verdict;
	if (verdict.kind === "failed" && story.request.onFailure === "rollback") story.known.rollback = await takeBack(begun.kind === "follow" ? begun.revisionId : void 0, story);
	return { kind: begun.kind === "kept" ? "kept" : "followed" };
}
async function followBegun(deploymentId, revisionId, story) {
	const { known, deadline } = story;
	const record = (rollout) => {
		known.rollout = rollout;
	};
	const rollout = await follow({
		deploymentId,
		revisionId,
		deadline,
		seen: known.rollout?.revisionId === revisionId ? known.rollout.seen : void 0,
		record
	}, story);
	if (rollout.kind === "failed" || rollout.kind === "timed-out") known.logs = await lastLogLines(deploymentId, revisionId, story);
	return rollout;
}
async function askOnly(story) {
	const [deployment, ...others] = await find(story);
	if (!deployment) return { kind: "absent" };
	if (others.length > 0) return impossible(story, [deployment, ...others]);
	story.known.verdict = deployment.active_revision_id ? await smokeLive(story) : unasked(story.request.smokeTests, "no revision is live");
	return { kind: "asked" };
}
async function rollBack(story) {
	const [deployment, ...others] = await find(story);
	if (!deployment) return { kind: "absent" };
	if (others.length > 0) return impossible(story, [deployment, ...others]);
	story.known.rollback = await goBack(deployment, story);
	return { kind: "gone-back" };
}
function impossible(story, deployments) {
	story.decided(severalOfOneName(deployments));
	return { kind: "impossible" };
}
/** The other party's failure and the end that was called from outside are ends like others. */
async function toItsEnd(chapter, story) {
	try {
		return await chapter(story);
	} catch (error) {
		const { signal } = story.request;
		if (signal?.aborted && (error === signal.reason || error instanceof ServiceError)) return { kind: "cancelled" };
		if (error instanceof ServiceError) return {
			kind: "service-error",
			error
		};
		throw error;
	}
}
export { deploy };
