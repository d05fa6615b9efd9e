import type { DatabaseFile } from '../../storage/sqlite/database-file.ts'
import type { SearchDocument } from './documents.ts'
import { writeDocuments } from './documents.ts'
import type { DocumentQuestion, FoundDocument } from './find-documents.ts'
import { findDocuments } from './find-documents.ts'

/** What is done with a project's index, by the name of the work. */
export interface SearchWork {
  readonly write: {
    readonly asks: { readonly documents: readonly SearchDocument[] }
    readonly answers: number
  }
  readonly find: {
    readonly asks: { readonly question: DocumentQuestion }
    readonly answers: readonly FoundDocument[] | undefined
  }
}

/** A piece of work. */
export type SearchRequest = {
  readonly [N in keyof SearchWork]: { readonly work: N; readonly asks: SearchWork[N]['asks'] }
}[keyof SearchWork]

/** Does a piece of work, on whatever thread. */
export function doSearchWork(
  file: DatabaseFile,
  request: SearchRequest,
): SearchWork[keyof SearchWork]['answers'] {
  if (request.work === 'write') return writeDocuments(file, request.asks.documents)
  return findDocuments(file, request.asks.question)
}
