import { unzipSync } from 'fflate';
import { createTarDecoder, createTarPacker } from 'modern-tar';
import { configPathsOf, folderOf, limits, selectFiles, type SourceFile, type SourceFolder } from './source-files.ts';

/** A chosen folder or archive, and how to pack it for an upload. */
export interface PickedSource {
  name: string;
  files: number;
  /** The size of its files, or of an archive that is uploaded unchanged. */
  bytes: number;
  /** The graph configuration files, the one nearest to the root first. */
  configPaths: string[];
  leftOut: string[];
  /** Packs a gzip tar. @param onPacked called with the number of bytes packed so far. */
  pack: (onPacked: (bytes: number) => void) => Promise<Blob>;
}

const isArchive = ({ name }: File): boolean => /\.(?:tar\.gz|tgz|zip)$/i.test(name);

/** Reads the files of a folder input. @throws Error with a message for users. */
export function pickFiles(files: readonly File[]): Promise<PickedSource> {
  const name = files[0]?.webkitRelativePath.split('/')[0] ?? '';
  return pickFolder(name, folderOf(files.map((file) => ({ path: file.webkitRelativePath || file.name, file }))));
}

/** Reads a drop. Call it synchronously in the event handler: the browser clears the data afterwards. */
export async function pickDropped(transfer: DataTransfer): Promise<PickedSource> {
  const items = [...transfer.items].filter(({ kind }) => kind === 'file');
  const entries = items.flatMap((item) => item.webkitGetAsEntry() ?? []);
  const files = [...transfer.files];
  const [entry] = entries;
  if (entries.length === 1 && entry && isDirectory(entry)) return pickFolder(entry.name, droppedFolder(entry));
  const [file] = files;
  if (files.length === 1 && file && isArchive(file)) return pickArchive(file);
  if (entries.length > 0) {
    return pickFolder('', { entries: async () => entries.flatMap(toEntry) });
  }
  throw new Error('This can’t be deployed. Drop a folder, or an archive that ends with .tar.gz, .tgz or .zip.');
}

/** Reads a chosen archive. @throws Error with a message for users. */
export async function pickArchive(file: File): Promise<PickedSource> {
  if (!isArchive(file)) throw new Error('The archive has to end with .tar.gz, .tgz or .zip.');
  return file.name.toLowerCase().endsWith('.zip') ? pickZip(file) : pickTarball(file);
}

async function pickFolder(name: string, folder: SourceFolder<File>): Promise<PickedSource> {
  const { files, bytes, leftOut } = await selectFiles(folder);
  const configPaths = configPathsOf(files.map(({ path }) => path));
  return { name, files: files.length, bytes, configPaths, leftOut, pack: (onPacked) => packFiles(files, onPacked) };
}

async function pickTarball(file: File): Promise<PickedSource> {
  if (file.size > limits.packedBytes) throw new Error(tooLargeMessage);
  const paths: string[] = [];
  try {
    const entries = file.stream().pipeThrough(new DecompressionStream('gzip')).pipeThrough(createTarDecoder());
    for await (const { header, body } of entries) {
      if (header.type === 'file') paths.push(header.name.replace(/^\.\//, ''));
      await body.cancel();
      if (paths.length > 2 * limits.files) break;
    }
  } catch (cause) {
    throw new Error('This is not a gzipped tar, or it is damaged. Pack it again.', { cause });
  }
  const pack = async (): Promise<Blob> => file;
  return {
    name: file.name,
    files: paths.length,
    bytes: file.size,
    configPaths: configPathsOf(paths),
    leftOut: [],
    pack,
  };
}

/** The maximum unpacked size of a zip (bytes), because it is unpacked in memory. */
const maxZipBytes = 256 * 1024 ** 2;

async function pickZip(file: File): Promise<PickedSource> {
  let bytes = 0;
  const checkSize = ({ originalSize }: { originalSize: number }): boolean => {
    bytes += originalSize;
    if (bytes > maxZipBytes) throw new Error('The zip archive holds more than 256 MB. Pack it as .tar.gz instead.');
    return true;
  };
  const unpacked = unzipSync(new Uint8Array(await file.arrayBuffer()), { filter: checkSize });
  const files = Object.entries(unpacked)
    .filter(([path]) => !path.endsWith('/') && !path.startsWith('__MACOSX/'))
    .map(([path, content]) => ({ path, file: new File([new Uint8Array(content)], path) }));
  return pickFolder(file.name, folderOf(files));
}

const tooLargeMessage =
  'The archive is larger than 200 MB. Leave out what a build does not need, such as node_modules.';

/** Some tools reject times before 1980. */
const mtime = new Date('2000-01-01T00:00:00Z');

async function packFiles(files: readonly SourceFile<File>[], onPacked: (bytes: number) => void): Promise<Blob> {
  const { readable, controller } = createTarPacker();
  const packed = new Response(readable.pipeThrough(new CompressionStream('gzip'))).blob();
  const writeFiles = async (): Promise<void> => {
    let done = 0;
    for (const { path, file } of files) {
      const mode = (await isScript(file)) ? 0o755 : 0o644;
      const header = { name: path, size: file.size, type: 'file', mode, mtime, uid: 0, gid: 0 } as const;
      await file.stream().pipeTo(controller.add(header));
      onPacked((done += file.size));
    }
    controller.finalize();
  };
  // Browsers report a file that changed since it was chosen as unreadable.
  const written = writeFiles().catch((error: unknown) => {
    controller.error(error);
    throw new Error('A file could not be read, or has changed. Choose the folder again.', { cause: error });
  });
  const [blob] = await Promise.all([packed.catch(() => undefined), written]);
  if (!blob) throw new Error('The folder could not be packed. Choose it again.');
  if (blob.size > limits.packedBytes) throw new Error(tooLargeMessage);
  return blob;
}

/** Detects executable files by their first bytes, because browsers do not report permissions. */
const isScript = async (file: File): Promise<boolean> => (await file.slice(0, 2).text()) === '#!';

const isDirectory = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory;
const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile;

function toEntry(entry: FileSystemEntry): Awaited<ReturnType<SourceFolder<File>['entries']>>[number][] {
  const { name } = entry;
  if (isDirectory(entry)) return [{ kind: 'folder', name, folder: droppedFolder(entry) }];
  if (!isFile(entry)) return [];
  return [{ kind: 'file', name, open: () => new Promise<File>((resolve, reject) => entry.file(resolve, reject)) }];
}

const droppedFolder = (directory: FileSystemDirectoryEntry): SourceFolder<File> => ({
  async entries() {
    const reader = directory.createReader();
    const found: FileSystemEntry[] = [];
    // A reader returns some entries at a time, and none after the last.
    for (;;) {
      const batch = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
      if (batch.length === 0) return found.flatMap(toEntry);
      found.push(...batch);
    }
  },
});
