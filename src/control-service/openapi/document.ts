import type { FieldSpelling } from '../../contract/control/aliases.ts';
import { describeInterface } from '../../openapi/document.ts';
import type { OpenApiDocument } from '../../openapi/document.ts';
import { schemas } from './components.ts';
import { databaseAway, errorAnswers, refusedCallers } from './errors.ts';
import { operations } from './operations.ts';
import { headerParameters, pathParameters, queryNotes } from './parameters.ts';
import { spellSchemas } from './spelling.ts';

/** The version of the served interface (control-service.md, Versioning). */
export const interfaceVersion = '0.1.0';

/** The three authentication schemes (control-service.md, Authentication). */
const securitySchemes = {
  'API Key': { type: 'apiKey', in: 'header', name: 'X-Api-Key', description: 'A key of the tenant.' },
  'Tenant ID': {
    type: 'apiKey',
    in: 'header',
    name: 'X-Tenant-Id',
    description: 'The tenant of the request; it must be a tenant of the key.',
  },
  'Bearer Auth': { type: 'http', scheme: 'bearer', description: 'The key as a bearer token.' },
};
const security = [{ 'API Key': [] }, { 'API Key': [], 'Tenant ID': [] }, { 'Bearer Auth': [] }];

/** Generates the description from the schemas that parse the requests, in either spelling of the fields. */
export function openApiDocument(spelling: FieldSpelling): OpenApiDocument {
  const document = describeInterface(operations, {
    title: 'Landfall control service',
    version: interfaceVersion,
    description,
    schemas,
    headers: headerParameters,
    pathParts: pathParameters,
    queryNotes,
    refusals: errorAnswers,
    common: { ...refusedCallers, ...databaseAway },
    securitySchemes,
    security,
  });
  const { components } = document;
  return { ...document, components: { ...components, schemas: spellSchemas(components.schemas, spelling) } };
}

const description = [
  'Creates deployments of agent servers and their revisions, and runs them.',
  'Refusals have one field, `detail`: a sentence, or at a 422 a list of the fields that are wrong.',
  'Unknown fields are ignored. `langgraph_config_path` and `redis_*` are accepted beside the names here.',
];
