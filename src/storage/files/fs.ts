import type { Documents } from './documents.ts'

/** Permissions of files with hashes of keys, secrets or user data: only the owner may read them, whatever the umask. */
export const OWNER_ONLY = 0o600

/**
 * All access to the disk. Everything under `git/`, and the key and intent files of `access/`, uses this interface, so that the same code runs
 * on node:fs, in memory, and on a simulated disk that loses unsynced writes.
 *
 * Small reads and metadata operations are synchronous: the page cache answers them in 2 to 5 µs, while a call through the thread pool costs
 * 25 to 90 µs. Operations that wait for the disk (`sync…`) are asynchronous. Errors are node's (`code` is ENOENT, EEXIST, ENOSPC …); absence
 * is `undefined` where the signature says so.
 */
export interface Fs {
  /** Whether other programs on this machine, such as git, see the same files under the same paths. */
  readonly isSeenByOthers: boolean
  /** Set if the folder is a copy of a shared store: writes files outside repositories. */
  readonly documents?: Documents | undefined
  /** The kind and size of `path`; undefined if nothing is there. Does not follow symbolic links. */
  stat(path: string): FileStat | undefined
  /** Names in a folder, unsorted; undefined if there is no such folder. */
  readDir(path: string): string[] | undefined
  /** The whole file; undefined if it does not exist. */
  readFile(path: string): Buffer | undefined
  /** Opens an existing file for positioned reads; undefined if it does not exist. */
  open(path: string): ReadHandle | undefined
  /**
   * Creates `path` (it must not exist: EEXIST) with `bytes`; resolves once they are on the disk. `mode` is for private files: 0o600 for
   * secrets.
   */
  createSynced(path: string, bytes: Uint8Array, mode?: number): Promise<void>
  /** As `createSynced`, without waiting for the disk. */
  create(path: string, bytes: Uint8Array, mode?: number): void
  /** Creates `path` (it must not exist: EEXIST) for appending. */
  createLog(path: string): LogHandle
  /** Creates `path` (it must not exist: EEXIST) for appending, reading and overwriting. */
  createFile(path: string): FileHandle
  /** Resolves once the file's content is on the disk; absence is fine. */
  sync(path: string): Promise<void>
  /** As `sync` and `syncDir` for several files and folders, for callers that are not in a hurry. May sync other writes too. */
  syncAll(paths: readonly string[]): Promise<void>
  /** Appends `bytes` to `path` in one write, creating it if absent, without waiting for the disk. */
  append(path: string, bytes: Uint8Array): void
  /**
   * Creates the folder and its missing parents, except repositories: ENOENT if a missing parent is named `*.git`, because another server may
   * just have moved it.
   */
  makeDir(path: string): void
  /** Atomically replaces `to` (a folder only where `to` is absent or empty). */
  rename(from: string, to: string): void
  /** Gives a file a second name; EEXIST if `to` is taken. */
  link(from: string, to: string): void
  /** Removes a file; absence is fine. */
  remove(path: string): void
  /** Removes files in this order without blocking the event loop; absence is fine. */
  removeAll(paths: readonly string[]): Promise<void>
  /** Removes an empty folder; true if it is gone, false if it is not empty. */
  removeFolder(path: string): boolean
  /** Removes a folder and its content; absence is fine. */
  removeTree(path: string): void
  /** Resolves once files created, renamed or removed in this folder are durable. */
  syncDir(path: string): Promise<void>
}

export interface FileStat {
  readonly kind: 'file' | 'folder' | 'other'
  readonly size: number
  /** Milliseconds since 1970, with a fraction. */
  readonly modified: number
  readonly inode: number
  /** The file system's device number. */
  readonly device: number
  /** The number of the file's names. */
  readonly links: number
}

export interface ReadHandle {
  readonly size: number
  /** Fills `target` from byte `position` of the file; answers the number of bytes read (fewer only at the end). */
  read(target: Uint8Array, position: number): number
  close(): void
}

/** A file that is written from start to end. */
export interface LogHandle {
  /** Writes after the last write. */
  append(bytes: Uint8Array): void
  /** Continues writing at the start of the file. Content that is not overwritten stays. */
  rewind(): void
  /** Resolves once everything appended before is on the disk. */
  sync(): Promise<void>
  close(): void
}

/** A file under construction: it is appended to, read, and overwritten. */
export interface FileHandle extends Omit<LogHandle, 'rewind'> {
  /** Fills `target` from byte `position` of the file and answers how many bytes it got (fewer only at the end). */
  read(target: Uint8Array, position: number): number
  /** Replaces the bytes from `position` on; they must lie within what was appended. */
  overwrite(bytes: Uint8Array, position: number): void
}
