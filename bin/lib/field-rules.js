import { s as sources } from "./source.js";
// src/contract/control/repo-ref.ts
const tagPrefix = "refs/tags/";
/** True for a tag: tags are never built on push (control-service.md, source_config: `build_on_push`). */
const isTagRef = (ref) => ref.startsWith(tagPrefix);
/**
* Puts a branch or tag into the document's spelling: a branch is its plain name, a tag its full `refs/tags/...`
* (control-service.md, source_revision_config: `repo_ref`). What could mean two things is refused with the right one.
*/
function readRepoRef(written) {
	const ref = written.trim();
	if (ref.startsWith("refs/heads/")) return checked(ref.slice(11));
	if (ref.startsWith(tagPrefix)) return checked(ref);
	if (ref.startsWith("refs/")) {
		const branch = /^refs\/remotes\/[^/]+\/(.+)$/.exec(ref)?.[1];
		return {
			ok: false,
			problem: `${ref} is neither a branch nor a tag`,
			...branch ? { suggestion: branch } : {}
		};
	}
	const prefixed = /^(heads|tags|remotes\/[^/]+|origin)\/(.+)$/.exec(ref);
	if (prefixed?.[1] && prefixed[2]) {
		const isTag = prefixed[1] === "tags";
		return {
			ok: false,
			problem: `${ref} is ambiguous: write a branch as its plain name and a tag as ${tagPrefix}<name>`,
			suggestion: isTag ? `${tagPrefix}${prefixed[2]}` : prefixed[2]
		};
	}
	if (/^[0-9a-f]{40}$/i.test(ref)) return {
		ok: false,
		problem: `${ref} is a commit; the service builds the head of a branch or a tag`
	};
	return checked(ref);
}
/** What git itself does not take as the name of a ref. */
function checked(ref) {
	return ref === "" || ref === "@" || /[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\/\/|^\/|\/$|^-|\.$|(^|\/)\.|\.lock(\/|$)/.test(ref) || ref === tagPrefix ? {
		ok: false,
		problem: `${JSON.stringify(ref)} is not a name that git allows for a ref`
	} : {
		ok: true,
		ref
	};
}
// src/contract/control/field-rules.ts
const rule = (path, appliesTo, patch, requiredFor = []) => ({
	path,
	appliesTo,
	patch,
	requiredFor
});
const built = ["github", "internal_source"];
/**
* The rules of control-service.md that are data: which field applies to which source, which is required on create,
* and what a PATCH of it does (Deployment, source_config, source_revision_config, States). `repo_url`, `repo_ref`
* and `image_uri` are required by sense: nothing could be built without them.
*/
const fieldRules = [
	rule("name", sources, "fixed", sources),
	rule("source", sources, "fixed", sources),
	rule("secrets", sources, "revision", sources),
	rule("secret_references", ["external_docker"], "next-revision"),
	rule("source_config.integration_id", ["github"], "fixed"),
	rule("source_config.repo_url", ["github"], "fixed", ["github"]),
	rule("source_config.deployment_type", ["github"], "fixed"),
	rule("source_config.build_on_push", ["github"], "in-place"),
	rule("source_config.custom_url", ["external_docker"], "in-place"),
	rule("source_config.resource_spec", ["external_docker"], "revision"),
	rule("source_config.listener_id", ["external_docker"], "fixed"),
	rule("source_config.listener_config.k8s_namespace", ["external_docker"], "fixed"),
	rule("source_config.install_command", built, "next-revision"),
	rule("source_config.build_command", built, "next-revision"),
	rule("source_revision_config.repo_ref", ["github"], "revision", ["github"]),
	rule("source_revision_config.graph_config_path", built, "revision", built),
	rule("source_revision_config.image_uri", ["external_docker", "internal_docker"], "revision", ["external_docker"]),
	rule("source_revision_config.source_tarball_path", ["internal_source"], "revision"),
	rule("source_revision_config.repo_commit_sha", ["github"], "read-only")
];
const byPath = new Map(fieldRules.map((entry) => [entry.path, entry]));
/** The rule of a field; a path that the document does not know is our own mistake. */
function ruleOf(path) {
	const found = byPath.get(path);
	if (!found) throw new Error(`no field rule for ${path}`);
	return found;
}
export { readRepoRef as i, ruleOf as n, isTagRef as r, fieldRules as t };
