import { invalid } from '../../errors.ts'
import type { ObjectHeader } from './headers.ts'
import { parseHeaders, requiredOid } from './headers.ts'
import type { Ident } from './ident.ts'
import { encodeIdent, parseIdent } from './ident.ts'
import type { Oid } from './object.ts'

/** What a commit object says. */
export interface Commit {
  readonly tree: Oid
  readonly parents: readonly Oid[]
  readonly author: Ident
  readonly committer: Ident
  /** Everything after the headers, exactly: git's own messages end with a newline. */
  readonly message: string
  /** Headers after the committer in their order (encoding, gpgsig, mergetag …); absent when there are none. */
  readonly headers?: readonly ObjectHeader[]
}

/**
 * The bytes of a commit object. Nothing is cleaned up in silence: a name, email or message that `git fsck --strict`
 * would complain about is refused (`invalid_request`, naming the part).
 */
export function encodeCommit({ tree, parents, author, committer, message, headers = [] }: Commit): Buffer {
  if (/\0|\p{Surrogate}/u.test(message)) {
    throw invalid(['message'], 'a commit message cannot hold NUL or half a surrogate pair; leave it out.')
  }
  const lines = [
    `tree ${tree}`,
    ...parents.map((parent) => `parent ${parent}`),
    `author ${encodeIdent('author', author)}`,
    `committer ${encodeIdent('committer', committer)}`,
    ...headers.map(({ key, value }) => `${key} ${value.replaceAll('\n', '\n ')}`),
  ]
  return Buffer.from(`${lines.join('\n')}\n\n${message}`)
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
 * The first parent that a commit object names, undefined for a root. All a walk through a long history needs of each
 * commit, at a tenth of what `parseCommit` costs. The bytes must be a sound commit's, as `ObjectDatabase` answers them.
 */
export function firstParent(commit: Buffer): Oid | undefined {
  // Next is "parent" or "author". Not cut out of its line, or whoever keeps the id would keep all of that.
  if (commit[PARENT_LINE] !== P) return undefined
  return commit.toString('latin1', PARENT_LINE + KEY, PARENT_LINE + KEY + 40)
}

/** The first line has a fixed length: "tree <40 digits>\n". */
const PARENT_LINE = 46
const KEY = 'parent '.length
const P = 0x70
