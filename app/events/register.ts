import type { Probot } from 'probot';
import type { AppContext } from '../context.ts';
import { decidedEvents } from './event-decision.ts';
import { handleEvent, type HandlerServices } from './handle-event.ts';

/**
 * Registers the App's handlers: one for each event that may require something, and one for all others, which only
 * records why they are ignored.
 */
export function registerHandlers(
  app: Pick<Probot, 'on' | 'onAny'>,
  context: AppContext,
  services: HandlerServices = {},
): void {
  const handle = async ({ id, name, payload }: { id: string; name: string; payload: unknown }): Promise<void> => {
    await handleEvent({ id, name, payload }, context, services);
  };
  app.on('push', handle);
  app.on('delete', handle);
  app.on('check_run', handle);
  app.on('check_suite', handle);
  app.on('pull_request', handle);
  app.on('merge_group', handle);
  app.on('installation', handle);
  app.on('installation_repositories', handle);
  app.on('repository', handle);
  app.onAny(async (event) => {
    if (!decidedEvents.includes(event.name)) await handle(event);
  });
}
