export { type RepositoryProblem, damageOf, unlessDamaged } from './index/damaged-repositories.ts'
export { INDEX_FILE } from './index/database/index-database.ts'
export { HAS_SEARCHED_ROWS, THREAD_BUSY_MS, openIndexFileAside } from './index/database/index-file.ts'
export { type ArtifactChange, pathOf, viewOf } from './index/index-entry.ts'
export { ArtifactList } from './index/index-tables.ts'
export { limitRegistry } from './store/limited-registry.ts'
export { authorUuid, objectUuid, oidPrefix, parseUuid, repositoryDigits, variantUuid } from './store/ids.ts'
export { noVariantYet } from './store/not-found.ts'
export { openRegistry } from './store/open-registry.ts'
export {
  LIST_ORDERS,
  type Ordered,
  type Window,
  type Windowing,
  cutWindow,
  unknownCursor,
} from './store/pagination.ts'
export type { Pin, Reference, References } from './store/reference.ts'
export { type ProjectsReadiness, Registries } from './store/registries.ts'
export { Registry, type RegistrySettings, type Signing } from './store/registry.ts'
export type { WriteContext } from './store/write-context.ts'
