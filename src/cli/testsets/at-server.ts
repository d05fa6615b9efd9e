import type { FileType, RowFileType } from '../../registry/testsets.ts'
import { askServer, responseFrom } from '../command/ask-server.ts'
import type { ChosenServer } from '../command/chosen-server.ts'

/** Imports and exports rows of a server's testsets, over its public routes. */

/** An import. Undefined options are not sent. */
export interface SentRows {
  readonly slug: string
  readonly type: RowFileType
  readonly chunks: AsyncIterable<Uint8Array>
  /** Other fields of the upload: `message`, `types`, `delimiter` … */
  readonly fields: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
}

/** The server's answer to an upload. */
export interface StoredRows {
  readonly isNew: boolean
  /** False if `if_changed` was sent and nothing differed. */
  readonly changed: boolean
  readonly revision: ShownRevision
  readonly rows: number
  readonly met: { readonly collapsed: number; readonly replaced: number }
  readonly renamed: readonly { readonly from: string; readonly to: string }[]
}

/** The fields of a revision that the result line shows. */
export interface ShownRevision {
  readonly id: string
  readonly version: number
}

/** Creates a testset from a file's rows, or a new revision if a testset has the slug. */
export async function uploadRows(server: ChosenServer, sent: SentRows): Promise<StoredRows> {
  const { slug, type, chunks, fields, signal } = sent
  const found = await askServer<{ readonly testsets: readonly { readonly id: string }[] }>(
    server,
    'POST',
    '/testsets/query',
    { body: { testset_refs: [{ slug }], include_archived: true } },
  )
  const [existing] = found.testsets
  const path = existing ? `/simple/testsets/${existing.id}/upload` : '/simple/testsets/upload'
  const named = existing ? fields : { ...fields, testset_slug: slug, if_changed: undefined }
  const query = queryOf({
    ...named,
    file_type: type,
    include_testcases: 'false',
    include_testcase_ids: 'false',
  })
  const answer = await askServer<UploadAnswer>(server, 'POST', `${path}?${query}`, {
    file: { type: MEDIA[type], bytes: chunks },
    signal,
  })
  const { collapsed = 0, replaced = 0, renamed_columns: renamed = [], changed = true } = answer
  const reference = { testset_revision_ref: { id: answer.testset.revision_id } }
  const { revision, total: rows } = await rowsOf(server, reference)
  return { isNew: !existing, changed, revision, rows, met: { collapsed, replaced }, renamed }
}

interface UploadAnswer {
  readonly testset: { readonly id: string; readonly revision_id: string }
  readonly changed?: boolean
  readonly collapsed?: number
  readonly replaced?: number
  readonly renamed_columns?: readonly { readonly from: string; readonly to: string }[]
}

/** A revision of a testset and its number of rows. */
export async function rowsOf(
  server: ChosenServer,
  references: object,
): Promise<{ readonly revision: ShownRevision; readonly total: number }> {
  const asked = {
    ...references,
    include_testcases: false,
    include_testcase_ids: false,
    windowing: { limit: 1, count_total: true },
  }
  const answer = await askServer<{
    readonly testset_revision: { readonly id: string; readonly version: number | string }
    readonly total: number
  }>(server, 'POST', '/testsets/revisions/retrieve', { body: asked })
  const { id, version } = answer.testset_revision
  return { revision: { id, version: Number(version) }, total: answer.total }
}

/** Downloads the rows of a revision as a file. */
export async function* downloadRows(
  server: ChosenServer,
  id: string,
  options: { readonly type: FileType; readonly escapeFormulas: boolean; readonly bom: boolean },
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const { type, escapeFormulas, bom } = options
  const query = queryOf({
    file_type: type,
    escape_formulas: escapeFormulas ? 'true' : undefined,
    bom: bom ? 'true' : undefined,
  })
  yield* await responseFrom(server, 'GET', `/testsets/revisions/${id}/download?${query}`, { signal })
}

function queryOf(fields: Readonly<Record<string, string | undefined>>): URLSearchParams {
  const given = Object.entries(fields).filter((field): field is [string, string] => field[1] !== undefined)
  return new URLSearchParams(given)
}

const MEDIA: Readonly<Record<RowFileType, string>> = {
  csv: 'text/csv',
  json: 'application/json',
  jsonl: 'application/x-ndjson',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
}
