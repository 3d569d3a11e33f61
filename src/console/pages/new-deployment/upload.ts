import { deployment as deploymentSchema, type Deployment } from '../../../contract/control/deployment.ts';
import { idempotencyKeyHeader } from '../../../contract/control/idempotency-key.ts';
import { uploadTarget } from '../../../contract/control/upload.ts';
import { isObject } from '../../../kit/json-object.ts';
import { fromJson } from '../../../kit/json-text.ts';
import { ApiError, call, serviceUrl } from '../../api/http.ts';

/** Creates idempotency keys that are the same for the same content, so that a retry has no second effect. */
export function stableKeys(): (content: string) => string {
  const keys = new Map<string, string>();
  return (content) => {
    const key = keys.get(content) ?? crypto.randomUUID();
    keys.set(content, key);
    return key;
  };
}

/** @throws ApiError */
export const createDeployment = (body: unknown, key: string): Promise<Deployment> =>
  call('POST', 'v2/deployments', deploymentSchema, { body, headers: { [idempotencyKeyHeader]: key } });

/** Uploads a gzip tar for a deployment. @returns its object path. @throws ApiError */
export async function uploadTarball(
  deploymentId: string,
  tarball: Blob,
  onProgress: (sent: number) => void,
  signal: AbortSignal,
): Promise<string> {
  const headers = { [idempotencyKeyHeader]: crypto.randomUUID() };
  const { upload_url, object_path } = await call('POST', `v2/deployments/${deploymentId}/upload-url`, uploadTarget, {
    headers,
    signal,
  });
  // The service returns its configured address, but this page may reach it at another one.
  await put(new URL(object_path + new URL(upload_url).search, serviceUrl), tarball, onProgress, signal);
  return object_path;
}

/** Sends a PUT with XMLHttpRequest, because `fetch` does not report the upload's progress. */
function put(url: URL, body: Blob, onProgress: (sent: number) => void, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('PUT', url);
    request.setRequestHeader('content-type', 'application/gzip');
    request.upload.addEventListener('progress', ({ loaded }) => onProgress(loaded));
    request.addEventListener('load', () =>
      request.status === 200 ? resolve() : reject(new ApiError(request.status, refusal(request))),
    );
    request.addEventListener('error', () =>
      reject(new ApiError(0, 'The upload was interrupted. Check that the service is running, and try again.')),
    );
    signal.addEventListener('abort', () => {
      request.abort();
      reject(signal.reason);
    });
    request.send(body);
  });
}

function refusal({ status, responseText }: XMLHttpRequest): string {
  // A proxy may respond with HTML.
  const parsed = fromJson(responseText);
  return isObject(parsed) && typeof parsed['detail'] === 'string'
    ? parsed['detail']
    : `The upload was refused with ${status}. Try again.`;
}

/** Creates a revision from an uploaded tarball. @throws ApiError */
export const deployTarball = (
  deploymentId: string,
  revision: { source_tarball_path: string; graph_config_path?: string },
  key: string,
): Promise<Deployment> =>
  call('PATCH', `v2/deployments/${deploymentId}`, deploymentSchema, {
    body: { source_revision_config: revision },
    headers: { [idempotencyKeyHeader]: key },
  });
