import { isObject } from '../../contract/json-object.ts';
import { accessOf } from '../auth/access.ts';
import type { AuthConfig } from '../../graph-config/auth-config.ts';
import type { HttpConfig } from '../../graph-config/http-config.ts';
import type { OpenApiDocument } from '../../http/openapi.ts';
import { isSwitchedOff } from './switches.ts';

type Operation = OpenApiDocument['paths'][string][string];

/**
 * Adapts the OpenAPI document to the configuration: removes disabled paths, and applies the security schemes of
 * `auth.openapi`.
 */
export function describedAs(
  document: OpenApiDocument,
  http: HttpConfig,
  auth: AuthConfig | null | undefined,
): OpenApiDocument {
  const { securitySchemes = {}, security, paths: own = {} } = auth?.openapi ?? {};
  const securityOf = (path: string, method: string): unknown => {
    const methods = own[path];
    if (!isObject(methods)) return security;
    return methods[method] ?? methods[method.toUpperCase()] ?? security;
  };
  const secured = (path: string, method: string, operation: Operation): Operation => {
    const requested = securityOf(path, method);
    const isOpen = accessOf(method.toUpperCase(), path).does === 'open';
    return requested === undefined || isOpen ? operation : { ...operation, security: requested };
  };
  return {
    ...document,
    paths: Object.fromEntries(
      Object.entries(document.paths).flatMap(([path, methods]) => {
        if (isSwitchedOff(http, path)) return [];
        const each = Object.entries(methods).map(([method, operation]): [string, Operation] => [
          method,
          secured(path, method, operation),
        ]);
        return [[path, Object.fromEntries(each)]];
      }),
    ),
    components: {
      ...document.components,
      securitySchemes: { ...document.components.securitySchemes, ...securitySchemes },
    },
  };
}
