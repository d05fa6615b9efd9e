import type { SharedDocuments } from '../../../storage/documents/shared-documents.ts'
import type { Fs } from '../../../storage/fs.ts'
import { TRASH_FOLDER } from '../../trash/folder-move.ts'
import type { PackCache } from '../../packs/pack-cache.ts'
import type { OwnMoves } from '../own-moves.ts'
import type { SharedLog } from '../shared-log.ts'

/** The folder of a server that follows a log, and what is done to it. */
export interface Copy {
  /** Not guarded. */
  readonly fs: Fs
  readonly dir: string
  readonly log: SharedLog
  /** What is open of its packs. */
  readonly packs: PackCache
  readonly own: OwnMoves
  /** What lies outside its repositories. */
  readonly documents: SharedDocuments
  /** Resolves once what this server has decided by now is in the folder, or has failed to get there. */
  readonly untilPlaced: () => Promise<void>
}

/** Where a repository is when it is not in the trash, and where when it is. */
export function foldersOf(
  { dir }: Pick<Copy, 'dir'>,
  repository: string,
): { readonly live: string; readonly trashed: string } {
  const [project = '', family = '', name = ''] = repository.split('/')
  return { live: `${dir}/${repository}`, trashed: `${dir}/${project}/${TRASH_FOLDER}/${family}/${name}` }
}

/** Where a repository is in the folder; undefined if it is not there. */
export function placeOf(copy: Pick<Copy, 'fs' | 'dir'>, repository: string): string | undefined {
  const { live, trashed } = foldersOf(copy, repository)
  return [live, trashed].find((place) => copy.fs.stat(`${place}/HEAD`) !== undefined)
}
