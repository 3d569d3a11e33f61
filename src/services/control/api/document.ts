import { fieldAliases, spellFields, type FieldSpelling } from '../../../contract/control/aliases.ts';
import { isObject } from '../../../kit/json-object.ts';
import { describeOperations, type OpenApiDocument, type ServiceDescription } from '../../../kit/http/openapi.ts';
import type { ResponseDescription } from '../../../kit/http/operation.ts';
import { namedSchemas } from './named-schemas.ts';
import { examples } from './examples.ts';
import { operations } from './operations.ts';
import { pathParameters, queryDescriptions } from './parameters.ts';
import { fieldProblemsResponse, problemResponse } from './response-schemas.ts';
import { interfaceVersion } from './service-operations.ts';

/** The three authentication schemes (docs/design/contract.md#authentication), and the sessions of browsers. */
const securitySchemes: ServiceDescription['securitySchemes'] = {
  ApiKey: { type: 'apiKey', in: 'header', name: 'X-Api-Key', description: 'A key of the tenant.' },
  TenantId: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Tenant-Id',
    description: 'The tenant of the request; it must be a tenant of the key.',
  },
  BearerAuth: { type: 'http', scheme: 'bearer', description: 'The key as a bearer token.' },
  Session: {
    type: 'apiKey',
    in: 'cookie',
    name: 'landfall_session_ID',
    description:
      'A session of `POST /v1/sessions`. Requests that change something need `X-CSRF-Token` and an `Origin` of this service too. Each service has another `ID`. The name begins with `__Host-` where the service is reached by https and without a path.',
  },
};
const security = [{ ApiKey: [] }, { ApiKey: [], TenantId: [] }, { BearerAuth: [] }, { Session: [] }];

/** Generates the description from the schemas that parse the requests, in either spelling of the fields. */
export function openApiDocument(spelling: FieldSpelling): OpenApiDocument {
  const document = describeOperations(operations, {
    title: 'Landfall control service',
    version: interfaceVersion,
    description,
    tags,
    examples: Object.fromEntries(Object.entries(examples).map(([id, body]) => [id, spellFields(body, spelling)])),
    schemas: namedSchemas,
    pathParameters,
    queryDescriptions,
    errors: errorDescriptions,
    commonErrors,
    securitySchemes,
    security,
  });
  const { components } = document;
  return { ...document, components: { ...components, schemas: spellSchemas(components.schemas, spelling) } };
}

const tags = {
  Deployments: 'An agent at an address of its own, built from a repository, an upload or an image.',
  Revisions: 'One build of a deployment with the settings that it runs with.',
  Logs: 'What builds and agents print, in pages or as it is written.',
  Health: 'Requests, runs and processes of agents over time.',
  Sources: 'Where deployments are built from: installations of the GitHub App, uploads, the image registry.',
  Listeners: 'Programs that run deployments in clusters of their own.',
  'Work of listeners': 'How a listener claims work, reports on it and lets go of it.',
  Tracing: 'The ended runs of agents.',
  Keys: 'API keys, and who changed what with them.',
  Session: 'The sessions of browsers.',
  Service: 'The service itself.',
};

const description = [
  'Creates deployments of agent servers and their revisions, and runs them.',
  'Refusals have one field, `detail`: a sentence, or at a 422 a list of the fields that are wrong.',
  'Unknown fields are ignored. `x-aliases` of a field names another spelling that requests may use for it.',
];

const sentence = (description: string): ResponseDescription => ({ description, schema: problemResponse });

const errorDescriptions: Readonly<Record<number, ResponseDescription>> = {
  400: sentence('A rule is broken: one sentence for each.'),
  401: sentence('The credential is missing or invalid.'),
  403: sentence('The address was not issued by this service or has expired, or a page of another origin sent this.'),
  404: sentence('It does not exist, or belongs to another tenant.'),
  409: sentence('It conflicts with something that exists, or it is being deleted.'),
  412: sentence('Another revision than the one in If-Match is the latest.'),
  413: sentence('The body is too large.'),
  415: sentence('The media type of the body is not supported.'),
  422: { description: 'Fields of a wrong shape or out of bounds: an entry for each.', schema: fieldProblemsResponse },
  502: sentence('GitHub or the image registry did not respond, or failed.'),
  507: sentence('The disk is full.'),
};

/** The errors of every operation that needs a key. */
const commonErrors: Readonly<Record<number, ResponseDescription>> = {
  401: sentence('The API key is missing or invalid, or the session has ended.'),
  403: sentence('X-Tenant-Id is not the tenant of the key, or the origin or CSRF token of a session is wrong.'),
  503: sentence('The database is unavailable: try again after `Retry-After` seconds.'),
};

type Schemas = OpenApiDocument['components']['schemas'];

/** The schemas with every field that has two names under the requested one. */
function spellSchemas(schemas: Schemas, spelling: FieldSpelling): Schemas {
  const names = new Map<unknown, string>(fieldAliases.map((alias) => [alias.contract, alias[spelling]]));
  const other = new Map<unknown, string>(
    fieldAliases.map((alias) => [alias.contract, spelling === 'contract' ? alias.public : alias.contract]),
  );
  const withAlias = (name: string, field: unknown): unknown =>
    isObject(field) && other.has(name) ? { ...field, 'x-aliases': [other.get(name)] } : field;
  const spelled = ({ properties, required, ...schema }: Schemas[string]): Schemas[string] => {
    const fields = Object.entries(isObject(properties) ? properties : {});
    return {
      ...schema,
      ...(Array.isArray(required) ? { required: required.map((name) => names.get(name) ?? name) } : {}),
      ...(isObject(properties)
        ? {
            properties: Object.fromEntries(
              fields.map(([name, field]) => [names.get(name) ?? name, withAlias(name, field)]),
            ),
          }
        : {}),
    };
  };
  return Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [id, spelled(schema)]));
}
