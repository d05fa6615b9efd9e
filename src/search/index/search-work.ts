import type { Oid } from '../../git/objects/object.ts'
import type { DatabaseFile } from '../../storage/sqlite/database-file.ts'
import type { SearchDocument } from './documents.ts'
import type { BestExcerpt } from '../words/excerpt.ts'
import { bestExcerpt } from '../words/excerpt.ts'
import type { Search } from '../words/parse-search.ts'
import { writeDocuments } from './documents.ts'
import type { DocumentPage, DocumentPlace, DocumentQuestion, FoundDocument } from './find-documents.ts'
import { findDocuments, findPlaces } from './find-documents.ts'
import { giveUpRows, removeRows } from './rows/remove-rows.ts'
import type { RowsBehind } from './rows/rows-behind.ts'
import { rowsBehind } from './rows/rows-behind.ts'
import type { RowsStep } from './rows/write-rows.ts'
import { takeRowsStep, unknownRows } from './rows/write-rows.ts'

/** What is done with a project's index, or for what was found there, by the name of the work. */
export interface SearchWork {
  readonly write: {
    readonly asks: { readonly documents: readonly SearchDocument[] }
    readonly answers: number
  }
  readonly find: {
    readonly asks: { readonly question: DocumentQuestion; readonly page: DocumentPage }
    readonly answers: readonly FoundDocument[] | undefined
  }
  readonly places: {
    readonly asks: { readonly question: DocumentQuestion }
    readonly answers: readonly DocumentPlace[]
  }
  readonly excerpt: {
    readonly asks: { readonly texts: readonly string[]; readonly search: Search }
    readonly answers: BestExcerpt | undefined
  }
  readonly rowsBehind: { readonly asks: object; readonly answers: RowsBehind | undefined }
  readonly unknownRows: {
    readonly asks: { readonly variant: number; readonly oids: readonly Oid[] }
    readonly answers: readonly Oid[]
  }
  readonly writeRows: { readonly asks: { readonly step: RowsStep }; readonly answers: boolean }
  readonly giveUpRows: {
    readonly asks: { readonly variant: number; readonly head: Oid | undefined }
    readonly answers: boolean
  }
  readonly removeRows: { readonly asks: object; readonly answers: boolean }
}

/** Has work done, on whatever thread. */
export type AskIndex = <N extends keyof SearchWork>(
  work: N,
  asks: SearchWork[N]['asks'],
) => Promise<SearchWork[N]['answers']>

/** A piece of work. */
export type SearchRequest = {
  readonly [N in keyof SearchWork]: { readonly work: N; readonly asks: SearchWork[N]['asks'] }
}[keyof SearchWork]

/** Does a piece of work, on whatever thread. */
export function doSearchWork(
  file: DatabaseFile,
  request: SearchRequest,
): SearchWork[keyof SearchWork]['answers'] {
  const { work, asks } = request
  switch (work) {
    case 'write':
      return writeDocuments(file, asks.documents)
    case 'find':
      return findDocuments(file, asks.question, asks.page)
    case 'places':
      return findPlaces(file, asks.question)
    case 'excerpt':
      return bestExcerpt(asks.texts, asks.search)
    case 'rowsBehind':
      return rowsBehind(file)
    case 'unknownRows':
      return unknownRows(file, asks.variant, asks.oids)
    case 'writeRows':
      return takeRowsStep(file, asks.step)
    case 'giveUpRows':
      return giveUpRows(file, asks.variant, asks.head)
    case 'removeRows':
      return removeRows(file)
  }
}
