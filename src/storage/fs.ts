import type { Documents } from './documents/documents.ts'

/** Permissions of files that hold hashes of keys, secrets, or what users sent: whatever the umask, their owner alone reads them. */
export const OWNER_ONLY = 0o600

/**
 * The one door to the disk. Everything under `git/` (and the key and intent files of `access/`) goes through this
 * narrow interface, so that the same code runs on node:fs, on memory, and on a simulated disk that loses unsynced
 * writes.
 *
 * Small reads and metadata operations are synchronous: they are answered by the page cache in 2 to 5 µs, where the
 * same call through the thread pool costs 25 to 90 µs. What really waits for the disk (`sync…`) is asynchronous.
 * Errors are node's (`code` is ENOENT, EEXIST, ENOSPC …); absence is `undefined` where the signature says so.
 */
export interface Fs {
  /** Whether other programs of this machine, git above all, find the same files under the same paths. */
  readonly isSeenByOthers: boolean
  /** Of a folder that only follows what a store holds that several folders share: how files outside repositories are written. */
  readonly documents?: Documents | undefined
  /** What `path` is now, or undefined if nothing is there. Follows no symbolic link. */
  stat(path: string): FileStat | undefined
  /** Names in a folder, unsorted; undefined if there is no such folder. */
  readDir(path: string): string[] | undefined
  /** The whole file, or undefined if there is none. */
  readFile(path: string): Buffer | undefined
  /** A handle for positioned reads of an existing file, or undefined if there is none. */
  open(path: string): ReadHandle | undefined
  /**
   * Creates `path` (it must not exist: EEXIST) holding `bytes`; resolves once the bytes are on the disk. `mode` are the
   * permissions of a file that is not for everybody: 0o600 for secrets.
   */
  createSynced(path: string, bytes: Uint8Array, mode?: number): Promise<void>
  /** The same without waiting for the disk. */
  create(path: string, bytes: Uint8Array, mode?: number): void
  /** Creates `path` (it must not exist: EEXIST) to write on at its end. */
  createLog(path: string): LogHandle
  /** Creates `path` (it must not exist: EEXIST) to write on at its end, to read back and to correct. */
  createFile(path: string): FileHandle
  /** Resolves once what the file holds is on the disk; absence is fine. */
  sync(path: string): Promise<void>
  /** The same for files and for folders (see syncDir), for who is in no hurry; what else was written may be synced with them. */
  syncAll(paths: readonly string[]): Promise<void>
  /** Adds `bytes` at the end of `path` in one write, creating it if need be, without waiting for the disk. */
  append(path: string, bytes: Uint8Array): void
  /**
   * Makes the folder and its missing parents. No repository comes to be that way: ENOENT where a missing parent is named `*.git`, which
   * another server may have moved away just now.
   */
  makeDir(path: string): void
  /** Atomically replaces `to` (a folder only where `to` is absent or empty). */
  rename(from: string, to: string): void
  /** A second name for a file; EEXIST if `to` is taken. */
  link(from: string, to: string): void
  /** Removes a file; absence is fine. */
  remove(path: string): void
  /** Removes files one after the other, in this order, without holding up anyone; absence is fine. */
  removeAll(paths: readonly string[]): Promise<void>
  /** Removes a folder, if nothing is in it; true if it is gone, false if something is. */
  removeFolder(path: string): boolean
  /** Removes a folder and everything in it; absence is fine. */
  removeTree(path: string): void
  /** Resolves once what was created, renamed or removed in this folder is on the disk. */
  syncDir(path: string): Promise<void>
}

export interface FileStat {
  readonly kind: 'file' | 'folder' | 'other'
  readonly size: number
  /** Milliseconds since 1970, with the fraction the file system keeps. */
  readonly modified: number
  readonly inode: number
  /** Of the file system that it is on. */
  readonly device: number
  /** How many names the file has. */
  readonly links: number
}

export interface ReadHandle {
  readonly size: number
  /** Fills `target` from byte `position` of the file and answers how many bytes it got (fewer only at the end). */
  read(target: Uint8Array, position: number): number
  close(): void
}

/** A file that is written from its start to its end. */
export interface LogHandle {
  /** Writes behind what was written last. */
  append(bytes: Uint8Array): void
  /** What is written next goes to the start, over what is there; what is not written over stays. */
  rewind(): void
  /** Resolves once everything appended before the call is on the disk. */
  sync(): Promise<void>
  close(): void
}

/** A file in the making: grows at its end, can be read, and what is written can be written over. */
export interface FileHandle extends Omit<LogHandle, 'rewind'> {
  /** Fills `target` from byte `position` of the file and answers how many bytes it got (fewer only at the end). */
  read(target: Uint8Array, position: number): number
  /** Replaces the bytes from `position` on; they must lie within what was appended. */
  overwrite(bytes: Uint8Array, position: number): void
}
