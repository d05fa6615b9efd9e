import type { SharedDocuments } from '../../documents/shared-documents.ts'
import type { Fs } from '../../../storage/files.ts'
import { TRASH_FOLDER } from '../../../git/trash.ts'
import type { PackCache } from '../../../git/packs.ts'
import type { OwnMoves } from '../own-moves.ts'
import type { SharedLog } from '../shared-log.ts'

/** A server's local copy of a shared log, and what is needed to change it. */
export interface Copy {
  /** The plain file system, without the guard of the store. */
  readonly fs: Fs
  readonly dir: string
  readonly log: SharedLog
  /** Open packs of the copy. */
  readonly packs: PackCache
  readonly own: OwnMoves
  /** Keys, secrets and other documents outside the repositories. */
  readonly documents: SharedDocuments
  /** Resolves when every decision of this server is in the folder, or could not be placed there. */
  readonly untilPlaced: () => Promise<void>
}

/** The folders of a repository: outside the trash, and in it. */
export function foldersOf(
  { dir }: Pick<Copy, 'dir'>,
  repository: string,
): { readonly live: string; readonly trashed: string } {
  const [project = '', family = '', name = ''] = repository.split('/')
  return { live: `${dir}/${repository}`, trashed: `${dir}/${project}/${TRASH_FOLDER}/${family}/${name}` }
}

/** The path of a repository in the copy; undefined if it is absent. */
export function placeOf(copy: Pick<Copy, 'fs' | 'dir'>, repository: string): string | undefined {
  const { live, trashed } = foldersOf(copy, repository)
  return [live, trashed].find((place) => copy.fs.stat(`${place}/HEAD`) !== undefined)
}
