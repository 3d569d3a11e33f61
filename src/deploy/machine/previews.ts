import type { CallOptions } from '../../contract/call-options.ts';
import type { Deployment } from '../../contract/control/deployment.ts';
import { allEntriesOf } from '../../contract/control/pages.ts';
import type { ControlService } from '../../contract/control/service.ts';
import { ifFound } from '../../contract/service-error.ts';
import {
  isNamedLikePreview,
  isPreviewOf,
  nameOfPreviews,
  numberInName,
  ownsPreview,
  previewKeyOf,
} from '../rules/preview.ts';

/** A deployment that carries the mark of a repository's previews. */
export interface Preview {
  deployment: Deployment;
  /** The number of its pull request. */
  number: number;
  /** The deployment of the file; absent: the service hides the mark. */
  entry?: string | undefined;
}

/**
 * The previews of a repository, as the service has them: it matches names loosely, and a name alone is no mark.
 *
 * @param known a deployment of the file, to know its previews by their names where the service hides their marks
 */
export async function listPreviews(
  control: Pick<ControlService, 'listDeployments' | 'getDeployment'>,
  repositoryId: number,
  options: () => CallOptions,
  known?: string,
): Promise<Preview[]> {
  const name_contains = nameOfPreviews(repositoryId);
  const listed = await allEntriesOf((page) => control.listDeployments({ name_contains, ...page }, options()));
  const previews: Preview[] = [];
  for (const each of listed) {
    if (!isNamedLikePreview(each.name, repositoryId)) continue;
    // A list may leave out the secrets, and another run may have removed it since.
    const deployment = await ifFound(control.getDeployment(each.id, options()));
    if (!deployment || !ownsPreview(deployment, repositoryId)) continue;
    const key = previewKeyOf(deployment);
    const number = key?.number ?? numberInName(deployment.name);
    if (number === undefined) continue;
    const isKnown = known !== undefined && isPreviewOf(deployment, { repositoryId, number, entry: known });
    previews.push({ deployment, number, entry: key?.entry ?? (isKnown ? known : undefined) });
  }
  return previews;
}
