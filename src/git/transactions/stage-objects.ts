import { TimeSlice } from '../../scheduling/cooperative.ts'
import type { Fs } from '../../storage/fs.ts'
import { deflateAside, LONG } from '../packs/pack-entry.ts'
import { StreamingPackWriter } from '../packs/streaming-pack-writer.ts'
import type { PackableObject } from '../packs/pack-writer.ts'
import type { StagedPack } from './pack-staging.ts'
import { stagePack } from './pack-staging.ts'

/** So many objects, or so many bytes of them, are a lot. */
const MANY = 2000
const MANY_BYTES = 1024 * 1024

/** Whether objects are too many, or too large, to be encoded in memory and in one go. */
export function areMany(objects: readonly PackableObject[]): boolean {
  if (objects.length >= MANY) return true
  let size = 0
  for (const { bytes } of objects) size += bytes.length
  return size >= MANY_BYTES
}

/** Prepares objects as one pack, as `stagePack` does; many are written while they are encoded, and others have their turn meanwhile. */
export async function stageObjects(
  fs: Fs,
  gitdir: string,
  objects: readonly PackableObject[],
): Promise<StagedPack> {
  if (!areMany(objects)) return stagePack(fs, gitdir, objects)
  const slice = new TimeSlice()
  const builder = new StreamingPackWriter(fs, gitdir)
  try {
    for (const { oid, kind, bytes } of objects) {
      builder.add(kind, bytes, bytes.length > LONG ? await deflateAside(bytes) : undefined, oid)
      if (slice.isOver) await slice.rest()
    }
    return await builder.finish()
  } catch (error) {
    builder.discard()
    throw error
  }
}
