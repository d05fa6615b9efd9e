import { parseCommit } from '../../../git/objects/commit.ts'
import type { Oid } from '../../../git/objects/object.ts'
import type { ObjectReader } from '../../family/tree-files.ts'
import { readBytes } from '../../family/tree-files.ts'
import { decodeMessage } from '../../revisions/commit-message.ts'

/** What a commit alone says about its revision, without a look at its tree: as true for ever as the commit. */
export interface CommitFacts {
  readonly oid: Oid
  /** The first parent; undefined for a root. */
  readonly parent: Oid | undefined
  /** When it was committed, in seconds since 1970. */
  readonly seconds: number
  /** `Name <email>`. */
  readonly author: string
  /** The message as the client gave it, in lower case: what filters look into. Null if it is too long to be kept. */
  readonly text: string | undefined | null
}

/** A message of more characters is not kept: nothing else bounds them, and the commit has it. */
const LONG_TEXT = 1000

/** Reads the commit. Refuses with `damaged_repository` if that cannot be done. */
export async function readFacts(source: ObjectReader, oid: Oid): Promise<CommitFacts> {
  const { author, committer, message, parents } = parseCommit(await readBytes(source, oid, 'commit'))
  return {
    oid,
    parent: parents[0],
    seconds: committer.seconds,
    author: `${author.name} <${author.email}>`,
    text: textOf(decodeMessage(message).message),
  }
}

function textOf(message: string | undefined): CommitFacts['text'] {
  if (message === undefined) return undefined
  return message.length > LONG_TEXT ? null : message.toLowerCase()
}
