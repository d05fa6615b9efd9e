import type { Fs } from '../../../storage/fs.ts'
import { thisProcess } from '../../../storage/process-identity.ts'
import { COPY_FOLDER } from '../../refuse-copy.ts'
import type { Positions, StreamPosition } from '../shared-log.ts'

/** How far a folder follows a log: everything up to there is in it, and perhaps more. */
export interface FolderPosition {
  /** The stream of the server that has the folder. */
  readonly stream: string
  readonly era: string
  readonly positions: Positions
  /** Where the folder is not filled yet: all repositories up to this one, in the order of their names, are in it. */
  readonly filled?: string | undefined
}

/** Says in a new folder of which database it is a copy. */
export async function nameDatabase(fs: Fs, dir: string, id: string): Promise<void> {
  const aside = `${dir}/${COPY_FOLDER}/database.new`
  fs.remove(aside)
  await fs.createSynced(aside, Buffer.from(`${id}\n`))
  fs.rename(aside, `${dir}/${COPY_FOLDER}/database`)
  await fs.syncDir(`${dir}/${COPY_FOLDER}`)
}

/**
 * The stream of a folder, and where it stood; without the latter where the machine was started again since: nothing of a copy is synced, so
 * what it holds has to be looked at.
 */
export function readPosition(
  fs: Fs,
  dir: string,
): { readonly stream: string | undefined; readonly position: FolderPosition | undefined } {
  const text = fs.readFile(pathIn(dir))?.toString('utf8')
  const saved = text === undefined ? undefined : parse(text)
  if (!saved) return { stream: undefined, position: undefined }
  const { stream, era, boot, positions, filled } = saved
  const known = { stream, era, positions: new Map(positions), filled }
  return { stream, position: boot === thisProcess().boot ? known : undefined }
}

/** In one step, not synced. */
export function savePosition(fs: Fs, dir: string, { stream, era, positions, filled }: FolderPosition): void {
  const saved: SavedPosition = { stream, era, boot: thisProcess().boot, positions: [...positions], filled }
  const aside = `${pathIn(dir)}.new`
  fs.remove(aside)
  fs.create(aside, Buffer.from(JSON.stringify(saved)))
  fs.rename(aside, pathIn(dir))
}

interface SavedPosition extends Pick<FolderPosition, 'stream' | 'era' | 'filled'> {
  /** The start of the machine. */
  readonly boot: string
  readonly positions: readonly (readonly [string, StreamPosition])[]
}

/** Undefined for what a power cut has left of it. */
function parse(text: string): SavedPosition | undefined {
  try {
    return JSON.parse(text) as SavedPosition // written by the function above, in one step
  } catch {
    return undefined
  }
}

function pathIn(dir: string): string {
  return `${dir}/${COPY_FOLDER}/position`
}
