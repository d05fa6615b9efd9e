export { PackCache } from './packs/pack-cache.ts'
export { type EntrySource, inflateExactly, readEntry } from './packs/pack-entry.ts'
export {
  type JoinablePack,
  type PlacedEntry,
  StagedPack,
  encodeIndex,
  joinPacks,
  offsetsIn,
} from './packs/pack-writer.ts'
export { SequentialPackReader } from './packs/sequential-pack-reader.ts'
export { StreamingPackWriter } from './packs/streaming-pack-writer.ts'
export { FileWindow } from './packs/windowed-file.ts'
