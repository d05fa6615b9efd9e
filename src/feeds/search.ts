export type { DocumentKind } from './search/index/find-documents.ts'
export { OpenSearch, ProjectSearch, type SearchHit, type SearchedPlace } from './search/project-search.ts'
export { SEARCH_FIELDS } from './search/texts-of.ts'
export { parseSearch } from './search/words/parse-search.ts'
