import { parseCommit } from '../../../git/objects/commit.ts'
import type { Oid } from '../../../git/objects/object.ts'
import { decodeMessage } from '../../revisions/commit-message.ts'
import type { ObjectReader } from '../../family/tree-files.ts'
import { readBytes } from '../../family/tree-files.ts'

/** What a commit alone says about its revision, without a look at its tree: as true for ever as the commit. */
export interface CommitFacts {
  readonly oid: Oid
  /** The first parent; undefined for a root. */
  readonly parent: Oid | undefined
  /** When it was committed, in seconds since 1970. */
  readonly seconds: number
  /** `Name <email>`. */
  readonly author: string
  /** The message as the client gave it, in lower case: what filters look into. Null if it is too long to be kept here. */
  readonly text: string | undefined | null
}

/** A message of more characters is not kept: nothing else bounds them, and the commit has it. */
const LONG_TEXT = 1000

/** Reads the commit. Refuses with `damaged_repository` if that cannot be done. */
export async function readFacts(source: ObjectReader, oid: Oid): Promise<CommitFacts> {
  const { author, committer, message, parents } = parseCommit(await readBytes(source, oid, 'commit'))
  return {
    oid,
    parent: parents[0] && ownCopy(parents[0]),
    seconds: committer.seconds,
    author: sharedAuthor(`${author.name} <${author.email}>`),
    text: textOf(decodeMessage(message).message),
  }
}

function textOf(message: string | undefined): CommitFacts['text'] {
  if (message === undefined) return undefined
  return message.length > LONG_TEXT ? null : ownCopy(message.toLowerCase())
}

/** One text for all commits of an author: there are few authors, and a commit's own copy would be a sixth of what is kept of it. */
function sharedAuthor(author: string): string {
  const known = authors.get(author)
  if (known !== undefined) return known
  const own = ownCopy(author)
  if (authors.size < MOST_AUTHORS && own.length <= LONG_AUTHOR) authors.set(own, own)
  return own
}

const authors = new Map<string, string>()
const MOST_AUTHORS = 1000
const LONG_AUTHOR = 200

/** The text in memory of its own: a part of a string keeps all of it, here the whole commit. */
function ownCopy(text: string): string {
  return Buffer.from(text).toString()
}
