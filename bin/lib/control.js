import { r as spellFields } from "./aliases.js";
import { a as revisionsQuery, c as deploymentCreateRequest, d as deploymentsList, f as deploymentsQuery, i as revisionsList, l as deploymentPatchRequest, n as revision, s as deployment } from "./revision.js";
import { n as logQuery, t as logPage } from "./log.js";
import { a as connection, h as segment, m as query, o as call, r as readJson, t as checked } from "./reading.js";
import * as z from "zod";
// src/contract/control/integration.ts
/** One installation of a GitHub App (control-service.md, `GET /v1/integrations/github/install`): `id` is the `integration_id`. */
const githubIntegration = z.looseObject({
	id: z.string(),
	installation_id: z.number().nullish(),
	name: z.string().nullish()
});
const githubIntegrations = z.array(githubIntegration);
/** A repository that an integration reaches. `id` is GitHub's number of it. */
const githubRepository = z.looseObject({
	host_integration_id: z.string().nullish(),
	id: z.number(),
	name: z.string(),
	owner: z.string(),
	url: z.string(),
	default_branch: z.string().nullish()
});
const githubRepositories = z.array(githubRepository);
// src/contract/control/listener.ts
/** A listener: something beside a cluster that carries out revisions there (control-service.md, `GET /v2/listeners`). */
const listener = z.looseObject({
	id: z.string(),
	version: z.string().nullish(),
	/** `k8s` is the one compute type known. */
	compute_type: z.string(),
	compute_id: z.string().optional(),
	compute_config: z.looseObject({ k8s_namespaces: z.array(z.string()).nullish() }).nullish(),
	created_at: z.string().optional(),
	updated_at: z.string().optional()
});
const listenersList = z.looseObject({
	resources: z.array(listener),
	offset: z.int()
});
// src/client/control.ts
const inContractSpelling = (json) => spellFields(json, "contract");
const readDeployment = readJson(deployment, inContractSpelling);
const readDeployments = readJson(deploymentsList, inContractSpelling);
const readRevision = readJson(revision, inContractSpelling);
const readRevisions = readJson(revisionsList, inContractSpelling);
const readIntegrations = readJson(githubIntegrations);
const readRepositories = readJson(githubRepositories);
const readListeners = readJson(listenersList);
const readLogs = readJson(logPage);
/**
* Talks to a deployment control service (control-service.md, Endpoints). Requests are held to the contract before they
* are sent; replies are read in both spellings. Reads are repeated, writes of unknown outcome never are.
*/
function connectControlService(settings) {
	const link = connection(settings.baseUrl, settings);
	const spelled = (body) => spellFields(body, settings.spelling);
	const deploymentPath = (id) => `/v2/deployments/${segment("the deployment id", id)}`;
	const revisionPath = (id, revisionId) => `${deploymentPath(id)}/revisions/${segment("the revision id", revisionId)}`;
	const logs = (which, deploymentId, revisionId, asked) => {
		const name = `read ${which} logs`;
		return {
			name,
			method: "POST",
			path: `/v1/projects/${segment("the deployment id", deploymentId)}/revisions/${segment("the revision id", revisionId)}/${which}_logs`,
			body: checked(logQuery, name, asked),
			safe: true
		};
	};
	return {
		createDeployment: async (request, options) => {
			const name = "create deployment";
			const body = checked(deploymentCreateRequest, name, request);
			const operation = {
				name,
				method: "POST",
				path: "/v2/deployments",
				body: spelled(body),
				secrets: secretsIn(body)
			};
			return call(link, operation, readDeployment, options);
		},
		getDeployment: async (id, options) => call(link, {
			name: "get deployment",
			method: "GET",
			path: deploymentPath(id)
		}, readDeployment, options),
		patchDeployment: async (id, request, options) => {
			const name = "patch deployment";
			const body = checked(deploymentPatchRequest, name, request);
			const operation = {
				name,
				method: "PATCH",
				path: deploymentPath(id),
				headers: precondition(options?.ifLatest),
				body: spelled(body),
				secrets: secretsIn(body)
			};
			return call(link, operation, readDeployment, options);
		},
		getRevision: async (id, revisionId, options) => call(link, {
			name: "get revision",
			method: "GET",
			path: revisionPath(id, revisionId)
		}, readRevision, options),
		listIntegrations: async (options) => call(link, {
			name: "list integrations",
			method: "GET",
			path: "/v1/integrations/github/install"
		}, readIntegrations, options),
		listListeners: async (page, options) => call(link, {
			name: "list listeners",
			method: "GET",
			path: "/v2/listeners",
			query: query({ ...page })
		}, readListeners, options),
		listDeployments: async (asked, options) => {
			const name = "list deployments";
			const wanted = query(checked(deploymentsQuery, name, asked));
			return call(link, {
				name,
				method: "GET",
				path: "/v2/deployments",
				query: wanted
			}, readDeployments, options);
		},
		listRevisions: async (id, asked, options) => {
			const name = "list revisions";
			const wanted = query(checked(revisionsQuery, name, asked));
			return call(link, {
				name,
				method: "GET",
				path: `${deploymentPath(id)}/revisions`,
				query: wanted
			}, readRevisions, options);
		},
		redeployRevision: async (id, revisionId, options) => {
			const path = `${revisionPath(id, revisionId)}/redeploy`;
			return call(link, {
				name: "redeploy revision",
				method: "POST",
				path
			}, readDeployment, options);
		},
		listRepositories: async (integrationId, options) => {
			const path = `/v1/integrations/github/${segment("the integration id", integrationId)}/repos`;
			return call(link, {
				name: "list repositories",
				method: "GET",
				path
			}, readRepositories, options);
		},
		buildLogs: async (id, revisionId, asked, options) => call(link, logs("build", id, revisionId, asked), readLogs, options),
		deployLogs: async (id, revisionId, asked, options) => call(link, logs("deploy", id, revisionId, asked), readLogs, options),
		close: () => link.close()
	};
}
/** The id is the service's word: one that no header may carry is no precondition. */
const precondition = (revisionId) => revisionId !== void 0 && /^[\w-]+$/.test(revisionId) ? { "if-match": `"${revisionId}"` } : {};
/** What of a request is never told: its secrets, and the values that its containers are given. */
function secretsIn({ secrets, source_config }) {
	const { init_containers, sidecars } = source_config?.resource_spec ?? {};
	const environment = ({ env }) => (env ?? []).flatMap(({ value }) => value ?? []);
	return [...(secrets ?? []).map(({ value }) => value), ...[...init_containers ?? [], ...sidecars ?? []].flatMap(environment)];
}
export { connectControlService };
