import * as z from 'zod';
import { apiKey, apiKeyCreateRequest, apiKeysList, newApiKey } from '../../contract/control/api-key.ts';
import { auditList, auditRecord } from '../../contract/control/audit.ts';
import { container, envVar, volume, volumeMount } from '../../contract/control/container.ts';
import { deploymentCreateRequest, deploymentPatchRequest } from '../../contract/control/deployment.ts';
import { listenerComputeConfig, listenerCreateRequest, listenerPatchRequest } from '../../contract/control/listener.ts';
import {
  claimedRevision,
  claimStanding,
  workClaim,
  workReport,
  workRequest,
} from '../../contract/control/listener-work.ts';
import { logQuery } from '../../contract/control/log.ts';
import { resourceSpec } from '../../contract/control/resource-spec.ts';
import { secret, secretReference } from '../../contract/control/secret.ts';
import { listenerConfig, sourceConfigRequest, sourceRevisionConfigRequest } from '../../contract/control/source.ts';
import { pushToken, uploadTarget } from '../../contract/control/upload.ts';
import { bulkDeletion } from '../service/deletion.ts';
import { info } from './service.ts';
import { uploaded } from './sources.ts';
import * as told from './told.ts';

/** Everything that has a name of its own in the description; the public service's name where it has it too. */
const named: Readonly<Record<string, z.ZodType>> = {
  ApiKey: apiKey,
  ApiKeyCreateRequest: apiKeyCreateRequest,
  ApiKeysList: apiKeysList,
  AuditList: auditList,
  AuditRecord: auditRecord,
  BulkDeletion: bulkDeletion,
  ClaimedRevision: claimedRevision,
  ClaimStanding: claimStanding,
  Container: container,
  Deployment: told.toldDeployment,
  DeploymentCreateRequest: deploymentCreateRequest,
  DeploymentPatchRequest: deploymentPatchRequest,
  DeploymentsList: told.toldDeployments,
  EnvVar: envVar,
  GithubIntegration: told.toldIntegration,
  GithubRepository: told.toldRepository,
  HTTPValidationError: told.toldFieldProblems,
  Info: info,
  Listener: told.toldListener,
  ListenerComputeConfig: listenerComputeConfig,
  ListenerConfig: listenerConfig,
  ListenerCreateRequest: listenerCreateRequest,
  ListenerPatchRequest: listenerPatchRequest,
  ListenersList: told.toldListeners,
  LogLine: told.toldLogLine,
  LogPage: told.toldLogPage,
  LogQuery: logQuery,
  NewApiKey: newApiKey,
  Problem: told.toldProblem,
  PushToken: pushToken,
  ResourceSpec: resourceSpec,
  Revision: told.toldRevision,
  RevisionsList: told.toldRevisions,
  Secret: secret,
  SecretReference: secretReference,
  SourceConfig: told.toldSourceConfig,
  SourceConfigRequest: sourceConfigRequest,
  SourceRevisionConfig: told.toldRevisionConfig,
  SourceRevisionConfigRequest: sourceRevisionConfigRequest,
  Uploaded: uploaded,
  UploadTarget: uploadTarget,
  ValidationError: told.toldFieldProblem,
  Volume: volume,
  VolumeMount: volumeMount,
  WorkClaim: workClaim,
  WorkReport: workReport,
  WorkRequest: workRequest,
};

const registry = z.registry<{ id: string }>();
for (const [id, schema] of Object.entries(named)) registry.add(schema, { id });

const where = (id: string): string => `#/components/schemas/${id}`;

/** JSON Schema, as far as it is looked at here. */
export type JsonSchema = Record<string, unknown>;

/** Every named schema as JSON Schema. All are described as they are sent, which is also how they are told. */
export function componentSchemas(): Record<string, JsonSchema> {
  const { schemas } = z.toJSONSchema(registry, { ...settings, uri: where });
  return Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [id, bare(schema)]));
}

/** A schema that stands in an operation: by its name, where it has one. */
export function schemaOf(schema: z.ZodType): JsonSchema {
  const id = registry.get(schema)?.id;
  if (id !== undefined) return { $ref: where(id) };
  if (schema instanceof z.ZodArray) {
    const { element } = schema;
    const item = element instanceof z.ZodType ? registry.get(element)?.id : undefined;
    if (item !== undefined) return { type: 'array', items: { $ref: where(item) } };
  }
  return bare(z.toJSONSchema(schema, settings));
}

const settings: Parameters<typeof z.toJSONSchema>[1] & { io: 'input' } = {
  target: 'draft-2020-12',
  io: 'input',
  unrepresentable: 'any',
  override: ({ jsonSchema }) => {
    // Fields that are not known are passed over, so that newer clients and services get on.
    if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    if (isEmpty(jsonSchema.additionalProperties)) delete jsonSchema.additionalProperties;
    // The bounds of every number that JSON can hold say nothing.
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    // A format says it better than the expression behind it.
    if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
  },
};

/** Without what a schema says of itself when it stands alone. */
const bare = (schema: object): JsonSchema =>
  Object.fromEntries(Object.entries(schema).filter(([name]) => name !== '$schema' && name !== '$id'));

const isEmpty = (schema: unknown): boolean =>
  typeof schema === 'object' && schema !== null && Object.keys(schema).length === 0;
