import { isNotOffered } from '../contract/service-error.ts';
import type { Deployment } from '../contract/control/deployment.ts';
import { attempt } from './attempt.ts';
import type { Story } from './story.ts';

const pageSize = 100;

/**
 * The deployments that are meant: by id there is exactly one or the service's error, by name there may be none. The
 * service may match names loosely, so the name is compared here, on every page.
 */
export async function find(story: Story): Promise<Deployment[]> {
  const { control, desired } = story.request;
  if (desired.deploymentId !== undefined) {
    return [story.saw(await control.getDeployment(desired.deploymentId, story.reading()))];
  }
  return desired.name === undefined ? [] : findByName(desired.name, story);
}

/** Whether the service says that there is none of this name or id: one that lists nothing, or is none, says nothing. */
export async function tellsOfAbsence(story: Story): Promise<boolean> {
  const { control, desired } = story.request;
  const listed = await attempt(control.listDeployments({ limit: 1 }, story.reading()));
  if (listed.ok) return true;
  if (!isNotOffered(listed.error)) throw listed.error;
  return desired.deploymentId !== undefined && (await isControlService(story));
}

/** Every deployment of exactly this name; none where the service does not list deployments, which is noted. */
export async function findByName(name: string, story: Story): Promise<Deployment[]> {
  const { control } = story.request;
  const met = new Set<string>();
  const found: Deployment[] = [];
  for (let offset = 0; ; offset += pageSize) {
    const query = { name_contains: name, limit: pageSize, offset };
    const page = await attempt(control.listDeployments(query, story.reading()));
    if (!page.ok) {
      if (!isNotOffered(page.error) || !(await isControlService(story))) throw page.error;
      story.note(
        'this service does not list deployments, so none is found by its name: give deployment-id where it is known',
      );
      return [];
    }
    const fresh = page.value.resources.filter(({ id }) => !met.has(id));
    for (const listed of fresh) {
      met.add(listed.id);
      // A list may leave out what a plan has to know, the secrets first of all.
      if (listed.name === name) found.push(story.saw(await control.getDeployment(listed.id, story.reading())));
    }
    // A service that does not heed `offset` would answer its first page for ever.
    if (page.value.resources.length < pageSize || fresh.length === 0) return found;
  }
}

/**
 * An address that has no list of deployments may be no control service at all: one that control-service.md describes
 * lists its listeners and integrations.
 */
async function isControlService(story: Story): Promise<boolean> {
  const { control } = story.request;
  for (const ask of [
    () => control.listListeners({ limit: 1 }, story.reading()),
    () => control.listIntegrations(story.reading()),
  ]) {
    const answered = await attempt<unknown>(ask());
    if (answered.ok || answered.error.kind === 'rejected') return true;
    if (!isNotOffered(answered.error)) throw answered.error;
  }
  return false;
}
