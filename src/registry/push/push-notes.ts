import { z } from 'zod'
import { Refusal } from '../../errors.ts'
import { Pace, TimeSlice } from '../../base/scheduling.ts'
import { parseCommit, type Oid } from '../../git/objects.ts'
import type { Repository } from '../../git/store.ts'
import type { Transaction } from '../../git/transactions.ts'
import { readBytes } from '../payload/tree-files.ts'
import { changeNotes, NoteReader } from './note-tree.ts'
import type { Registry } from '../store/registry.ts'
import { writeCommit } from '../revisions/stored-revision.ts'
import type { WriteContext } from '../store/write-context.ts'

/** The ref that records who pushed which commit; `git log --notes=pushes` shows it. */
export const PUSHES_REF = 'refs/notes/pushes'

/** The pusher in a note. */
export type Pusher = Readonly<z.infer<typeof pusher>>

/** How a commit arrived from outside. */
export type Arrival = Readonly<z.infer<typeof arrival>>

const pusher = z.object({ id: z.string(), kind: z.string(), name: z.string() })
const arrival = z.object({ principal: pusher, time: z.iso.datetime(), door: z.literal('git') })

/** Records in a transaction who pushed these commits. The first note on a commit stays, also one that a person wrote with git. */
export async function noteArrivals(
  registry: Registry,
  commits: readonly Oid[],
  principal: Pusher,
  context: WriteContext,
  transaction: Transaction,
): Promise<void> {
  if (commits.length === 0) return
  const parent = transaction.ref(PUSHES_REF)
  const root = parent && parseCommit(await readBytes(transaction, parent, 'commit')).tree
  const now = registry.now()
  const record = { principal, time: now.toISOString(), door: 'git' } satisfies Arrival
  const note = transaction.write('blob', Buffer.from(`${JSON.stringify(record)}\n`))
  const tree = await changeNotes(transaction, root, commits, (before) => before ?? note, true)
  if (tree === root) return
  const subject = `Push ${commits.length} ${commits.length === 1 ? 'commit' : 'commits'}`
  const { oid } = writeCommit(
    registry,
    transaction,
    { tree, parents: parent === undefined ? [] : [parent], message: subject },
    context,
  )
  transaction.move(PUSHES_REF, oid)
}

/** The arrivals of those commits that have a note. A damaged note counts as missing. */
export async function arrivalsOf(
  repository: Repository,
  commits: readonly Oid[],
): Promise<ReadonlyMap<Oid, Arrival>> {
  const arrivals = new Map<Oid, Arrival>()
  const head = repository.refs.current(PUSHES_REF)
  if (head === undefined) return arrivals
  const { objects } = repository
  /** By note: all commits of a push share one. */
  const read = new Map<Oid, Arrival | undefined>()
  try {
    const notes = new NoteReader(objects, parseCommit(await readBytes(objects, head, 'commit')).tree)
    const [slice, pace] = [new TimeSlice(), new Pace()]
    for (const commit of commits) {
      if (pace.isDue) await slice.pause()
      const note = await notes.find(commit)
      if (note === undefined) continue
      if (!read.has(note)) read.set(note, arrivalIn(await readBytes(objects, note, 'blob')))
      const found = read.get(note)
      if (found) arrivals.set(commit, found)
    }
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'damaged_repository') throw error
  }
  return arrivals
}

/** Undefined for a note in another format. */
function arrivalIn(note: Buffer): Arrival | undefined {
  if (note.length > LONGEST_NOTE) return undefined
  try {
    return arrival.safeParse(JSON.parse(note.toString('utf8'))).data
  } catch {
    return undefined
  }
}

/** Maximum bytes of a note. */
const LONGEST_NOTE = 64 * 1024
