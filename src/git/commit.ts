import { invalid } from '../errors.ts'
import type { Oid } from './object.ts'
import { parseHeaders, requiredOid, type ObjectHeader } from './parse-headers.ts'
import { encodeSignature, parseSignature, type Signature } from './signature.ts'

/** What a commit object says. */
export interface Commit {
  readonly tree: Oid
  readonly parents: readonly Oid[]
  readonly author: Signature
  readonly committer: Signature
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
    `author ${encodeSignature('author', author)}`,
    `committer ${encodeSignature('committer', committer)}`,
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
  const author = parseSignature(authorLine ?? '')
  const committer = committerLine === authorLine ? author : parseSignature(committerLine ?? '')
  const commit = { tree, parents, author, committer, message }
  return next < headers.length ? { ...commit, headers: headers.slice(next) } : commit
}
