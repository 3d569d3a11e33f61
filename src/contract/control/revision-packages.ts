import * as z from 'zod';

/** A package that a revision was built with. */
export const revisionPackage = z.looseObject({
  name: z.string(),
  /** Null for one that was installed from an address. */
  version: z.string().nullable(),
  /** Where it came from, if not from the index: without credentials. */
  address: z.string().nullable(),
});

/** GET /v2/deployments/{id}/revisions/{revision_id}/packages: an addition of this project's service. */
export const revisionPackages = z.looseObject({
  /** The version of the interpreter: `3.11.2`. Null where no graph is in Python, before the build, and of older builds. */
  python: z.string().nullable(),
  /** The installed packages of Python, in their order; empty where no graph is in Python. */
  packages: z.array(revisionPackage),
});
export type RevisionPackages = z.infer<typeof revisionPackages>;
