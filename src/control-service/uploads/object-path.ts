import { randomBytes } from 'node:crypto';
import { join } from 'node:path';

/** The folder of all uploads, below the data folder and below the service's address. */
export const uploadsFolder = 'uploads';

/** Makes the object path of a new upload: nobody guesses it. */
export const newObjectPath = (deploymentId: string): string =>
  `${uploadsFolder}/${deploymentId}/${randomBytes(16).toString('hex')}.tar.gz`;

/**
 * Where the tarball of an object path lies, once it is stored.
 *
 * @param objectPath one that this service has handed out: what a caller sent is looked up before.
 */
export const uploadedFile = (dataDir: string, objectPath: string): string => join(dataDir, objectPath);
