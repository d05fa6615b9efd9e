import { createHash } from 'node:crypto'
import { CACHE_ENTRY } from '../../base/recently-used.ts'
import { Refusal, invalid } from '../../errors.ts'

/** A git object id: 40 lower-case hex digits, the SHA-1 of the object with its header. */
export type Oid = string

/** The four kinds of object git has (gitformat-pack: the pack types 1 to 4, in this order). */
export const objectKinds = ['commit', 'tree', 'blob', 'tag'] as const

export type ObjectKind = (typeof objectKinds)[number]

/** An object as it is addressed: its kind and its bytes without header. The bytes may be shared: never change them. */
export interface GitObject {
  readonly kind: ObjectKind
  readonly bytes: Buffer
}

/** Roughly the number of bytes that an object takes in a cache. */
export function heldBytes({ bytes }: GitObject): number {
  return bytes.length + CACHE_ENTRY
}

/** The id git gives to these bytes: SHA-1 over `<kind> <size>\0<bytes>`. */
export function hashObject(kind: ObjectKind, bytes: Uint8Array): Oid {
  return createHash('sha1').update(`${kind} ${bytes.length}\0`).update(bytes).digest('hex')
}

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
  // The string has one character for each byte. Git sorts by the name, and adds a slash to the name of a folder.
  const rows = new Map<string, string>()
  for (const { mode, name, oid, rawName = Buffer.from(name) } of entries) {
    if (isRefusedName(name)) throw badFileName(name)
    const bytes = rawName.toString('latin1')
    if (rows.has(bytes) || rows.has(`${bytes}/`))
      throw invalid(['tree', name], 'this name is given twice in one folder.')
    const row = `${mode} ${bytes}\0${Buffer.from(oid, 'hex').toString('latin1')}`
    rows.set(mode === '40000' ? `${bytes}/` : bytes, row)
  }
  let tree = ''
  for (const key of [...rows.keys()].sort()) tree += rows.get(key)
  return Buffer.from(tree, 'latin1')
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
    const spelled = bytes.toString('latin1', at, Math.max(space, at))
    const mode = MODES.get(spelled) ?? canonicalMode(spelled)
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

/**
 * Whether git refuses the name. Some file systems open other names as `.git`, too: in another case, with code points that they ignore
 * (HFS+), with trailing dots and spaces, a stream name after a colon, a path after a backslash, or as the short name `git~1` (NTFS).
 */
function isRefusedName(name: string): boolean {
  if (/^\.{0,2}$|[/\0]/.test(name)) return true
  const visible = name.replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, '')
  return /^(\.git|git~1)[. ]*([:\\].*)?$/is.test(visible)
}

function badFileName(name: string): Refusal {
  return invalid(
    ['tree', name],
    `${JSON.stringify(name)} cannot be the name of a file in git; choose another.`,
  )
}

/** The modes that git writes. */
const MODES = new Map<string, TreeMode>(
  (['100644', '100755', '120000', '40000', '160000'] as const).map((mode) => [mode, mode]),
)

/** A mode that is written in another way, with a leading zero or more permissions than git has. */
function canonicalMode(text: string): TreeMode | undefined {
  const mode = Number.parseInt(text, 8)
  const type = mode & 0o170000
  if (type === 0o100000) return mode & 0o100 ? '100755' : '100644'
  return MODES.get(type.toString(8))
}

/** What a commit object says. */
export interface Commit {
  readonly tree: Oid
  readonly parents: readonly Oid[]
  readonly author: Ident
  readonly committer: Ident
  /** Everything after the headers, unchanged: git's own messages end with a newline. */
  readonly message: string
  /** Headers after the committer in their order (encoding, gpgsig, mergetag …); absent when there are none. */
  readonly headers?: readonly ObjectHeader[]
}

/**
 * The bytes of a commit object. Nothing is cleaned up in silence: a name, email or message that `git fsck --strict`
 * would complain about is refused (`invalid_request`, naming the part).
 */
export function encodeCommit({ tree, parents, author, committer, message, headers = [] }: Commit): Buffer {
  if (/\0|\p{Surrogate}/u.test(message))
    throw invalid(['message'], 'a commit message cannot hold NUL or half a surrogate pair; leave it out.')
  let text = `tree ${tree}\n`
  for (const parent of parents) text += `parent ${parent}\n`
  text += `author ${encodeIdent('author', author)}\n`
  text += `committer ${encodeIdent('committer', committer)}\n`
  for (const { key, value } of headers) text += `${key} ${value.replaceAll('\n', '\n ')}\n`
  return Buffer.from(`${text}\n${message}`)
}

/**
 * Reads a commit object and accepts whatever git accepts: odd or missing author lines, signatures over many lines, no
 * message. Only a commit without its tree line is refused (`damaged_repository`).
 */
export function parseCommit(bytes: Buffer): Commit {
  const { headers, message } = parseHeaders(bytes)
  const tree = requiredOid(headers, 0, 'tree')
  let next = 1
  const parents: Oid[] = []
  while (headers[next]?.key === 'parent') parents.push(requiredOid(headers, next++, 'parent'))
  const authorLine = headers[next]?.key === 'author' ? headers[next++]?.value : undefined
  const committerLine = headers[next]?.key === 'committer' ? headers[next++]?.value : authorLine
  const author = parseIdent(authorLine ?? '')
  const committer = committerLine === authorLine ? author : parseIdent(committerLine ?? '')
  const commit = { tree, parents, author, committer, message }
  return next < headers.length ? { ...commit, headers: headers.slice(next) } : commit
}

/**
 * The first parent in the bytes of a commit object; undefined for a root. A walk through a long history needs nothing else of a commit, and this
 * takes a tenth of the time of `parseCommit`. The bytes must be a valid commit, as `ObjectDatabase` answers them.
 */
export function firstParent(commit: Buffer): Oid | undefined {
  // The next line begins with "parent" or "author". The id is copied, because a slice would keep the whole line's buffer in memory.
  if (commit[PARENT_LINE] !== P) return undefined
  return commit.toString('latin1', PARENT_LINE + KEY, PARENT_LINE + KEY + 40)
}

/** The first line has a fixed length: "tree <40 digits>\n". */
const PARENT_LINE = 46
const KEY = 'parent '.length
const P = 0x70

/** What an annotated tag object says. */
export interface Tag {
  readonly object: Oid
  /** The kind of `object`. A tag may name another tag: follow the tags until it is another kind. */
  readonly kind: ObjectKind
  readonly tag: string
  /** Missing in tags that very old git made. */
  readonly tagger?: Ident
  readonly message: string
}

/** Reads an annotated tag; refused (`damaged_repository`) only if it names no object. */
export function parseTag(bytes: Buffer): Tag {
  const { headers, message } = parseHeaders(bytes)
  const object = requiredOid(headers, 0, 'object')
  const value = (key: string) => headers.find((header) => header.key === key)?.value
  const kind = value('type')
  const tagger = value('tagger')
  return {
    object,
    kind: kind === 'tree' || kind === 'blob' || kind === 'tag' ? kind : 'commit',
    tag: value('tag') ?? '',
    ...(tagger === undefined ? {} : { tagger: parseIdent(tagger) }),
    message,
  }
}

/** Who and when, as a commit or tag carries it: `Name <email> <seconds since 1970> <+hhmm>`. */
export interface Ident {
  readonly name: string
  readonly email: string
  /** In a signature that was read, never later than `LATEST_SECONDS`. */
  readonly seconds: number
  /** Offset from UTC as git writes it, `+0000`; it changes how the time is shown, never which time it is. */
  readonly timezone: string
}

/** The last second of the year 9999, in seconds since 1970: no date of RFC 3339 is later. */
export const LATEST_SECONDS = 253_402_300_799

/**
 * Reads a signature as forgivingly as git does: the name ends at the first `<`, the email at the first `>` after it, the
 * time stands after the last `>`. What is missing or odd comes back empty, 0 or `+0000`; a time after 9999 as the last one in it: plain
 * git stores any number, and one such commit must not end a list of others.
 */
export function parseIdent(line: string): Ident {
  const open = line.indexOf('<')
  if (open < 0) return { name: line.trim(), email: '', seconds: 0, timezone: '+0000' }
  const close = line.indexOf('>', open)
  const email = line.slice(open + 1, close < 0 ? undefined : close).trim()
  const when = /^ *(\d+)(?: +([+-]\d{4}))?/.exec(line.slice(line.lastIndexOf('>') + 1))
  const seconds = Math.min(Number(when?.[1] ?? 0), LATEST_SECONDS)
  return { name: line.slice(0, open).trim(), email, seconds, timezone: when?.[2] ?? '+0000' }
}

/**
 * Writes a signature for the header named `role` (author, committer). Refuses what `git fsck --strict` would complain
 * about instead of changing it.
 */
export function encodeIdent(role: string, ident: Ident): string {
  const { name, email, seconds, timezone } = ident
  const line = `${name} <${email}> ${seconds} ${timezone}`
  if (!IDENT.test(line) || seconds > LATEST_SECONDS) throw badIdent(role, ident)
  return line
}

const IDENT = /^[^<>\n\0\p{Surrogate}]* <[^<>\n\0\p{Surrogate}]*> \d+ [+-]\d{4}$/u
const NOT_IN_IDENT = /[<>\n\0]|\p{Surrogate}/u

/** What is wrong with a signature that git would complain about. */
function badIdent(role: string, { name, email, seconds, timezone }: Ident): Refusal {
  if (NOT_IN_IDENT.test(name)) return badPart([role, 'name'], name)
  if (NOT_IN_IDENT.test(email)) return badPart([role, 'email'], email)
  if (!Number.isSafeInteger(seconds) || seconds < 0 || seconds > LATEST_SECONDS)
    return invalid([role, 'seconds'], `${seconds} is not a whole number of seconds from 1970 to 9999.`)
  return invalid([role, 'timezone'], `"${timezone}" is not an offset like +0000.`)
}

function badPart(loc: readonly string[], text: string): Refusal {
  return invalid(
    loc,
    `${JSON.stringify(text)} cannot stand in a git signature; leave out <, >, line breaks and NUL.`,
  )
}

/**
 * The problem with the dates of author and committer in the bytes of a commit; undefined if both are from 1970 to 9999. `git fsck --strict`
 * accepts any number of seconds.
 */
export function dateProblem(commit: Buffer): string | undefined {
  const { headers } = parseHeaders(commit)
  for (const role of ['author', 'committer']) {
    const line = headers.find(({ key }) => key === role)?.value
    if (line === undefined) return `has no ${role}`
    const seconds = /> (\d+)(?: |$)/.exec(line)?.[1]
    if (seconds === undefined) return `has no date of its ${role}`
    if (Number(seconds) > LATEST_SECONDS)
      return `says that its ${role} date is ${seconds.slice(0, 40)} seconds after 1970, which no calendar has`
  }
  return undefined
}

/** One header of a commit or tag; a value of several lines (a signature, a merged tag) holds newlines. */
export interface ObjectHeader {
  readonly key: string
  readonly value: string
}

/**
 * Takes a commit or tag apart: header lines up to the first empty line, the message after it. A line that starts with a
 * space continues the header before it. A missing empty line means an empty message, as it does to git. Text is read as
 * UTF-8 whatever an `encoding` header says.
 */
export function parseHeaders(bytes: Buffer): { headers: readonly ObjectHeader[]; message: string } {
  const text = bytes.toString()
  const end = text.startsWith('\n') ? 0 : text.indexOf('\n\n') + 1 || text.length
  const headers: ObjectHeader[] = []
  for (const line of text.slice(0, end).split('\n')) {
    const last = headers.at(-1)
    if (line.startsWith(' ') && last) {
      headers[headers.length - 1] = { key: last.key, value: `${last.value}\n${line.slice(1)}` }
    } else if (line !== '') {
      const space = line.indexOf(' ')
      const key = space < 0 ? line : line.slice(0, space)
      headers.push({ key, value: line.slice(key.length + 1) })
    }
  }
  return { headers, message: text.slice(end + 1) }
}

/** The object id in header number `index`. Without it, git could not read the object either. */
export function requiredOid(headers: readonly ObjectHeader[], index: number, key: string): string {
  const header = headers[index]
  if (header?.key === key && /^[0-9a-f]{40}$/.test(header.value)) return header.value
  throw new Refusal(
    'damaged_repository',
    `A commit or tag lacks its "${key}" line where git puts it; run git fsck in the repository to find it.`,
  )
}
