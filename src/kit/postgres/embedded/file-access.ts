import { lstatSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Who runs the server when we may not run it ourselves. */
export interface ServerUser {
  name: string;
  uid: number;
  gid: number;
}

/** Whose a file or folder is, and who may do what with it. */
export interface FileAccess {
  path: string;
  uid: number;
  gid: number;
  /** Permission bits, as `stat` gives them. */
  mode: number;
}

/** Whether `user` may use `file` in these ways, by its permission bits alone: read is 4, write 2, enter or execute 1. */
export function may(user: ServerUser, want: number, file: FileAccess): boolean {
  const bits = file.uid === user.uid ? file.mode >> 6 : file.gid === user.gid ? file.mode >> 3 : file.mode;
  return (bits & want) === want;
}

/** The first folder of a way that `user` may not enter, or `undefined` when the way is open. */
export function firstClosed(user: ServerUser, way: FileAccess[]): FileAccess | undefined {
  return way.find((folder) => !may(user, 1, folder));
}

/** The owner and permissions of an existing file or folder; links are followed. */
export function accessOf(path: string): FileAccess {
  const { uid, gid, mode } = statSync(path);
  return { path, uid, gid, mode };
}

/** Every folder from the root down to `path`, which must be a real path, without links in it. */
export function wayTo(path: string): FileAccess[] {
  const parent = dirname(path);
  const { uid, gid, mode } = lstatSync(path);
  return [...(parent === path ? [] : wayTo(parent)), { path, uid, gid, mode }];
}
