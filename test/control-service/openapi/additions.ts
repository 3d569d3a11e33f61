/** Something that our answers have and the public document does not, and why: the other half of `differences.ts`. */
export interface Addition {
  reason: string;
  /** Fields as `Schema.field`, answers as `METHOD /path status`; a path of `*` is any. */
  what: readonly string[];
}

/** Every addition. A row that no answer has any more fails the walk as much as one that is not here. */
export const additions: readonly Addition[] = [
  {
    reason: 'Newer public clients read the address here, and the older field is told as well.',
    what: ['Deployment.url'],
  },
  {
    reason: 'Newer public clients find the tracing project by its id here.',
    what: ['Deployment.tracer_session_id'],
  },
  {
    reason: 'A status that does not explain itself is told with its cause, for a person.',
    what: ['Deployment.status_message', 'Revision.status_message'],
  },
  {
    reason: 'Whoever would upload the same folder again can see that it is there already.',
    what: ['SourceRevisionConfig.source_tarball_digest'],
  },
  {
    reason: 'The public document describes no caller that is not let in, and its service answers them just so.',
    what: ['* 401', '* 403'],
  },
  {
    reason: 'What exists already is a conflict, as the public service answers for a tracing project of that name.',
    what: ['POST /v2/deployments 409'],
  },
  {
    reason: 'An integration that is not there is no empty list of repositories.',
    what: [
      'GET /v1/integrations/github/{integration_id}/repos 404',
      'GET /v1/integrations/forge/github/{integration_id}/repos 404',
    ],
  },
  {
    reason: 'Of several deployments only some may be there; newer public clients read that by this status.',
    what: ['DELETE /v2/deployments 207'],
  },
];
