import { invalid, Refusal } from '../../errors.ts'
import type { Oid } from './object.ts'

/** The five modes git gives to an entry of a tree, as a tree object spells them. */
export type TreeMode = '100644' | '100755' | '120000' | '40000' | '160000'

/** One name in a tree. */
export interface TreeEntry {
  readonly mode: TreeMode
  readonly name: string
  readonly oid: Oid
  /** The name's bytes, where they are not UTF-8 and `name` only approximates them. */
  readonly rawName?: Buffer
}

/**
 * The bytes of a tree object with these entries, in any order. Refuses names that git refuses (`git fsck --strict`):
 * empty, `.`, `..`, whatever a file system may take for `.git`, names with `/` or NUL, and a name given twice.
 */
export function encodeTree(entries: readonly TreeEntry[]): Buffer {
  const names = new Set<string>()
  const rows = entries.map((entry) => {
    const name = entry.rawName ?? Buffer.from(entry.name)
    refuseBadName(entry)
    const identity = name.toString('latin1')
    if (names.has(identity)) throw invalid(['tree', entry.name], 'this name is given twice in one folder.')
    names.add(identity)
    return { entry, name, key: entry.mode === '40000' ? Buffer.concat([name, SLASH]) : name }
  })
  rows.sort((a, b) => Buffer.compare(a.key, b.key))
  return Buffer.concat(
    rows.flatMap(({ entry, name }) => [
      Buffer.from(`${entry.mode} `),
      name,
      NUL,
      Buffer.from(entry.oid, 'hex'),
    ]),
  )
}

/**
 * Reads a tree object. Modes come back as git understands them (old and odd file modes are 100644 or 100755). Bytes that
 * are no tree are refused (`damaged_repository`).
 */
export function parseTree(bytes: Buffer): readonly TreeEntry[] {
  const entries: TreeEntry[] = []
  for (let at = 0; at < bytes.length;) {
    const space = bytes.indexOf(0x20, at)
    const end = space < 0 ? -1 : bytes.indexOf(0, space)
    const mode = canonicalMode(Number.parseInt(bytes.toString('latin1', at, Math.max(space, at)), 8))
    if (end < 0 || end + 21 > bytes.length || !mode) {
      throw new Refusal(
        'damaged_repository',
        'A tree object is cut short or holds an entry without a mode; run git fsck in the repository to find it.',
      )
    }
    const name = bytes.toString('utf8', space + 1, end)
    const oid = bytes.toString('hex', end + 1, end + 21)
    const raw = name.includes('\ufffd') ? bytes.subarray(space + 1, end) : undefined
    entries.push(
      raw && !raw.equals(Buffer.from(name)) ? { mode, name, oid, rawName: raw } : { mode, name, oid },
    )
    at = end + 21
  }
  return entries
}

const SLASH = Buffer.from('/')
const NUL = Buffer.from([0])

function refuseBadName({ name }: TreeEntry): void {
  if (name === '' || name === '.' || name === '..' || /[/\0]/.test(name) || mayBeDotGit(name)) {
    throw invalid(
      ['tree', name],
      `${JSON.stringify(name)} cannot be the name of a file in git; choose another.`,
    )
  }
}

/**
 * Names that some file system opens as `.git`: another case, ignored code points (HFS+), trailing dots and spaces, a
 * stream name after a colon, a path after a backslash, or the short name `git~1` (NTFS).
 */
function mayBeDotGit(name: string): boolean {
  const visible = name.replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, '')
  return /^(\.git|git~1)[. ]*([:\\].*)?$/is.test(visible)
}

function canonicalMode(mode: number): TreeMode | undefined {
  switch (mode & 0o170000) {
    case 0o100000:
      return mode & 0o100 ? '100755' : '100644'
    case 0o120000:
      return '120000'
    case 0o040000:
      return '40000'
    case 0o160000:
      return '160000'
    default:
      return undefined
  }
}
