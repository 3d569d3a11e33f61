import * as z from "zod";
// src/contract/control/container.ts
/** A DNS label: what the documents ask of the names of volumes and containers. */
const dnsLabel = z.string().regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, "must be a DNS label: at most 63 lower-case letters, digits and hyphens, no hyphen at either end");
const freeForm = z.record(z.string(), z.unknown()).nullish();
const stringMap = z.record(z.string(), z.string());
/** control-service.md, Volume. Its name is unique within the pod. */
const volume = z.strictObject({
	name: dnsLabel,
	configMap: freeForm,
	secret: freeForm,
	emptyDir: freeForm,
	persistentVolumeClaim: freeForm,
	nfs: freeForm,
	projected: freeForm,
	downwardAPI: freeForm,
	csi: freeForm
});
/** control-service.md, VolumeMount. `name` is that of a Volume. */
const volumeMount = z.strictObject({
	name: z.string().min(1),
	mountPath: z.string().min(1),
	subPath: z.string().nullish(),
	mountPropagation: z.string().nullish(),
	readOnly: z.boolean().nullish(),
	subPathExpr: z.string().nullish()
});
/** control-service.md, EnvVar: `valueFrom` cannot stand beside a non-empty `value`. */
const envVar = z.strictObject({
	name: z.string().min(1),
	value: z.string().nullish(),
	valueFrom: freeForm
}).refine(({ value, valueFrom }) => !(value && valueFrom), {
	message: "valueFrom cannot be used when value is not empty",
	path: ["valueFrom"]
});
/** control-service.md, Container: an init container or a sidecar. */
const container = z.strictObject({
	name: dnsLabel,
	image: z.string().min(1),
	imagePullPolicy: z.enum([
		"Always",
		"Never",
		"IfNotPresent"
	]).nullish(),
	command: z.array(z.string()).nullish(),
	args: z.array(z.string()).nullish(),
	workingDir: z.string().nullish(),
	env: z.array(envVar).nullish(),
	envFrom: z.array(z.record(z.string(), z.unknown())).nullish(),
	resources: z.strictObject({
		limits: stringMap.nullish(),
		requests: stringMap.nullish()
	}).nullish(),
	volumeMounts: z.array(volumeMount).nullish(),
	securityContext: freeForm,
	restartPolicy: z.enum(["Always", "OnFailure"]).nullish()
});
// src/contract/control/resource-spec.ts
/** CPU is told to one decimal place (control-service.md, ResourceSpec and Limits). */
const roundCpu = (cores) => Math.round(cores * 10) / 10;
/** Cores that may be asked for: 0.1 to 8, the bounds included. */
const cpuRequest = z.number().min(.1).max(8).overwrite(roundCpu).nullish();
/** Cores that may be the limit: 0.1 to 16, the bounds included. */
const cpuLimit = z.number().min(.1).max(16).overwrite(roundCpu).nullish();
/** Cores where the document names no bound. */
const cpu = z.number().min(0).overwrite(roundCpu).nullish();
const count = z.int().min(0).nullish();
const megabytes = z.int().min(0).nullish();
/** The fields that the document marks "do not use": accepted, without effect. */
const unusedResourceFields = [
	"orchestrator_cpu",
	"orchestrator_cpu_limit",
	"orchestrator_memory_mb",
	"orchestrator_memory_limit_mb",
	"orchestrator_min_scale",
	"orchestrator_max_scale",
	"executor_cpu",
	"executor_cpu_limit",
	"executor_memory_mb",
	"executor_memory_limit_mb"
];
const shape = {
	min_scale: count,
	max_scale: count,
	cpu: cpuRequest,
	cpu_limit: cpuLimit,
	memory_mb: megabytes,
	memory_limit_mb: megabytes,
	queue_min_scale: count,
	queue_max_scale: count,
	queue_cpu: cpuRequest,
	queue_cpu_limit: cpuLimit,
	queue_memory_mb: megabytes,
	queue_memory_limit_mb: megabytes,
	orchestrator_cpu: cpu,
	orchestrator_cpu_limit: cpu,
	orchestrator_memory_mb: megabytes,
	orchestrator_memory_limit_mb: megabytes,
	orchestrator_min_scale: count,
	orchestrator_max_scale: count,
	executor_cpu: cpu,
	executor_cpu_limit: cpu,
	executor_memory_mb: megabytes,
	executor_memory_limit_mb: megabytes,
	cache_cpu: cpuRequest,
	cache_cpu_limit: cpuLimit,
	cache_memory_mb: megabytes,
	cache_memory_limit_mb: megabytes,
	labels: z.record(z.string(), z.string()).nullish(),
	annotations: z.record(z.string(), z.string()).nullish(),
	service_account_name: z.string().min(1).nullish(),
	image_pull_secrets: z.array(z.strictObject({ name: z.string().min(1) })).nullish(),
	volumes: z.array(volume).nullish(),
	volume_mounts: z.array(volumeMount).nullish(),
	init_containers: z.array(container).nullish(),
	sidecars: z.array(container).nullish(),
	db_cpu: cpu,
	db_cpu_limit: cpu,
	db_memory_mb: megabytes,
	db_memory_limit_mb: megabytes,
	db_storage_gi: count,
	db_max_connections: count
};
/** The fields one by one, without the rules between them. */
const resourceFields = z.strictObject(shape);
/**
* What each replica gets (control-service.md, ResourceSpec): CPU in cores, memory in MB, storage in GiB. Volume names
* are unique, every mount names a volume, and container names are unique within the pod.
*/
const resourceSpec = resourceFields.superRefine((spec, context) => {
	const volumes = /* @__PURE__ */ new Set();
	for (const [index, { name }] of (spec.volumes ?? []).entries()) {
		if (volumes.has(name)) context.addIssue({
			code: "custom",
			path: [
				"volumes",
				index,
				"name"
			],
			message: `another volume is named ${name}`
		});
		volumes.add(name);
	}
	const mounts = [];
	const containers = /* @__PURE__ */ new Set();
	for (const [index, { name }] of (spec.volume_mounts ?? []).entries()) mounts.push([[
		"volume_mounts",
		index,
		"name"
	], name]);
	for (const field of ["init_containers", "sidecars"]) for (const [index, { name, volumeMounts }] of (spec[field] ?? []).entries()) {
		if (containers.has(name)) context.addIssue({
			code: "custom",
			path: [
				field,
				index,
				"name"
			],
			message: `another container is named ${name}`
		});
		containers.add(name);
		for (const [at, mount] of (volumeMounts ?? []).entries()) mounts.push([[
			field,
			index,
			"volumeMounts",
			at,
			"name"
		], mount.name]);
	}
	for (const [path, name] of mounts) if (!volumes.has(name)) context.addIssue({
		code: "custom",
		path,
		message: `no volume is named ${name}`
	});
});
/** A resource_spec as the service tells it: nothing is judged, nothing is lost. */
const resourceSpecReply = z.record(z.string(), z.unknown());
const defaultsInOrder = [
	[
		"cpu_limit",
		"cpu",
		2
	],
	[
		"memory_limit_mb",
		"memory_mb",
		2
	],
	[
		"queue_min_scale",
		"min_scale",
		1
	],
	[
		"queue_max_scale",
		"max_scale",
		1
	],
	[
		"queue_cpu",
		"cpu",
		1
	],
	[
		"queue_cpu_limit",
		"queue_cpu",
		2
	],
	[
		"queue_memory_mb",
		"memory_mb",
		1
	],
	[
		"queue_memory_limit_mb",
		"queue_memory_mb",
		2
	],
	[
		"cache_cpu_limit",
		"cache_cpu",
		2
	],
	[
		"cache_memory_limit_mb",
		"cache_memory_mb",
		1
	],
	[
		"db_cpu_limit",
		"db_cpu",
		2
	],
	[
		"db_memory_limit_mb",
		"db_memory_mb",
		2
	]
];
/** The fields that have a default, each after the one that it comes from. */
const defaultedResourceFields = defaultsInOrder.map(([field]) => field);
/** What the service runs with where a field was left open (control-service.md, ResourceSpec: defaults). */
function withResourceDefaults(spec) {
	const filled = { ...spec };
	for (const [field, from, times] of defaultsInOrder) {
		const base = filled[from];
		if (filled[field] == null && base != null) filled[field] = field.includes("cpu") ? roundCpu(base * times) : base * times;
	}
	return filled;
}
// src/contract/control/secret.ts
/** A secret: an environment variable of the deployment's container (control-service.md, Secret). */
const secret = z.strictObject({
	name: z.string().min(1),
	value: z.string()
});
/** A secret as the service tells it, value in clear: mask it before anything prints. */
const secretReply = z.looseObject({
	name: z.string(),
	value: z.string()
});
/**
* An environment variable that is filled from an orchestrator secret which exists already in the deployment's
* namespace (control-service.md, SecretReference).
*/
const secretReference = z.strictObject({
	/** The environment variable to fill. */
	name: z.string().min(1),
	/** The orchestrator secret, in the deployment's namespace. */
	secret_name: z.string().min(1),
	/** The key within that secret. */
	secret_key: z.string().min(1)
});
const secretReferenceReply = z.looseObject({
	name: z.string(),
	secret_name: z.string(),
	secret_key: z.string()
});
// src/contract/control/source.ts
/** Where a deployment is built from (control-service.md, Deployment: `source`). */
const sources = [
	"github",
	"external_docker",
	"internal_docker",
	"internal_source"
];
const source = z.enum(sources);
const deploymentType = z.enum([
	"dev_free",
	"dev",
	"prod"
]);
/** control-service.md, ListenerConfig: only for listeners whose compute type is `k8s`. */
const listenerConfig = z.strictObject({ k8s_namespace: z.string().min(1).nullish() });
/**
* The deployment-level settings (control-service.md, source_config). All may be null; which of them fit a source,
* and what a change of each does, is data in `field-rules.ts`.
*/
const sourceConfigRequest = z.strictObject({
	integration_id: z.uuid().nullish(),
	repo_url: z.string().min(1).nullish(),
	deployment_type: deploymentType.nullish(),
	build_on_push: z.boolean().nullish(),
	custom_url: z.string().min(1).nullish(),
	resource_spec: resourceSpec.nullish(),
	listener_id: z.uuid().nullish(),
	listener_config: listenerConfig.nullish(),
	install_command: z.string().min(1).nullish(),
	build_command: z.string().min(1).nullish()
});
/** The revision-level settings (control-service.md, source_revision_config) as they are sent. */
const sourceRevisionConfigRequest = z.strictObject({
	repo_ref: z.string().min(1).nullish(),
	graph_config_path: z.string().min(1).nullish(),
	image_uri: z.string().min(1).nullish(),
	source_tarball_path: z.string().min(1).nullish()
});
/** `source_config` as the service tells it: unknown fields pass, unknown words of an enum survive. */
const sourceConfig = z.looseObject({
	integration_id: z.string().nullish(),
	repo_url: z.string().nullish(),
	deployment_type: z.string().nullish(),
	build_on_push: z.boolean().nullish(),
	custom_url: z.string().nullish(),
	resource_spec: resourceSpecReply.nullish(),
	listener_id: z.string().nullish(),
	listener_config: z.looseObject({ k8s_namespace: z.string().nullish() }).nullish(),
	install_command: z.string().nullish(),
	build_command: z.string().nullish()
});
/** `source_revision_config` as the service tells it, with the commit that was built. */
const sourceRevisionConfig = z.looseObject({
	repo_ref: z.string().nullish(),
	graph_config_path: z.string().nullish(),
	image_uri: z.string().nullish(),
	source_tarball_path: z.string().nullish(),
	/** Read-only: the commit that this revision was built from. */
	repo_commit_sha: z.string().nullish()
});
export { withResourceDefaults as _, sourceRevisionConfig as a, secret as c, secretReply as d, defaultedResourceFields as f, unusedResourceFields as g, roundCpu as h, sourceConfigRequest as i, secretReference as l, resourceSpec as m, source as n, sourceRevisionConfigRequest as o, resourceFields as p, sourceConfig as r, sources as s, deploymentType as t, secretReferenceReply as u, dnsLabel as v };
