import { deployment as deploymentSchema, type Deployment } from '../../../contract/control/deployment.ts';
import { idempotencyKeyHeader } from '../../../contract/control/idempotency-key.ts';
import { uploadTarget } from '../../../contract/control/upload.ts';
import { isObject } from '../../../kit/json-object.ts';
import { fromJson } from '../../../kit/json-text.ts';
import { ApiError, call, serviceUrl } from '../../api/http.ts';

/** Keeps the idempotency key of a request while its content is the same, so that trying again does nothing twice. */
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

/** Uploads a gzip tar for a deployment. @returns the path to name it by. @throws ApiError */
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
  // The service names itself by the address that it was started with; this page may have reached it by another.
  await put(new URL(object_path + new URL(upload_url).search, serviceUrl), tarball, onProgress, signal);
  return object_path;
}

/** `fetch` does not report how much was sent. */
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
  // A proxy in between may answer with HTML.
  const parsed = fromJson(responseText);
  return isObject(parsed) && typeof parsed['detail'] === 'string'
    ? parsed['detail']
    : `The upload was refused with ${status}. Try again.`;
}

/** Makes a revision of an uploaded tarball. @throws ApiError */
export const deployTarball = (
  deploymentId: string,
  revision: { source_tarball_path: string; graph_config_path?: string },
  key: string,
): Promise<Deployment> =>
  call('PATCH', `v2/deployments/${deploymentId}`, deploymentSchema, {
    body: { source_revision_config: revision },
    headers: { [idempotencyKeyHeader]: key },
  });
