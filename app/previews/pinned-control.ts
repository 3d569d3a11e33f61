import type { ControlService, WriteOptions } from '../../src/contract/control/service.ts';
import { overriding } from '../../src/kit/overriding.ts';
import { tryCall } from '../../src/deploy/smoke/try-call.ts';

/**
 * The service, which builds this commit and no later one of its branch, where it can: nothing that is pushed between an
 * approval and the build runs.
 */
export function pinnedTo<Service extends ControlService>(commit: string, control: Service): Service {
  const pin = async <Options extends WriteOptions>(options: Options | undefined) => {
    const features = await tryCall(control.features({ signal: options?.signal, deadline: options?.deadline }));
    return features.ok && features.value.pinsCommits ? { ...options, commit } : options;
  };
  return overriding<ControlService, Service>(control, {
    createDeployment: async (request, options) => control.createDeployment(request, await pin(options)),
    patchDeployment: async (id, request, options) => control.patchDeployment(id, request, await pin(options)),
  });
}
