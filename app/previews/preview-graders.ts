import { connectGraders, type GraderSettings } from '../../src/client/grader.ts';
import type { DesiredDeployment } from '../../src/deploy/file/desired.ts';
import { withoutTrailingSlashes } from '../../src/kit/plain-text.ts';

interface PreviewGraderOptions extends Pick<GraderSettings, 'clock' | 'random' | 'userAgent'> {
  /** Addresses that answers may be sent to for grading. */
  graderUrls: readonly string[];
}

/**
 * Connects graders with the keys among the secrets of a preview: what a repository's file names is never looked up in the
 * App's own environment, and the file does not choose where the App sends requests.
 */
export const createPreviewGraders =
  ({ graderUrls, ...settings }: PreviewGraderOptions) =>
  ({ desired: { secrets = [] } }: DesiredDeployment) =>
    connectGraders({
      ...settings,
      keyOf: (name) => secrets.find((secret) => secret.name === name)?.value,
      refuse: (baseUrl) =>
        graderUrls.includes(withoutTrailingSlashes(baseUrl))
          ? undefined
          : 'the operator of this App does not allow this address: LANDFALL_GRADERS lists those that are',
    });
