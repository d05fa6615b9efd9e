export {
  type ArtifactRecord,
  type ArtifactState,
  type Header,
  META_REF,
  type VariantRecord,
  readArtifactState,
} from './artifacts/artifact-record.ts'
export type { ArtifactView, RecordedArtifact, VariantView } from './artifacts/artifact-view.ts'
export {
  type ArchiveAction,
  type FlagsEdit,
  archiveArtifact,
  archiveRevision,
  archiveVariant,
  archivedLevel,
  editArtifact,
  editVariant,
} from './artifacts/change-artifact.ts'
export { type FirstContent, createArtifact, createWithRevision } from './artifacts/create-artifact.ts'
export { artifactsWithin, listFolders } from './artifacts/folders.ts'
export { type ArtifactFilter, type RevisionFilter, holdsText } from './artifacts/filters.ts'
export { moveFolder } from './artifacts/move-folder.ts'
export {
  countArtifacts,
  type FlatArtifact,
  flatFlags,
  flatten,
  queryArtifacts,
  queryFlat,
  queryVariants,
} from './artifacts/query-artifacts.ts'
export { type Restored, differenceOf, restoreArtifact } from './artifacts/restore-artifact.ts'
export { type ArtifactUser, purgeTrash, trashArtifact, undeleteArtifact } from './artifacts/trash-artifact.ts'
export { trashActs } from './artifacts/trash-log.ts'
export { type Trashed, saidTrashed } from './artifacts/trash.ts'
export { assertArtifactSlugFree } from './slugs/claim-slugs.ts'
export { madeArtifactWarnings, shadowWarnings } from './slugs/shadowed-slugs.ts'
export { assertSlug, foldSlug, slugProblem } from './slugs/slug.ts'
export { createVariant } from './variants/create-variant.ts'
export { defaultVariantOrNew } from './variants/default-variant.ts'
export { forkVariant } from './variants/fork-variant.ts'
