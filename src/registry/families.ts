export { queryFamily } from './families/query-family.ts'
export { seedEnvironments } from './families/seed-environments.ts'
export type { Surface } from './families/surface.ts'
export { type ResourceSettings, surfacesOf } from './families/surfaces.ts'
export { documentOf } from './payload/document-family.ts'
export { DOCUMENT_LIMITS } from './payload/document-limits.ts'
export {
  type Family,
  type MetRows,
  PLAIN_READING,
  type PresentContext,
  type PresentedPayload,
  type Reading,
  type Warning,
} from './payload/family.ts'
export { LargeDocument } from './payload/large-document.ts'
export { jsonFileBytes, readBytes } from './payload/tree-files.ts'
