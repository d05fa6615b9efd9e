import { z } from 'zod'
import { TimeSlice } from '../../base/scheduling.ts'
import type { Fs } from '../../storage/files.ts'
import { type Endpoint, endpoint } from '../routing/endpoint.ts'
import { single } from '../schemas/record-schemas.ts'

/**
 * `GET /projects/current/storage`: the bytes of the project's files, in all and by what they hold (interface 14.10). Every file is looked at, in
 * turns with other requests, and the work ends when the client leaves.
 */
export const storageEndpoint: Endpoint = endpoint({
  method: 'GET',
  path: '/projects/current/storage',
  tag: 'projects',
  summary: 'How many bytes the files of the project take, in all and by what they hold',
  scope: 'admin',
  output: single(
    'storage',
    z.strictObject({ bytes: z.int().min(0), parts: z.record(z.string(), z.int().min(0)) }),
  ),
  run: async ({ registry, untilGone }) => {
    const { fs, folder } = registry.store
    const families = registry.families.map((it) => it.folder)
    const slice = new TimeSlice(untilGone())
    const parts: Record<string, number> = Object.fromEntries(families.map((family) => [family, 0]))
    let bytes = 0
    for (const name of fs.readDir(folder) ?? []) {
      const size = await bytesWithin(fs, `${folder}/${name}`, slice)
      const part = families.includes(name) ? name : partOf(name)
      parts[part] = (parts[part] ?? 0) + size
      bytes += size
    }
    return { body: { count: 1, storage: { bytes, parts } } }
  },
})

/** What a file or folder beside the families holds, by how its name begins: `traces.db-wal` belongs to the traces. */
function partOf(name: string): string {
  return ['index', 'traces', 'evaluations'].find((part) => name.startsWith(part)) ?? 'others'
}

/** The sizes of all files below a path. What is removed meanwhile counts nothing. */
async function bytesWithin(fs: Fs, path: string, slice: TimeSlice): Promise<number> {
  let bytes = 0
  const waiting = [path]
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const stat = fs.stat(at)
    if (stat?.kind === 'file') bytes += stat.size
    else if (stat?.kind === 'folder') for (const name of fs.readDir(at) ?? []) waiting.push(`${at}/${name}`)
    await slice.pause()
  }
  return bytes
}
