import { dateProblem, type Oid } from '../../git/objects.ts'
import type { ListedObject } from '../../git/program.ts'
import { isDeviceName } from '../slugs/slug.ts'
import { RefRefused } from './ref-command.ts'
import type { ObjectReader } from '../payload/tree-files.ts'
import { readBytes, readTree } from '../payload/tree-files.ts'

/** Limits of a push. */
export interface PushLimits {
  readonly maxBlobBytes: number
  /** The limit for the file at a path, if that is larger. */
  readonly maxBytesOf?: (path: string) => number
  /** Allows names of Windows devices for files and folders, as an earlier version did. */
  readonly allowsDeviceNames?: boolean
}

/** New objects that are checked before any other reader sees them. */
export interface PushedObjects extends ObjectReader {
  /** Every object that these reach and that the repository does not have yet. */
  newObjects(tips: readonly Oid[], signal?: AbortSignal): AsyncIterable<ListedObject>
}

/** Maximum bytes of a commit, tag or tree: these are read whole for every lookup, and real ones are far smaller. */
const LARGEST_OTHER = 16 * 1024 * 1024

/** No operating system accepts a longer path, so this also limits the depth of folders. */
const LONGEST_PATH = 4096

/**
 * Checks every new object of these tips: everything that they reach must exist, nothing may be too large, no file may be a symbolic link or
 * a submodule or have the name of a Windows device (it could not be checked out there), and no commit may have an impossible date. Answers
 * the new commits.
 */
export async function checkPushedObjects(
  incoming: PushedObjects,
  tips: readonly Oid[],
  { maxBlobBytes, maxBytesOf = () => maxBlobBytes, allowsDeviceNames = false }: PushLimits,
  signal: AbortSignal,
): Promise<readonly Oid[]> {
  const commits: Oid[] = []
  for await (const { oid, kind, size, path } of incoming.newObjects(tips, signal)) {
    if (kind !== 'blob' && size > LARGEST_OTHER) {
      throw new RefRefused(
        'object too large',
        `The ${kind} ${oid} has ${size} bytes; at most ${LARGEST_OTHER} are allowed. Make its message, or its folder, shorter.`,
      )
    }
    if (path.length > LONGEST_PATH) {
      throw new RefRefused(
        'path too long',
        `${path.slice(0, 100)}… is a path of more than ${LONGEST_PATH} characters. Use fewer folders, or shorter names.`,
      )
    }
    const most = maxBytesOf(path)
    if (kind === 'blob' && size > most) {
      throw new RefRefused(
        'file too large',
        `${path} has ${size} bytes; at most ${most} are allowed. Take it out of the commit that brings it ` +
          `(git rebase -i), or ask the operator for a higher limit.`,
      )
    }
    if (kind === 'tree') await checkEntries(incoming, oid, path, allowsDeviceNames)
    if (kind !== 'commit') continue
    checkDates(oid, await readBytes(incoming, oid, 'commit'))
    commits.push(oid)
  }
  return commits
}

async function checkEntries(
  incoming: ObjectReader,
  tree: Oid,
  path: string,
  allowsDeviceNames: boolean,
): Promise<void> {
  for (const { mode, name } of await readTree(incoming, tree)) {
    if (!allowsDeviceNames && isDeviceName(name)) {
      throw new RefRefused(
        'device name',
        `${path === '' ? name : `${path}/${name}`} has the name of a device of Windows, where nobody could check it out. Give it another ` +
          `name, in the commit that brings it (git mv).`,
      )
    }
    const what = mode === '120000' ? 'symbolic link' : mode === '160000' ? 'submodule' : undefined
    if (what === undefined) continue
    throw new RefRefused(
      what,
      `${path === '' ? name : `${path}/${name}`} is a ${what}, which an artifact cannot hold. Put the file itself ` +
        `there, in the commit that brings it (git rebase -i).`,
    )
  }
}

function checkDates(oid: Oid, commit: Buffer): void {
  const problem = dateProblem(commit)
  if (problem === undefined) return
  throw new RefRefused(
    'date out of range',
    `Commit ${oid} ${problem}. Give it a date from 1970 to 9999 (git rebase -i and git commit --amend --reset-author), and push again.`,
  )
}
