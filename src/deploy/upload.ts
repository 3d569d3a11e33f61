import type { ServiceError } from '../contract/service-error.ts';
import { attempt } from './attempt.ts';
import type { DeployRun } from './deploy-run.ts';

/** Where the folder lies now, or why it could not be sent as it was planned. */
export type Uploaded = { kind: 'stored'; path: string } | { kind: 'changed'; why: string };

/** How often an upload is tried: an address may be used up or expired when the bytes arrive. */
const attempts = 3;

/**
 * Uploads the folder of the request for a deployment. It changes nothing at the deployment, so what failed on the way is
 * done again at a new address. Throws the `ServiceError` of a service that says no.
 */
export async function upload(deploymentId: string, run: DeployRun): Promise<Uploaded> {
  const { further, tarball, clock } = run.request;
  if (!further || !tarball) throw new Error('an upload was planned without a folder, or without anybody to take it');
  run.emit({ kind: 'uploading', files: tarball.files, size: tarball.size });
  const began = clock.now();
  for (let made = 1; ; made += 1) {
    const options = { signal: run.request.signal, deadline: run.deadline };
    const { upload_url: address, object_path: path } = await further.requestUpload(deploymentId, run.reading());
    const put = await attempt(further.putTarball(address, tarball, options));
    if (put.ok && put.value.kind === 'changed') return put.value;
    if (put.ok) {
      run.emit({ kind: 'uploaded', ms: clock.now() - began });
      return { kind: 'stored', path };
    }
    if (made === attempts || !mayPass(put.error)) throw put.error;
    run.emit({ kind: 'upload-failed', why: run.redact(put.error.message) });
    await run.untilNextPoll(run.deadline, put.error.retryAfterMs);
  }
}

/** Whether a retry with a new address can succeed: an expired address is refused like an unknown one. */
const mayPass = ({ kind, status }: ServiceError): boolean =>
  kind === 'busy' || kind === 'unreachable' || kind === 'unreadable' || status === 403 || status === 410;
