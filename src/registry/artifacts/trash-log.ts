import { z } from 'zod'
import { documentsOf, JsonRecordFile } from '../../storage/files.ts'
import type { Registry } from '../store/registry.ts'

/** That an artifact was moved to the trash or back, when and by which key. */
export type TrashAct = Readonly<z.infer<typeof trashAct>>

const trashAct = z.strictObject({
  action: z.enum(['trashed', 'undeleted']),
  family: z.string(),
  id: z.string(),
  slug: z.string(),
  date: z.iso.datetime(),
  by: z.string(),
})

const trashLog = new JsonRecordFile({
  schema: z.strictObject({ format: z.literal(1), acts: z.array(trashAct).readonly() }),
  damage: (path, why) =>
    `${path} is not a log of the trash: ${why}. Remove it: only who trashed and undeleted what is lost.`,
})

/** The oldest beyond these are forgotten. */
const MOST_ACTS = 1000

/** The last moves to and from the project's trash, the oldest first. */
export function trashActs({ store }: Registry): readonly TrashAct[] {
  return trashLog.read(store.fs, pathOf(store))?.acts ?? []
}

/** Adds a move. It has happened, so that a log that cannot be written does not fail the request. */
export async function noteTrashAct({ store }: Registry, act: TrashAct): Promise<void> {
  await trashLog
    .update(documentsOf(store.fs), pathOf(store), (before) => ({
      record: { format: 1, acts: [...(before?.acts ?? []), act].slice(-MOST_ACTS) },
      answer: undefined,
    }))
    .catch(() => undefined)
}

function pathOf({ folder }: Registry['store']): string {
  return `${folder}/trash-log.json`
}
