/** What our responses have beyond the public document, and why: the counterpart of `differences.ts`. */
export interface Addition {
  reason: string;
  /** Fields as `Schema.field`, responses as `METHOD /path status`; a path of `*` is any. */
  what: readonly string[];
}

/** Every addition. An unused row fails the comparison as much as a missing one. */
export const additions: readonly Addition[] = [
  {
    reason: 'Newer public clients read the address here; the older field is still sent.',
    what: ['Deployment.url'],
  },
  {
    reason: 'Newer public clients find the tracing project by its id here.',
    what: ['Deployment.tracer_session_id'],
  },
  {
    reason: 'Explains a status to a person where the status alone does not.',
    what: ['Deployment.status_message', 'Revision.status_message'],
  },
  {
    reason: 'Says where a revision that is held before traffic answers, until when, and what was decided.',
    what: ['Revision.hold'],
  },
  {
    reason: 'A person can see whether the program of a listener runs.',
    what: ['Listener.last_report_at'],
  },
  {
    reason: 'A client can see that the same folder is already uploaded, and skip the upload.',
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
