export { type GraphNode, graphOf } from './browse/commit-graph.ts'
export { addArtifactActs } from './browse/artifact-acts.ts'
export { newestRevisions } from './browse/newest-revisions.ts'
export { MOST_FILES, findFile, listFiles } from './browse/revision-files.ts'
export type { RevisionQuery } from './revisions/ask-revisions.ts'
export { type CommittedRevision, commitRevision, warningsOf } from './revisions/commit-revision.ts'
export { diffRevisions } from './revisions/diff-revisions.ts'
export { logRevisions, logStart } from './revisions/log-revisions.ts'
export { type Provenance, type Running, type SignedRevision, provenanceOf } from './revisions/provenance.ts'
export { queryRevisions } from './revisions/query-revisions.ts'
export {
  type VariantLocation,
  artifactById,
  resolveArtifact,
  resolveReference,
  resolveVariant,
  revisionById,
  variantById,
} from './revisions/references.ts'
export {
  type Deployment,
  type Disagreement,
  type RetrieveReferences,
  type RetrievedRevision,
  disagreementsWith,
  retrieveRevision,
} from './revisions/retrieve-revision.ts'
export {
  type Revision,
  type RevisionLocation,
  assertActive,
  assertRevisionActive,
  assertUnguarded,
  dateOf,
  findRevisionById,
  homeAmong,
  homeOf,
  isoSeconds,
  latestOf,
  locate,
  readListedRevision,
  readRevisionAt,
  revisionFlags,
} from './revisions/revision.ts'
export {
  type CommitMessage,
  type StoredRevision,
  decodeMessage,
  writeCommit,
} from './revisions/stored-revision.ts'
export { variantToWrite } from './revisions/variant-to-write.ts'
export type { CommitRequest } from './revisions/write-revision.ts'
export { type BlamedLine, blameText } from './texts/blame.ts'
export type { PlacedText } from './texts/placed-text.ts'
