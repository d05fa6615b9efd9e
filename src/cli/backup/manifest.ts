import { z } from 'zod'
import { Refusal } from '../../errors.ts'
import { nodeFs } from '../../storage/files.ts'
import type { RepositoryName } from './repository-name.ts'

/** The version of the backup's layout. */
const FORMAT = '1'

const manifest = z.object({
  format: z.literal(FORMAT),
  /** The source of the last run. */
  source: z.string(),
  /** When the last run ended; null during the first. */
  finished_at: z.string().nullable(),
  /** How many repositories the last run could not update. */
  failed: z.number(),
  /** The number of repositories by project and family. */
  repositories: z.record(z.string(), z.record(z.string(), z.number())),
})

/** `backup.json`, which marks a folder as a backup and says what is in it. */
export type Manifest = Readonly<z.infer<typeof manifest>>

/** The manifest of a backup; undefined if the folder is empty or absent. Refuses any other folder. */
export function readManifest(dir: string): Manifest | undefined {
  const text = nodeFs.readFile(`${dir}/${NAME}`)?.toString('utf8')
  if (text === undefined) {
    if ((nodeFs.readDir(dir) ?? []).length === 0 && (nodeFs.stat(dir)?.kind ?? 'folder') === 'folder')
      return undefined
    throw new Refusal(
      'storage_unavailable',
      `${dir} holds no ${NAME}, so it is not a backup. Name the folder of one, or an empty one to begin it.`,
    )
  }
  const read = manifest.safeParse(parse(text))
  if (read.success) return read.data
  throw new Refusal(
    'storage_unavailable',
    `${dir}/${NAME} is not the manifest of a backup in format "${FORMAT}". Use the version that made it.`,
  )
}

/** Replaces the manifest; resolves when it is on the disk. */
export async function writeManifest(dir: string, content: Omit<Manifest, 'format'>): Promise<void> {
  const temporary = `${dir}/${NAME}.new`
  nodeFs.remove(temporary)
  await nodeFs.createSynced(
    temporary,
    Buffer.from(`${JSON.stringify({ format: FORMAT, ...content }, null, 2)}\n`),
  )
  nodeFs.rename(temporary, `${dir}/${NAME}`)
  await nodeFs.syncDir(dir)
}

/** The number of repositories by project and family. */
export function countsOf(repositories: readonly RepositoryName[]): Manifest['repositories'] {
  const counts: Record<string, Record<string, number>> = {}
  for (const { project, family } of repositories) {
    const ofProject = (counts[project] ??= {})
    ofProject[family] = (ofProject[family] ?? 0) + 1
  }
  return counts
}

const NAME = 'backup.json'

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
