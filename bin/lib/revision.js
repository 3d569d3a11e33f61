import { a as sourceRevisionConfig, c as secret, d as secretReply, i as sourceConfigRequest, l as secretReference, n as source, o as sourceRevisionConfigRequest, r as sourceConfig, u as secretReferenceReply } from "./source.js";
import * as z from "zod";
// src/contract/control/deployment.ts
/** control-service.md, States: deployment `status`; the last word is newer and only public. */
const deploymentStatuses = [
	"AWAITING_DATABASE",
	"READY",
	"UNUSED",
	"AWAITING_DELETE",
	"UNKNOWN",
	"AWAITING_FINAL_DELETE"
];
/** The body of create (control-service.md, DeploymentCreateRequest). Fields that it does not name are refused. */
const deploymentCreateRequest = z.strictObject({
	/** Set on create, fixed from then on. */
	name: z.string().min(1),
	source,
	source_config: sourceConfigRequest,
	source_revision_config: sourceRevisionConfigRequest,
	secrets: z.array(secret),
	/** Only for `external_docker`. */
	secret_references: z.array(secretReference).nullish()
});
/**
* The body of PATCH. A field that is absent or null stays as it is. `secrets` replaces the whole set, `resource_spec`
* is replaced whole, `source_config` may hold some fields only.
*/
const deploymentPatchRequest = z.strictObject({
	revision_source: z.enum([
		"github",
		"internal_docker",
		"internal_source"
	]).nullish(),
	source_config: sourceConfigRequest.nullish(),
	source_revision_config: sourceRevisionConfigRequest.nullish(),
	secrets: z.array(secret).nullish(),
	secret_references: z.array(secretReference).nullish()
});
/**
* A deployment as the service tells it (control-service.md, Deployment). `source_revision_config` speaks of the latest
* revision, `active_revision_id` names the one that serves. `secrets` come in clear.
*/
const deployment = z.looseObject({
	name: z.string(),
	source: z.string(),
	source_config: sourceConfig,
	source_revision_config: sourceRevisionConfig,
	secrets: z.array(secretReply).default([]),
	secret_references: z.array(secretReferenceReply).nullish(),
	id: z.string(),
	tenant_id: z.string(),
	created_at: z.string(),
	updated_at: z.string(),
	/** One of `deploymentStatuses`, or a word that is newer than this list. */
	status: z.string(),
	latest_revision_id: z.string().nullable(),
	active_revision_id: z.string().nullable(),
	image_version: z.string().nullish(),
	/** Where its agent server answers; newer than the document, which has `source_config.custom_url`. */
	url: z.string().nullish()
});
/** A page of deployments: no total; a page shorter than `limit` is the last. */
const deploymentsList = z.looseObject({
	resources: z.array(deployment),
	offset: z.int()
});
/** The query of listing deployments: `limit` 1 to 100, 20 when absent. */
const deploymentsQuery = z.strictObject({
	limit: z.int().min(1).max(100).optional(),
	offset: z.int().min(0).optional(),
	name: z.string().optional(),
	name_contains: z.string().optional(),
	status: z.string().optional(),
	deployment_ids: z.array(z.string()).optional(),
	image_version: z.string().optional(),
	deployment_type: z.string().optional()
});
/** Where a deployment's agent server answers, or undefined where the service does not tell. */
function agentAddress(deployed) {
	return deployed.url || deployed.source_config.custom_url || void 0;
}
// src/contract/control/revision.ts
/** Every revision status that is known, and what it means for somebody who waits (control-service.md, States). */
const revisionStatusClasses = {
	CREATING: "in-progress",
	QUEUED: "in-progress",
	AWAITING_BUILD: "in-progress",
	BUILDING: "in-progress",
	AWAITING_DEPLOY: "in-progress",
	DEPLOYING: "in-progress",
	DEPLOYED: "live",
	CREATE_FAILED: "failed",
	BUILD_FAILED: "failed",
	DEPLOY_FAILED: "failed",
	SKIPPED: "superseded",
	INTERRUPTED: "interrupted",
	UNKNOWN: "unknown"
};
const classes = new Map(Object.entries(revisionStatusClasses));
/** The class of a status word; a word that nobody listed is `unknown`: neither live nor failed. */
const classOfRevisionStatus = (status) => classes.get(status) ?? "unknown";
/** A revision as the service tells it: `DEPLOYED` marks a finished rollout. It carries no deployment id. */
const revision = z.looseObject({
	id: z.string(),
	created_at: z.string().optional(),
	updated_at: z.string().optional(),
	/** One of `revisionStatusClasses`, or a word that is newer than this list. */
	status: z.string(),
	source: z.string().optional(),
	source_revision_config: sourceRevisionConfig.default({}),
	status_message: z.string().nullish()
});
/** A page of revisions, newest first. */
const revisionsList = z.looseObject({
	resources: z.array(revision),
	offset: z.int()
});
const revisionsQuery = z.strictObject({
	limit: z.int().min(1).max(100).optional(),
	offset: z.int().min(0).optional(),
	/** Status words, with commas between them. */
	status: z.string().optional()
});
export { revisionsQuery as a, deploymentCreateRequest as c, deploymentsList as d, deploymentsQuery as f, revisionsList as i, deploymentPatchRequest as l, revision as n, agentAddress as o, revisionStatusClasses as r, deployment as s, classOfRevisionStatus as t, deploymentStatuses as u };
