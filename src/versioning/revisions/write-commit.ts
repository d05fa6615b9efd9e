import { createHash } from 'node:crypto'
import { type Commit, encodeCommit, type Ident, type Oid } from '../../git/objects/object.ts'
import { signCommit } from '../../git/signing/commit-signature.ts'
import type { SigningKey } from '../../git/signing/signing-key.ts'
import type { ObjectSink } from '../family/tree-files.ts'
import type { WriteContext } from '../write-context.ts'

/** What our trailers say about a commit: hints about its origin (interface 15.4), never a reason to refuse. */
export interface Trailers {
  /** The variant it was committed to. */
  readonly variant?: string
  /** The revision slug its committer chose. */
  readonly slug?: string
  /** The environments it was committed and deployed to in one write. */
  readonly deploy?: string
  /** A deployment: the key, what it held before, and what it holds now. */
  readonly deployKey?: string
  readonly deployFrom?: string
  readonly deployTo?: string
  readonly idempotencyKey?: string
  /** The hash of a subject that we made; see `decodeMessage`. */
  readonly generatedSubject?: string
}

export interface CommitMessage {
  /** As the client gave it; undefined if it gave none. */
  readonly message: string | undefined
  /** What `git log --format=%s` shows: of the message, or made where there is none. */
  readonly subject: string
  readonly trailers: Trailers
}

/** What a new commit is to say. */
interface NewMessage {
  readonly message: string | undefined
  /** One line that stands where there is no message, and is told from one. */
  readonly subject?: string | undefined
  readonly trailers?: Trailers
}

/** The registry that a commit is made in: its clock, and the service's key, where it has one. */
interface Clerk {
  readonly now: () => Date
  readonly signing: { readonly key: SigningKey | undefined }
}

/** What a new commit says, beside who makes it and when. */
type Said = Pick<Commit, 'tree' | 'parents'> & NewMessage & { readonly author?: Ident | undefined }

/**
 * Writes a commit by the actor, in UTC, with the write's key among its trailers. Every commit of a registry is made here, and so is
 * every signature: with the service's key whoever the author is, where the service has one. `author` is who wrote what is in it, where
 * that is somebody else.
 */
export function writeCommit(
  { signing, now }: Clerk,
  sink: ObjectSink,
  { tree, parents, author, message, subject, trailers }: Said,
  { actor, idempotencyKey }: WriteContext,
): { readonly oid: Oid; readonly commit: Commit } {
  const seconds = Math.floor(now().getTime() / 1000)
  const committer = { name: actor.name, email: actor.email, seconds, timezone: '+0000' }
  const unsigned: Commit = {
    tree,
    parents,
    author: author ?? committer,
    committer,
    message: encodeMessage({
      message,
      subject,
      trailers: { ...trailers, ...(idempotencyKey === undefined ? {} : { idempotencyKey }) },
    }),
  }
  const commit = signing.key ? signCommit(unsigned, signing.key) : unsigned
  return { oid: sink.write('commit', encodeCommit(commit)), commit }
}

const KEYS = {
  variant: 'Variant',
  slug: 'Slug',
  deploy: 'Deploy',
  deployKey: 'Deploy-Key',
  deployFrom: 'Deploy-From',
  deployTo: 'Deploy-To',
  idempotencyKey: 'Idempotency-Key',
  generatedSubject: 'Generated-Subject',
} as const
const OURS =
  /^(?:(?:Variant|Slug|Deploy|Deploy-Key|Deploy-From|Deploy-To|Idempotency-Key): |Generated-Subject: [0-9a-f]{8}\n?$)/
const TRAILER = /^[A-Za-z0-9-]+: /

/**
 * The text of a commit: the client's message exactly, then our trailers as its last lines. They join a block of trailers
 * that the message ends with (`Signed-off-by: …`), except where the message's own end could be taken for ours.
 */
export function encodeMessage({ message, subject, trailers = {} }: NewMessage): string {
  if (message === undefined && subject !== undefined)
    return encodeMessage({
      message: subject,
      trailers: { ...trailers, generatedSubject: hashOfSubject(subject) },
    })
  const lines = Object.entries(KEYS)
    .flatMap(([key, word]) => {
      const value = trailers[key as keyof Trailers]
      return value === undefined ? [] : [`${word}: ${value}\n`]
    })
    .join('')
  if (message === undefined) return lines
  if (lines === '') return `${message}\n`
  return endsInForeignTrailers(message) ? `${message}\n${lines}` : `${message}\n\n${lines}`
}

/**
 * The inverse; also reads what plain git wrote, where the message's final newline is git's. A subject that we made is no message as long
 * as its trailer fits it: who amends it has written one.
 */
export function decodeMessage(text: string): CommitMessage {
  const { message, trailers } = takeApart(text)
  const subject = subjectIn(text)
  const isMade =
    message !== undefined &&
    trailers.generatedSubject !== undefined &&
    trailers.generatedSubject === hashOfSubject(message)
  return { message: isMade ? undefined : message, subject, trailers }
}

/** The lines up to the first blank one, as one: what git shows of a message where there is room for a line. */
export function subjectIn(text: string): string {
  const lines: string[] = []
  for (let start = 0; start < text.length;) {
    const feed = text.indexOf('\n', start)
    const end = feed < 0 ? text.length : feed
    let last = end
    while (last > start && BLANK.has(text.charAt(last - 1))) last--
    if (last > start) lines.push(text.slice(start, last))
    else if (lines.length > 0) break
    start = end + 1
  }
  return lines.join(' ')
}

/** What git counts as blank. */
const BLANK = new Set([' ', '\t', '\r', '\n'])

function hashOfSubject(subject: string): string {
  return createHash('sha256').update(subject).digest('hex').slice(0, 8)
}

function takeApart(text: string): Omit<CommitMessage, 'subject'> {
  const start = startOfOwnLines(text)
  const trailers: Record<string, string> = {}
  for (const line of text.slice(start).split('\n')) {
    const key = Object.entries(KEYS).find(([, word]) => line.startsWith(`${word}: `))
    if (key) trailers[key[0]] = line.slice(key[1].length + 2)
  }
  if (start === 0) return { message: undefined, trailers }
  if (start === text.length) {
    const message = text.endsWith('\n') ? text.slice(0, -1) : text
    return { message: message === '' ? undefined : message, trailers }
  }
  const blank = text.slice(start - 2, start) === '\n\n' ? 2 : 1
  return { message: text.slice(0, start - blank), trailers }
}

/** Whether the message's last paragraph is trailers (git-interpret-trailers(1)) that ours may join without doubt. */
function endsInForeignTrailers(message: string): boolean {
  const paragraph = message.lastIndexOf('\n\n')
  if (paragraph < 0) return false
  const lines = message.slice(paragraph + 2).split('\n')
  return lines.every((line) => TRAILER.test(line)) && !OURS.test(lines.at(-1) ?? '')
}

/** Where the run of our own lines at the end of the text begins; its length if there is none. */
function startOfOwnLines(text: string): number {
  let start = text.length
  while (start > 0 && text[start - 1] === '\n') {
    const line = text.lastIndexOf('\n', start - 2) + 1
    if (!OURS.test(text.slice(line, start))) break
    start = line
  }
  return start
}
