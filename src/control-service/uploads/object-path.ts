import { randomBytes } from 'node:crypto';
import { join } from 'node:path';

/** The folder of all uploads, below the data folder and below the service's address. */
export const uploadsFolder = 'uploads';

/** Creates an unguessable object path for a new upload. */
export const newObjectPath = (deploymentId: string): string =>
  `${uploadsFolder}/${deploymentId}/${randomBytes(16).toString('hex')}.tar.gz`;

/**
 * The file of an object path's tarball, once it is stored.
 *
 * @param objectPath one that this service has issued: look up a caller's path first.
 */
export const uploadedFile = (dataDir: string, objectPath: string): string => join(dataDir, objectPath);
