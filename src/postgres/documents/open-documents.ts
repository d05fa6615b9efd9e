import { sharedLook } from '../../scheduling/shared-look.ts'
import { SharedDocuments } from '../../storage/documents/shared-documents.ts'
import type { Fs } from '../../storage/fs.ts'
import { type DocumentDatabase, PostgresTable } from './postgres-table.ts'

/** How long it is remembered what changed, in milliseconds: who was away for longer compares everything. */
const REMEMBERED = 60 * 60 * 1000

export interface PostgresDocumentsOptions {
  readonly database: DocumentDatabase
  /** Names this server; no other living one has this name. */
  readonly stream: string
  /** Of the server's own folder, which may be old, torn or empty. */
  readonly fs: Fs
  readonly dir: string
  /**
   * Resolves once everything that was acknowledged anywhere before the call is in the folder, documents included: so it calls `follow`. Without
   * it, documents are all there is.
   */
  readonly fresh?: () => Promise<void>
}

/** The documents of a store in PostgreSQL. */
export interface PostgresDocuments {
  readonly documents: SharedDocuments
  /** Takes in what others changed; one look is under way at a time, and the next one is shared. */
  follow(): Promise<void>
  /** Compares every document with the database: after a failover, which may have lost what nobody was told of. */
  compare(): Promise<void>
  /** Forgets what nobody has to be told any more: to be called now and then, by any server. */
  tidy(): Promise<void>
}

/** Brings the folder to what the database has, and follows it from then on. The tables are there (see DOCUMENT_SCHEMA). */
export async function openPostgresDocuments({
  database,
  stream,
  fs,
  dir,
  fresh,
}: PostgresDocumentsOptions): Promise<PostgresDocuments> {
  const table = new PostgresTable(database, stream)
  const follow = sharedLook(async () => {
    const entries = await table.entries()
    await (entries ? documents.takeIn(entries) : documents.open())
  })
  const documents = new SharedDocuments({ fs, dir, table, fresh: fresh ?? follow })
  await documents.open()
  return {
    documents,
    follow,
    compare: () => documents.open(),
    tidy: async () => {
      await table.trim(REMEMBERED)
      await table.sweepLeases()
    },
  }
}
